"""Two dependencies behind one queue, and one of them is down: only what needs it waits, and the rest does not notice."""

from amqp_codec import quorum
from guards_case import KEYS, GuardsCase
from retryd import eventually

RATE = 300
SECONDS_BEFORE, SECONDS = 5, 30
POLICY = """
dependencies: {db: {}, fx: {}}
queues:
  "%s": {deliver: {http: "%s"}, needs: [{db: {type: db}}, {fx: {type: fx}}], %s}
"""


class Divert(GuardsCase):
    @staticmethod
    def of_kind(requests, kind):
        return [request for request in requests if request.headers["amqp-type"] == kind]

    def test_one_of_two_is_down(self):
        queue = self.queue
        self.declare_work_queue(queue, quorum())
        down = False

        def reply(request):
            if request.headers["amqp-type"] != "fx" or not down:
                return 200
            self.failed[request.body] += 1
            return 500

        app = self.consumer(reply)
        daemon = self.retryd(POLICY % (queue, app.url, KEYS), guards=True)

        others = set()

        def send(count):
            others.update(self.send_many(queue, count // 2, "db"))
            self.send_many(queue, count - count // 2, "fx")

        self.wait_for_requests(app, self.evenly(SECONDS_BEFORE, RATE, send))
        before = self.of_kind(app.requests, "db")
        others.clear()
        down = True
        sent = self.evenly(SECONDS, RATE, send)
        eventually(lambda: others <= {request.body for request in app.requests}, 20, "all that need the one that works")
        calls = sum(self.failed.values())
        self.assertEqual(self.breaker(daemon, "db")["state"], "closed")
        self.assertNotEqual(self.breaker(daemon, "fx")["state"], "closed")
        self.assertEqual(self.breaker(daemon, f"queue:{queue}")["state"], "closed")
        during = self.of_kind(app.requests, "db")[len(before):]
        down = False
        self.wait_for_nothing_left(60)
        print(f"\n{calls} calls of {sent} messages while it was down; the {len(others)} others: before {self.spans(before)}, "
              f"during {self.spans(during)}", flush=True)
        self.assertLess(calls, 0.02 * sent)
        self.assertTrue(all(request.seen == 0 and request.attempt == 1 for request in during))
        self.assertEqual((self.wire.depth(self.own("parked")), self.wire.depth(self.own("dlq"))), (0, 0))
        self.assertEqual(daemon.deliveries(queue)["success"], self.sent)
        self.assert_no_hold_was_charged(app)
