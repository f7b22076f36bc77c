"""What the tests of faulty consumers have in common: a queue, and a daemon with short retries and holds."""

from amqp_codec import encode_properties
from integration_case import IntegrationCase
from retryd import eventually

POLICY = """
queues:
  "@QUEUE@":
    deliver: {http: "%s", timeout: %s, concurrency: %d}
    retry: {quick: {tries: 0}, delays: [100ms, 200ms], jitter: 0%%, spread: 1, queue_type: classic}
    hold: {delays: [200ms, 400ms], max_retry_after: 1s}
"""


class FaultyConsumer(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue()

    def daemon_for(self, app, timeout="5s", concurrency=4):
        return self.retryd(POLICY % (app if isinstance(app, str) else app.url, timeout, concurrency))

    def publish(self, *bodies, **properties):
        properties = encode_properties(delivery_mode=2, **properties)
        self.wire.publish_all(self.queue, [(properties, body) for body in bodies])

    def wait_for_outcomes(self, daemon, within=20, **wanted):
        eventually(lambda: daemon.deliveries(self.queue) == wanted, within, f"the outcomes {wanted}")
