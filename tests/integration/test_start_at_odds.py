"""Started before the broker has what it needs: a virtual host, a user, a name in the network. It waits, says why, and becomes ready by
itself."""

import os
import pathlib
import secrets
import shutil
import urllib.parse

from amqp_wire import Wire
from integration_case import IntegrationCase, rabbitmqctl
from retryd import eventually

ALL = (".*", ".*", ".*")


class StartAtOdds(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.app = self.consumer()
        self.broker = urllib.parse.urlsplit(os.environ["RETRYD_TEST_AMQP"])

    def start(self, uri, why, wrapper=()):
        daemon = self.retryd(f'queues: {{"@QUEUE@": "{self.app.url}"}}', uri, wait_ready=False, wrapper=wrapper)
        eventually(lambda: daemon.answers("/livez") and why in daemon.get("/readyz")[1], 30, f"{why} on /readyz")
        self.assertIn("broker-down", daemon.causes(self.queue))
        self.assertEqual((200, 503, 503, 200), tuple(daemon.get(page)[0] for page in ("/livez", "/readyz", "/flowz", "/metrics")))
        self.assertIn(why, daemon.get("/status")[1])
        self.assert_no_busy_loop(daemon)
        self.assertLess(daemon.log().count('"link_down"'), 60)
        return daemon

    def assert_works(self, daemon, wire):
        wire.declare(self.queue)
        daemon.wait_ready(60)
        wire.publish(self.queue, b"m")
        self.wait_for_requests(self.app, 1, 30)
        self.wait_for_flow(daemon)
        self.assertEqual(daemon.stop(), 0)

    def test_before_its_virtual_host_is_made(self):
        vhost = f"later-{secrets.token_hex(4)}"
        uri = f"amqp://guest:guest@{self.broker.hostname}:{self.broker.port}/{vhost}"
        daemon = self.start(uri, vhost)
        self.addCleanup(rabbitmqctl, "delete_vhost", vhost)
        rabbitmqctl("add_vhost", vhost)
        rabbitmqctl("set_permissions", "-p", vhost, "guest", *ALL)
        self.assert_works(daemon, self.entered(Wire(uri)))

    def test_before_its_user_is_made(self):
        user = f"later-{secrets.token_hex(4)}"
        daemon = self.start(f"amqp://{user}:its-secret@{self.broker.hostname}:{self.broker.port}/", "ACCESS_REFUSED")
        self.assertIn('"level":"error"', daemon.log())
        self.addCleanup(rabbitmqctl, "delete_user", user)
        rabbitmqctl("add_user", user, "its-secret")
        rabbitmqctl("set_permissions", "-p", "/", user, *ALL)
        self.assert_works(daemon, self.wire)
        self.assertNotIn("its-secret", daemon.log())

    def test_before_the_brokers_name_is_known_to_the_network(self):
        """It runs with an /etc of its own, in which the names of hosts come from a file."""
        etc = pathlib.Path(self.folder, "etc")
        etc.mkdir()
        for name in ("passwd", "group"):
            shutil.copy(f"/etc/{name}", etc)
        (etc / "nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files\n", encoding="ascii")
        hosts = etc / "hosts"
        hosts.write_text("", encoding="ascii")
        rights = () if os.getuid() == 0 else ("--user", "--map-root-user")
        wrapper = ("unshare", *rights, "--mount", "sh", "-c", 'mount --bind "$0" /etc && exec "$@"', str(etc))
        daemon = self.start(f"amqp://guest:guest@broker.example:{self.broker.port}/", "Name or service not known", wrapper)
        hosts.write_text(f"{self.broker.hostname} broker.example\n", encoding="ascii")
        self.assert_works(daemon, self.wire)
