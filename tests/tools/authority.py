"""A certificate authority in a folder, for tests: it signs whatever is wanted, right or wrong. By the openssl command.

    authority = Authority("/tmp/x", "Example CA")
    identity = authority.issue("broker", hosts=["DNS:localhost", "IP:127.0.0.1"])
    identity.cert, identity.key        # paths of PEM files
    authority.cert                     # what others must trust
"""

import dataclasses
import datetime
import pathlib
import subprocess

CONFIG = """
[ca]
default_ca = it
[it]
database = {folder}/index
new_certs_dir = {folder}
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[req]
distinguished_name = name
[name]
"""
NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
NOW = datetime.timedelta()
DAY = datetime.timedelta(days=1)


@dataclasses.dataclass
class Identity:
    cert: pathlib.Path
    key: pathlib.Path


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def stamp(after):
    return (datetime.datetime.now(datetime.timezone.utc) + after).strftime("%Y%m%d%H%M%SZ")


class Authority:
    def __init__(self, folder, name, above=None):
        """Self-signed, or signed by the authority above."""
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.config = self.folder / "config"
        self.config.write_text(CONFIG.format(folder=self.folder))
        (self.folder / "index").touch()
        if above:
            own = above.issue(name, extensions=["basicConstraints=critical,CA:TRUE"])
        else:
            own = self_signed(self.folder / "ca", name, "basicConstraints=critical,CA:TRUE")
        self.cert, self.key = own.cert, own.key

    def issue(self, name, hosts=(), start=-DAY, end=DAY, extensions=()):
        """A certificate with the common name, for the hosts ("DNS:a", "IP:127.0.0.1"), valid from start to end, from now."""
        stem = self.folder / f"{name.replace('/', '-')}-{len(list(self.folder.iterdir()))}"
        own = Identity(stem.with_suffix(".pem"), stem.with_suffix(".key"))
        request, wanted = stem.with_suffix(".csr"), stem.with_suffix(".ext")
        openssl("req", "-new", *NEW_KEY, "-config", self.config, "-subj", f"/CN={name}", "-keyout", own.key, "-out", request)
        lines = [f"subjectAltName={','.join(hosts)}"] if hosts else []
        wanted.write_text("\n".join([*lines, *extensions, ""]) or "\n")
        openssl("ca", "-batch", "-notext", "-config", self.config, "-cert", self.cert, "-keyfile", self.key, "-extfile", wanted,
                "-startdate", stamp(start), "-enddate", stamp(end), "-in", request, "-out", own.cert)
        return own


def self_signed(stem, name, *extensions):
    own = Identity(stem.with_suffix(".pem"), stem.with_suffix(".key"))
    more = [word for extension in extensions for word in ("-addext", extension)]
    openssl("req", "-x509", *NEW_KEY, "-days", 2, "-subj", f"/CN={name}", *more, "-keyout", own.key, "-out", own.cert)
    return own
