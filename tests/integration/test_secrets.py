"""No secret is printed, at any level, in any error, by any endpoint: everything that retryd says while everything goes wrong is
gathered, and no form of a secret is in it."""

import base64
import os
import pathlib
import socket
import subprocess
import urllib.parse
from http.client import HTTPConnection as TcpHttp

from amqp_codec import encode_properties
from consumer import Answer
from retryd import UnixHttp, eventually
from tls_case import TRUSTED, TlsCase, self_signed, server_context

PASSWORD = "p@s:s/w#rd?%-uri"
HEADER = "Bearer header-in-the-open"
FILE_HEADER = "header-from-a-file"
ENV_HEADER = "header-from-the-environment"
TOKEN = "token-of-the-admin-address"
PASSPHRASE = "passphrase-of-a-key"
HOOK = "hook-in-the-path"
SECRETS = (PASSWORD, HEADER, FILE_HEADER, ENV_HEADER, TOKEN, PASSPHRASE, HOOK)
QUERIES = ("/livez", "/readyz", "/flowz", "/metrics", "/status", "/status?format=text", "/top", "/why-not?queue=@QUEUE@",
           "/why?id=x", "/policy", "/config", "/debug", "/")


def forms(secret):
    """As a log, a URI or SASL could have it."""
    yield secret
    yield urllib.parse.quote(secret, safe="")
    yield urllib.parse.quote(secret, safe="").lower()
    for text in (secret, f"\0svc\0{secret}", f"svc:{secret}"):
        for shift in range(3):  # base64 of something longer that holds it
            coded = base64.b64encode(b"\0" * shift + text.encode()).decode()
            yield coded[4 if shift else 0 : -4]
    yield secret.encode().hex()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Secrets(TlsCase):
    def setUp(self):
        super().setUp()
        self.said = []
        self.admin, self.figures = free_port(), free_port()
        for name, text in (("token", TOKEN), ("header", FILE_HEADER)):
            (self.folder / name).write_text(text + "\n")
        for name, secret in (("RETRYD_TEST_HEADER", ENV_HEADER), ("RETRYD_TEST_HOOK", HOOK)):
            os.environ[name] = secret
            self.addCleanup(os.environ.pop, name)

    def uri(self, where, password=None, scheme="amqp"):
        return f"{scheme}://svc:{password or urllib.parse.quote(PASSWORD, safe='')}@{where}/v"

    def secretive(self, uri, tls=""):
        headers = (f'{{Authorization: "{HEADER}", X-File: "${{file:{self.folder}/header}}", '
                   f'X-Env: "${{env:RETRYD_TEST_HEADER}}"}}')
        return (f'broker: {{uri: "{uri}", connect_timeout: 1s{tls}}}\nlog: {{level: debug}}\n'
                f'admin: {{listen: ["unix:@DIR@/admin.sock", "127.0.0.1:{self.admin}"], token_file: {self.folder}/token}}\n'
                f'metrics: {{listen: "127.0.0.1:{self.figures}"}}\n'
                f'queues: {{"@QUEUE@": {{deliver: {{http: "{self.app.url}", path: "/${{env:RETRYD_TEST_HOOK}}", timeout: 1s,'
                f' headers: {headers}}},'
                f' retry: {{delays: [50ms], quick: none}}}}}}')

    def ask(self, connection, method, path, headers):
        connection.request(method, path.replace("@QUEUE@", self.queue), headers=headers)
        answer = connection.getresponse()
        self.said += [str(answer.getheaders()), answer.read().decode()]
        connection.close()

    def listen_to(self, daemon):
        """Everything that it can be asked, with right and with wrong words."""
        doors = (lambda: UnixHttp(daemon.admin), lambda: TcpHttp("127.0.0.1", self.admin), lambda: TcpHttp("127.0.0.1", self.figures))
        for door in doors:
            for path in QUERIES:
                self.ask(door(), "GET", path, {"Authorization": f"Bearer {TOKEN}"})
                self.ask(door(), "POST", path, {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN[:-1]}"})
        for words in (["status"], ["status", "--json"], ["why-not", self.queue], ["why", "x"], ["drain", "--wait", "1s"]):
            self.run_tool(os.environ["RETRYCTL_BIN"], "--admin", daemon.admin, *words)

    def run_tool(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
        self.said += [done.stdout, done.stderr]
        return done

    def check(self, policy):
        """Both ways of `retryd check`; its exit code."""
        path = pathlib.Path(self.folder, "checked.yaml")
        path.write_text(policy.replace("@QUEUE@", self.queue).replace("@DIR@", str(self.folder)))
        self.run_tool(os.environ["RETRYD_BIN"], "check", path)
        return self.run_tool(os.environ["RETRYD_BIN"], "check", path, "--print-effective", self.queue).returncode

    def assert_silent(self):
        said = "\n".join(self.said)
        self.assertGreater(len(said), 500)
        for secret in SECRETS:
            for form in forms(secret):
                self.assertNotIn(form, said)

    def run_until_trouble(self, policy):
        daemon = self.retryd(policy, wait_ready=False)
        eventually(lambda: self.trouble(daemon), 60, "a trouble of the links")
        self.listen_to(daemon)
        daemon.stop()
        self.said.append(daemon.log())

    def test_a_connection_that_fails_in_every_way(self):
        amqp = urllib.parse.urlsplit(os.environ["RETRYD_TEST_AMQP"]).netloc.rpartition("@")[2]
        amqps = urllib.parse.urlsplit(os.environ["RETRYD_TEST_AMQPS"]).netloc.rpartition("@")[2]
        wrong = self.proxy(context=server_context(self.authority.issue("rabbit", ["DNS:elsewhere"]))).port
        with self.subTest("wrong host"):
            self.run_until_trouble(self.secretive(self.uri("no-such-host.invalid")))
        with self.subTest("wrong port"):
            self.run_until_trouble(self.secretive(self.uri("127.0.0.1:1")))
        with self.subTest("wrong password"):
            self.run_until_trouble(self.secretive(self.uri(amqp)))
        with self.subTest("certificate of another host"):
            self.run_until_trouble(self.secretive(self.uri(f"127.0.0.1:{wrong}", scheme="amqps"), ", " + self.tls()))
        with self.subTest("no client certificate"):
            self.run_until_trouble(self.secretive(self.uri(amqps, scheme="amqps"), ", " + self.tls(TRUSTED / "ca.pem")))
        with self.subTest("wrong password over TLS"):
            tls = ", " + self.tls(TRUSTED / "ca.pem", self.client())
            self.run_until_trouble(self.secretive(self.uri(amqps, scheme="amqps"), tls))
        self.assert_silent()
        self.assertIn("ACCESS_REFUSED", "".join(self.said))

    def test_messages_that_fail_in_every_way(self):
        answers = [Answer(401), Answer(500, body=b"x"), Answer(422), Answer(raw=b"nonsense\r\n\r\n"), Answer(close=True)]
        self.app.reply = lambda request: answers[len(self.app.requests) % len(answers)]
        policy = self.secretive(os.environ["RETRYD_TEST_AMQP"])
        self.assertEqual(self.check(policy), 0)
        daemon = self.retryd(policy)
        for number in range(20):
            self.send(b"%d" % number, message_id=f"m-{number}")
        self.wait_for_requests(self.app, 30, 60)
        self.assertEqual(self.app.requests[-1].headers["authorization"], HEADER)
        self.assertEqual(self.app.requests[-1].headers["x-file"], FILE_HEADER)
        self.assertEqual(self.app.requests[-1].headers["x-env"], ENV_HEADER)
        self.listen_to(daemon)
        daemon.stop()
        self.said.append(daemon.log())
        self.assert_silent()

    def test_policies_that_are_wrong_in_every_way(self):
        good = self.secretive(self.uri("h"))
        for uri in (f"svc:{PASSWORD}@h", f"amqp://svc:{PASSWORD}@h", f"amqps://{PASSWORD}", f"amqp://svc:{PASSWORD}",
                    f"amqp://h:{PASSWORD}", f"http://svc:{PASSWORD}@h"):
            with self.subTest(uri=uri):
                self.assertNotEqual(self.check(self.secretive(uri)), 0)
        for before, after in ((HEADER, HEADER + "\\n"), ("timeout: 1s", f'timeout: "${{file:{self.folder}/token}}"'),
                              ("level: debug", 'level: "${env:RETRYD_TEST_HEADER}"'), ("X-File", "Retryd-Queue"),
                              (f'http: "{self.app.url}"', f'http: "http://svc:{HEADER}@127.0.0.1/"'),
                              (f"{self.folder}/token", '"${env:RETRYD_TEST_HEADER}"')):
            with self.subTest(after=after):
                self.assertIn(before, good)
                self.assertNotEqual(self.check(good.replace(before, after)), 0)
        self.assertEqual(self.check(good), 0)
        self.assert_silent()

    def test_a_key_under_a_passphrase_is_refused_without_asking(self):
        own = self_signed(self.folder / "own", "svc")
        locked = self.folder / "locked.key"
        subprocess.run(["openssl", "pkey", "-in", own.key, "-aes256", "-passout", f"pass:{PASSPHRASE}", "-out", locked], check=True)
        own.key, right = locked, own.key
        policy = self.secretive(self.uri("h", scheme="amqps"), ", " + self.tls(identity=own))
        self.assertNotEqual(self.check(policy), 0)
        self.assertIn("holds a key under a passphrase", self.said[-1])
        own.key = right
        self.assertEqual(self.check(self.secretive(self.uri("h", scheme="amqps"), ", " + self.tls(identity=own))), 0)
        self.assertIn("broker.tls.key_file", self.said[-2])
        said = "".join(self.said)
        for line in [*right.read_text().splitlines(), *locked.read_text().splitlines()]:
            if line and not line.startswith("-----"):
                self.assertNotIn(line, said)
        self.assert_silent()
