"""Two dependencies behind one queue, and one of them is down: only what needs it waits, and the rest does not notice."""

from amqp_codec import quorum
from guards_case import KEYS, GuardsCase

RATE = 300
SECONDS = 20
POLICY = """
dependencies: {db: {}, fx: {}}
queues:
  "%s": {deliver: {http: "%s"}, needs: [{db: {type: db}}, {fx: {type: fx}}], %s}
"""


class Divert(GuardsCase):
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

        def send(count):
            self.send_many(queue, count // 2, "db")
            self.send_many(queue, count - count // 2, "fx")

        send(1500)
        self.wait_for_requests(app, 1500)
        down, before = True, len(app.requests)
        sent = self.evenly(SECONDS, RATE, send)
        calls = sum(self.failed.values())
        self.assertEqual(self.breaker(daemon, "db")["state"], "closed")
        self.assertNotEqual(self.breaker(daemon, "fx")["state"], "closed")
        self.assertEqual(self.breaker(daemon, f"queue:{queue}")["state"], "closed")
        others = [request for request in app.requests[before:] if request.headers["amqp-type"] == "db"]
        down = False
        self.wait_for_nothing_left(60)
        print(f"\n{calls} calls of {sent} messages while it was down, {len(others)} of the others", flush=True)
        self.assertLess(calls, 0.02 * sent)
        self.assertGreater(len(others), 0.45 * sent)  # they flowed meanwhile
        self.assertTrue(all(request.seen == 0 and request.attempt == 1 for request in others))
        self.assertEqual((self.wire.depth(self.own("parked")), self.wire.depth(self.own("dlq"))), (0, 0))
        self.assertEqual(daemon.deliveries(queue)["success"], self.sent)
        self.assert_no_hold_was_charged(app)
