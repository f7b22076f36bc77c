"""What the tests of the guards have in common: messages that come evenly, a consumer that may fail for a while, and its calls."""

import collections
import time

from amqp_codec import encode_properties, quorum
from integration_case import IntegrationCase

KEYS = "hold: {delays: [2s, 5s]}"  # so that what is held comes back while a test may wait for it


class GuardsCase(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.sent = 0
        self.failed = collections.Counter()  # deliveries of each body that failed
        self.sent_at = {}  # time.monotonic() by body

    def queue_named(self, name):
        queue = f"{name}.{self.queue}"
        self.declare_work_queue(queue, quorum())
        return queue

    def send_many(self, queue, count, kind=None):
        """So many messages, confirmed by the broker; `kind`: their type. Returns their bodies."""
        named = {} if kind is None else {"type": kind}
        properties = encode_properties(delivery_mode=2, **named)
        bodies = [b"%d" % number for number in range(self.sent, self.sent + count)]
        self.sent_at.update(dict.fromkeys(bodies, time.monotonic()))
        self.wire.publish_all(queue, [(properties, body) for body in bodies])
        self.sent += count
        return bodies

    @staticmethod
    def evenly(seconds, rate, send):
        """Calls send(count) so that `rate` a second are sent; returns how many that were."""
        begun, done = time.monotonic(), 0
        while (passed := time.monotonic() - begun) < seconds:
            if due := int(passed * rate) - done:
                send(due)
                done += due
            time.sleep(0.02)
        return done

    def spans(self, requests):
        """How long they took from the publish to the consumer, for reading."""
        spans = sorted(1000 * (request.at - self.sent_at[request.body]) for request in requests)
        return f"p50 {spans[len(spans) // 2]:.1f} ms, p99 {spans[len(spans) * 99 // 100]:.1f} ms"

    def assert_no_hold_was_charged(self, app):
        """No message has had more attempts than deliveries that failed."""
        for request in app.requests:
            self.assertLessEqual(request.attempt - 1, self.failed[request.body])

    def breaker(self, daemon, name):
        return next(view for view in daemon.status()["breakers"] if view["name"] == name)
