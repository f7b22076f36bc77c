"""A deployment that answers the same error to everything: few messages are given up, it is told at once, and the rest is done later."""

from guards_case import KEYS, GuardsCase
from retryd import eventually

RATE = 100  # of each queue
SECONDS = 60
STATUSES = (500, 404, 422)


class BadDeploy(GuardsCase):
    def test_an_error_for_everything(self):
        queues = {status: self.queue_named(f"as-{status}") for status in STATUSES}
        bad = False
        app = self.consumer(lambda request: int(request.target[1:]) if bad else 200)
        lines = "".join(f'  "{queue}": {{deliver: {{http: "{app.url}", path: /{status}}}, {KEYS}}}\n'
                        for status, queue in queues.items())
        daemon = self.retryd(f"queues:\n{lines}", guards=True)
        for queue in queues.values():
            self.send_many(queue, 300)
        self.wait_for_requests(app, 300 * len(queues))
        bad = True
        for queue in queues.values():
            self.send_many(queue, RATE)
        eventually(lambda: all("breaker-open" in daemon.causes(queue) for queue in queues.values()), 10, "an alert for each")
        sent = self.evenly(SECONDS, RATE, lambda count: [self.send_many(queue, count) for queue in queues.values()])
        bad = False
        given_up = {}
        for status, queue in queues.items():
            lots = (self.own("parked", queue), self.own("dlq", queue))
            count = 300 + RATE + sent
            eventually(lambda: daemon.deliveries(queue)["success"] + self.given_up(lots) == count, 60, f"the end of all of {queue}", every=0.3)
            given_up[status] = self.given_up(lots)
        print(f"\ngiven up of {RATE + sent} messages each: {given_up}", flush=True)
        self.assertLessEqual(max(given_up.values()), 200)
        self.assertEqual(given_up[500], 0)

    def given_up(self, lots):
        return sum(self.wire.depth(lot) for lot in lots)
