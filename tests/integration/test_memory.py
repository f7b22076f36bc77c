"""The memory limit: reading stops, and what would free memory goes on."""

from integration_case import IntegrationCase
from retryd import eventually

MIB = 1024 * 1024
POLICY = """
memory: 16MiB
max_body: 16MiB
queues:
  "@QUEUE@":
    deliver: {http: "%s", concurrency: 4}
    retry: {quick: none, delays: [200ms]}
"""


class Memory(IntegrationCase):
    def run_backlog(self, reply):
        self.declare_work_queue()
        app = self.consumer(reply)
        for number in range(60):
            self.wire.publish(self.queue, b"%04d" % number + bytes(MIB))
        return app, self.retryd(POLICY % app.url)

    def test_a_backlog_over_the_limit_that_fails_once_is_worked_off(self):
        app, daemon = self.run_backlog(lambda request: 503 if request.seen == 0 else 200)
        done = lambda: sum(1 for request in app.requests if request.seen > 0) >= 60
        eventually(done, 90, "sixty second attempts")
        eventually(lambda: daemon.queue_status(self.queue)["in_hand"] == 0, 30, "an empty hand")
        self.assertEqual(daemon.stop(), 0)

    def test_a_backlog_over_the_limit_that_can_never_work_is_dead_lettered(self):
        _, daemon = self.run_backlog(lambda request: 422)
        self.wait_for_depth(self.own("dlq"), 60, 90)
        eventually(lambda: daemon.queue_status(self.queue)["in_hand"] == 0, 30, "an empty hand")
