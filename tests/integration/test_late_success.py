"""Replies that come after the connection to the broker was lost: each message is handled once all the same."""

import collections

from amqp_codec import encode_properties, text
from consumer import Answer
from integration_case import IntegrationCase
from retryd import eventually

POLICY = """
queues:
  "@QUEUE@":
    deliver: {http: "%s", timeout: 20s, concurrency: 16}
    retry: {quick: {tries: 0}, delays: [100ms], jitter: 0%%, spread: 1, queue_type: classic}
"""
BODIES = [b"%d" % n for n in range(10)]


class LateSuccess(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.proxy_to_broker = self.proxy()

    def ten_at_the_consumer(self, reply, arguments=()):
        self.declare_work_queue(arguments=arguments)
        app = self.consumer(reply)
        daemon = self.retryd(POLICY % app.url, self.proxy_to_broker.url)
        self.wire.publish_all(self.queue, [(encode_properties(delivery_mode=2), body) for body in BODIES])
        self.wait_for_requests(app, len(BODIES))
        return app, daemon

    def assert_each_came(self, app, times):
        self.assertEqual(collections.Counter(request.body for request in app.requests), dict.fromkeys(BODIES, times))

    def wait_for_redeliveries(self, daemon):
        name = f'retryd_redeliveries_total{{queue="{self.queue}"}}'
        eventually(lambda: daemon.metrics().get(name) == len(BODIES), 30, "all messages delivered again by the broker")

    def check_replies_after_the_return(self, queue_type):
        """Each is answered only when the broker has delivered all of them again."""
        app, daemon = self.ten_at_the_consumer(lambda request: Answer(wait=3), [text("x-queue-type", queue_type)])
        self.proxy_to_broker.cut()
        self.wait_for_redeliveries(daemon)
        self.assertEqual(daemon.deliveries(self.queue), {})
        self.wait_for_nothing_left()
        self.assert_each_came(app, 1)
        self.assertEqual(daemon.deliveries(self.queue), {"success": len(BODIES)})

    def test_replies_after_the_return_of_a_quorum_queue(self):
        self.check_replies_after_the_return("quorum")

    def test_replies_after_the_return_of_a_classic_queue(self):
        self.check_replies_after_the_return("classic")

    def test_replies_while_the_broker_is_away(self):
        app, daemon = self.ten_at_the_consumer(lambda request: Answer(wait=1))
        self.proxy_to_broker.refuse()
        self.proxy_to_broker.cut()
        eventually(lambda: daemon.deliveries(self.queue) == {"success": len(BODIES)}, 15, "ten late successes")
        self.proxy_to_broker.accept()
        self.wait_for_nothing_left()
        self.assert_each_came(app, 1)
        self.wait_for_redeliveries(daemon)
        self.assertIn("settled_late", daemon.log())
        self.assertFalse([line for line in daemon.log().splitlines() if "channel_closed" in line])

    def test_failures_after_the_return_are_retried_once(self):
        app, daemon = self.ten_at_the_consumer(lambda request: 200 if request.seen else Answer(500, wait=3))
        self.proxy_to_broker.cut()
        self.wait_for_redeliveries(daemon)
        self.wait_for_nothing_left()
        self.assert_each_came(app, 2)
        self.assertEqual({request.attempt for request in app.requests}, {1, 2})

    def test_what_is_fresh_is_delivered_however_equal_it_is(self):
        """A twin that was never delivered is no late success of the first."""
        self.declare_work_queue()
        app = self.consumer(lambda request: Answer(wait=1) if len(app.requests) == 1 else 200)
        daemon = self.retryd(POLICY % app.url, self.proxy_to_broker.url)
        twin = (encode_properties(delivery_mode=2), b"twin")
        self.wire.publish_all(self.queue, [twin])
        self.wait_for_requests(app, 1)
        self.proxy_to_broker.refuse()
        self.proxy_to_broker.cut()
        eventually(lambda: daemon.deliveries(self.queue) == {"success": 1}, 15, "a late success")
        self.wire.publish_all(self.queue, [twin, twin])
        self.proxy_to_broker.accept()
        self.wait_for_requests(app, 3)
        self.wait_for_nothing_left()
        self.assertEqual(len(app.requests), 3)
