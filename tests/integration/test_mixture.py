"""Ten thousand messages of four fates through one consumer: afterwards every figure is exact."""

import collections

from amqp_codec import encode_properties
from consumer import Answer
from integration_case import IntegrationCase
from retryd import eventually

MESSAGES = 10_000
PADDING = b"." * 1000
POLICY = """
queues:
  "@QUEUE@":
    deliver: {http: "%s", concurrency: 16, slow_start: 10s}
    retry: {quick: {tries: %d, delay: 10ms}, delays: [100ms, 200ms, 400ms]}
"""


def fate_of(number):
    """70 % succeed, 20 % fail twice and then succeed, 5 % are permanent, 5 % always fail."""
    return ["ok", "twice", "permanent", "always"][(number % 20 >= 14) + (number % 20 >= 18) + (number % 20 >= 19)]


def reply(request):
    fate = fate_of(int(request.body[:8]))
    if fate == "permanent":
        return 422
    if fate == "always" or (fate == "twice" and request.seen < 2):
        return Answer(500, {"Retryd-Error-Type": "DbTimeout"})
    return 204


class Mixture(IntegrationCase):
    def run_with_quick_tries(self, quick):
        self.declare_work_queue(arguments=[("x-queue-type", "S", b"\0\0\0\6quorum")])
        app = self.consumer(reply)
        daemon = self.retryd(POLICY % (app.url, quick))
        messages = [(encode_properties(delivery_mode=2, message_id=f"m-{n}"), b"%08d" % n + PADDING) for n in range(MESSAGES)]
        self.wire.publish_all(self.queue, messages)
        eventually(self.settled, 240, "all messages settled", every=0.3)
        self.check(app, daemon, quick)
        self.assertEqual(daemon.stop(), 0)

    def settled(self):
        return (self.wire.depth(self.own("parked")), self.wire.depth(self.own("dlq"))) == (500, 500) and not self.waiting()

    def waiting(self):
        """Messages in the work queue, the lane and every tier."""
        return sum(self.wire.depth(name) or 0 for name in [self.queue, self.own("lane"), *self.tiers()])

    def tiers(self):
        for delay in (100, 200, 400):
            for share in (80, 93, 106, 120):
                yield self.own(f"delay.{delay * share // 100}ms")

    def check(self, app, daemon, quick):
        attempts = collections.Counter(int(request.body[:8]) for request in app.requests)
        expected = {"ok": 1, "twice": 3, "permanent": 1, "always": 1 + quick + 3}
        self.assertEqual(attempts, {n: expected[fate_of(n)] for n in range(MESSAGES)})
        self.assertEqual([r.attempt for r in app.requests], [r.seen + 1 for r in app.requests])
        view = daemon.queue_status(self.queue)
        self.assertEqual((view["in_hand"], view["in_flight"]), (0, 0))
        metrics = daemon.metrics()
        deliveries = lambda outcome: metrics[f'retryd_deliveries_total{{queue="{self.queue}",outcome="{outcome}"}}']
        self.assertEqual(deliveries("success"), 9000)
        self.assertEqual(deliveries("permanent"), 500)
        for lot, reason, count in (("parked", "exhausted", 1 + quick + 3), ("dlq", "permanent", 1)):
            messages = self.wire.get_all(self.own(lot))
            self.assertEqual(len({message.body for message in messages}), 500)
            self.assertEqual({message.headers["retryd-reason"] for message in messages}, {reason})
            self.assertEqual({message.headers["retryd-attempts"] for message in messages}, {count})

    def test_without_quick_tries(self):
        self.run_with_quick_tries(0)

    def test_with_two_quick_tries(self):
        self.run_with_quick_tries(2)
