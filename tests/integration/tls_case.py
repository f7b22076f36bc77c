"""What the tests of TLS have in common: an authority that signs whatever is wanted, servers that show it, and links whose trouble is
compared."""

import os
import pathlib
import ssl
import sys

from integration_case import PRIVATE_BROKER, IntegrationCase
from retryd import eventually

sys.path.insert(0, str(PRIVATE_BROKER.parent))
from authority import DAY, Authority, self_signed  # noqa: E402, F401

TRUSTED = pathlib.Path(os.environ["RETRYD_TEST_BROKER_DIR"], "tls")  # of the broker itself


def server_context(identity, client_authority=None, highest=ssl.TLSVersion.MAXIMUM_SUPPORTED):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity.cert, identity.key)
    context.maximum_version = highest
    if client_authority:
        context.load_verify_locations(client_authority)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


class TlsCase(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue()
        self.app = self.consumer()
        self.authority = Authority(self.folder / "authority", "Example Authority")

    def identity(self, hosts=("IP:127.0.0.1",), **more):
        return self.authority.issue("rabbit", hosts, **more)

    def tls(self, ca=None, identity=None, more=""):
        """The policy's `tls`, in flow style."""
        keys = [f"ca_file: {ca or self.authority.cert}"] if ca != "" else []
        keys += [f"cert_file: {identity.cert}, key_file: {identity.key}"] if identity else []
        return f"tls: {{{', '.join([*keys, *filter(None, [more])])}}}"

    def client(self):
        """Who the broker takes for guest."""
        return type("Identity", (), {"cert": TRUSTED / "client.pem", "key": TRUSTED / "client.key"})

    def policy(self, uri, tls, more="", queue=""):
        deliver = f'deliver: {{http: "{self.app.url}", concurrency: 8, slow_start: none}}'
        return (f'broker: {{uri: "{uri}", connect_timeout: 5s, {tls}{more}}}\n'
                f'queues: {{"@QUEUE@": {{{deliver}, {queue}}}}}')

    def broker_policy(self, uri=None, queue="", more=""):
        """For the broker's own TLS port, right in everything."""
        return self.policy(uri or os.environ["RETRYD_TEST_AMQPS"], self.tls(TRUSTED / "ca.pem", self.client()), more, queue)

    def assert_refused(self, policy, *words, refused=True):
        """The log and the status say why there is no connection: all of the words in one sentence."""
        daemon = self.retryd(policy, wait_ready=False)
        told = eventually(lambda: self.trouble(daemon), 40, "a trouble of the links")
        for word in words:
            self.assertIn(word, told)
        self.assertIn(told.replace('"', '\\"'), daemon.log())
        self.assertIn('"level":"error"' if refused else '"level":"warn"', daemon.log())
        self.assertIn("broker-down", daemon.causes(self.queue))
        self.assertEqual(self.app.requests, [])
        self.assertIsNone(daemon.process.poll())
        daemon.kill()
        return told

    @staticmethod
    def trouble(daemon):
        if not daemon.answers("/livez"):
            return ""
        return next((link["trouble"] for link in daemon.status()["links"] if link["trouble"]), "")
