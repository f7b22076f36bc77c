"""A consumer whose dependency is down for half a minute: it is hardly called, nothing is parked, and all is done afterwards."""

from amqp_codec import quorum
from guards_case import KEYS, GuardsCase

RATE = 300
SECONDS = 30


class Outage(GuardsCase):
    def test_half_a_minute_at_300_a_second(self):
        queue = self.queue
        self.declare_work_queue(queue, quorum())
        down = False

        def reply(request):
            if down:
                self.failed[request.body] += 1
            return 500 if down else 200

        app = self.consumer(reply)
        daemon = self.retryd(f'queues: {{"{queue}": {{deliver: {{http: "{app.url}"}}, {KEYS}}}}}', guards=True)
        self.send_many(queue, 1500)
        self.wait_for_requests(app, 1500)
        down = True
        sent = self.evenly(SECONDS, RATE, lambda count: self.send_many(queue, count))
        calls = sum(self.failed.values())
        self.assertIn("breaker-open", daemon.causes(queue))
        down = False
        self.wait_for_nothing_left(60)
        print(f"\n{calls} calls of {sent} messages while it was down", flush=True)
        self.assertGreater(sent, 0.9 * RATE * SECONDS)
        self.assertLess(calls, 0.02 * sent)
        self.assertEqual((self.wire.depth(self.own("parked")), self.wire.depth(self.own("dlq"))), (0, 0))
        self.assertEqual(daemon.deliveries(queue)["success"], self.sent)
        self.assert_no_hold_was_charged(app)
