"""Links on which nothing comes or goes any more, without a word: each is named everywhere, and heals by itself when its cause goes.
Through a proxy of the test's own, so the broker itself is not disturbed."""

import pathlib

from frame_proxy import CONFIRM, CONSUME_OK, DECLARE_OK
from retryd import eventually
from watchdog_case import WatchdogCase, once_failing

MIB = 1024 * 1024


class Answers(WatchdogCase):
    def test_a_confirm_that_never_comes(self):
        app, proxy = self.consumer(once_failing), self.frame_proxy()
        daemon = self.daemon_for(app, proxy.url)
        proxy.swallow(CONFIRM, publish_link=True)
        self.publish(b"x")
        self.wait_until_named(daemon, "confirm-late")
        self.wait_for_requests(app, 3)  # the copy of unknown fate was there, and so is the second
        self.assertEqual([request.attempt for request in app.requests], [1, 2, 2])
        self.assertEqual({request.headers["idempotency-key"] for request in app.requests}, {"id-x"})
        self.check_healed(daemon, app, "confirm-late")

    def test_a_delay_queue_whose_declaration_is_never_answered(self):
        app, proxy = self.consumer(once_failing), self.frame_proxy()
        daemon = self.daemon_for(app, proxy.url)
        proxy.swallow(DECLARE_OK, publish_link=True)
        self.publish(b"x")
        self.wait_until_named(daemon, "link-stuck", detail="publish link: the broker does not answer")
        self.wait_for_requests(app, 2)
        self.check_healed(daemon, app, "link-stuck")
        self.assertEqual([request.attempt for request in app.requests if request.body == b"x"], [1, 2])

    def test_a_subscription_that_is_never_confirmed(self):
        app, proxy = self.consumer(), self.frame_proxy()
        app.stop()
        daemon = self.daemon_for(app, proxy.url)
        self.wait_for_cause(daemon, "consumer-away")
        proxy.swallow(CONSUME_OK)
        app.start()
        self.wait_until_named(daemon, "link-stuck", detail="consume link: the broker does not answer")
        self.publish(b"x")
        self.wait_for_requests(app, 1)
        self.check_healed(daemon, app, "link-stuck")


class Peers(WatchdogCase):
    def sockets(self, daemon, port):
        """The states of the daemon's connections to the port: "01" is established, "08" CLOSE_WAIT."""
        links = {str(entry.readlink()) for entry in pathlib.Path(f"/proc/{daemon.pid}/fd").iterdir() if entry.is_symlink()}
        rows = [line.split() for line in open(f"/proc/{daemon.pid}/net/tcp", encoding="ascii")][1:]
        return [row[3] for row in rows if row[2].endswith(":%04X" % port) and f"socket:[{row[9]}]" in links]

    def test_a_silent_peer_is_noticed_by_its_heartbeats_and_leaves_no_socket_behind(self):
        app, proxy = self.consumer(once_failing), self.proxy()
        daemon = self.daemon_for(app, proxy.url, heartbeat="2s")
        bodies = [b"%d" % n for n in range(20)]
        for _ in range(2):
            for way in ("up", "down"):
                proxy.stall(way)
            self.wait_until_named(daemon, "broker-down")
            for way in ("up", "down"):
                proxy.resume(way)
            self.publish(*bodies)
            self.check_healed(daemon, app, "broker-down")
        self.assert_none_lost(app, bodies)
        eventually(lambda: self.sockets(daemon, proxy.port) == ["01", "01"], what="two connections and nothing else")

    def test_half_open_connections(self):
        app, proxy = self.consumer(once_failing), self.proxy()
        daemon = self.daemon_for(app, proxy.url, heartbeat="2s")
        proxy.refuse()
        proxy.half_open()
        self.wait_until_named(daemon, "broker-down")
        proxy.accept()
        self.publish(b"1")
        self.check_healed(daemon, app, "broker-down")
        eventually(lambda: self.sockets(daemon, proxy.port) == ["01", "01"], what="two connections and nothing else")

    def test_a_peer_that_is_silent_between_its_heartbeats(self):
        app, proxy = self.consumer(), self.proxy()
        daemon = self.daemon_for(app, proxy.url)  # twenty seconds: heartbeats would notice it after forty
        proxy.stall("down")
        self.wait_until_named(daemon, "link-stuck", detail="the broker does not answer")
        proxy.resume("down")
        self.publish(b"1")
        self.check_healed(daemon, app, "link-stuck")

    def test_a_send_that_is_stuck_in_the_kernel(self):
        app, proxy = self.consumer(once_failing), self.frame_proxy()
        daemon = self.daemon_for(app, proxy.url, confirm_timeout="60s")
        self.publish(b"makes the delay queue")
        self.wait_for_nothing_left(60)
        proxy.freeze_publish_link()
        bodies = [b"%d" % n + bytes(8 * MIB) for n in range(4)]
        self.publish(*bodies)
        self.wait_until_named(daemon, "link-stuck", detail="publish link: its thread is stuck")
        self.wait_for_requests(app, 10, 60)
        self.check_healed(daemon, app, "link-stuck")
        self.assertEqual(daemon.deliveries(self.queue)["transient"], 6)
