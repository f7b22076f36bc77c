"""What the tests of the watchdog have in common: a cause must show everywhere, and be gone everywhere, without a restart."""

import json
import os
import subprocess

from amqp_codec import encode_properties, text
from integration_case import IntegrationCase
from retryd import eventually

POLICY = """
broker: {uri: "@AMQP@", heartbeat: %(heartbeat)s, connect_timeout: 3s, confirm_timeout: %(confirm_timeout)s}
queues:
  "@QUEUE@":
    deliver: {http: "%(url)s", timeout: 60s, concurrency: %(concurrency)d}
    prefetch: %(prefetch)s
    retry: {quick: {tries: 0}, delays: [%(delays)s], jitter: 0%%, spread: 1}
"""
USUAL = {"heartbeat": "20s", "confirm_timeout": "6s", "concurrency": 4, "prefetch": "auto", "delays": "200ms"}


def once_failing(request):
    return 503 if request.seen == 0 else 200


class WatchdogCase(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue()

    def declare_work_queue(self, queue=None, arguments=()):
        super().declare_work_queue(queue, arguments or [text("x-queue-type", "quorum")])

    def daemon_for(self, app, amqp=None, **changes):
        daemon = self.retryd(POLICY % {**USUAL, "url": app.url, **changes}, amqp)
        if app.server:
            eventually(lambda: daemon.queue_status(self.queue)["subscribed_work"], what="a subscription")
        return daemon

    def publish(self, *bodies):
        self.wire.publish_all(self.queue, [(encode_properties(delivery_mode=2, message_id=b"id-" + body[:20]), body) for body in bodies])

    def places(self, daemon, cause):
        """Where the cause shows now."""
        flowz = daemon.get("/flowz")
        found = {
            "status": cause in daemon.causes(self.queue),
            "flowz": flowz[0] == 503 and f"{self.queue} {cause} " in flowz[1],
            "metric": daemon.metrics()[f'retryd_stall{{queue="{self.queue}",cause="{cause}"}}'] == 1,
            "why-not": cause in self.why_not(daemon),
        }
        return {place for place, there in found.items() if there}

    def why_not(self, daemon):
        """{cause: what heals it}, as retryctl says."""
        command = [os.environ["RETRYCTL_BIN"], "--admin", f"unix:{daemon.admin}", "--json", "why-not", self.queue]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        return {one["cause"]: one["heals"] for one in json.loads(answer.stdout)["causes"] if one["stops"]}

    def wait_until_named(self, daemon, cause, timeout=40, detail=""):
        """It shows everywhere at once."""
        self.pid = daemon.pid
        everywhere = {"status", "flowz", "metric", "why-not"}
        eventually(lambda: self.places(daemon, cause) == everywhere, timeout, f"{cause} everywhere", every=0.1)
        details = [stall["detail"] for stall in daemon.queue_status(self.queue)["stalls"] if stall["cause"] == cause]
        self.assertTrue(any(detail in one for one in details) or not detail, details)

    def check_healed(self, daemon, app, cause, timeout=60):
        """It is gone everywhere, by itself, and messages flow again."""
        self.wait_for_flow(daemon, timeout)
        eventually(lambda: not self.places(daemon, cause), timeout, f"{cause} gone everywhere")
        before = daemon.deliveries(self.queue).get("success", 0)
        self.publish(b"afterwards")
        eventually(lambda: daemon.deliveries(self.queue).get("success", 0) > before, timeout, "a success afterwards")
        self.wait_for_nothing_left(timeout)
        self.assertEqual(daemon.pid, self.pid)

    def assert_none_lost(self, app, bodies):
        """Each has succeeded: its last request was not the one that fails."""
        self.assertLessEqual(set(bodies), {request.body for request in app.requests})
