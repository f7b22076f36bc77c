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

    def queue_named(self, name):
        queue = f"{name}.{self.queue}"
        self.declare_work_queue(queue, quorum())
        return queue

    def send_many(self, queue, count, kind=None):
        """So many messages, confirmed by the broker; `kind`: their type."""
        named = {} if kind is None else {"type": kind}
        properties = encode_properties(delivery_mode=2, **named)
        self.wire.publish_all(queue, [(properties, b"%d" % (self.sent + number)) for number in range(count)])
        self.sent += count

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

    def assert_no_hold_was_charged(self, app):
        """No message has had more attempts than deliveries that failed."""
        for request in app.requests:
            self.assertLessEqual(request.attempt - 1, self.failed[request.body])

    def breaker(self, daemon, name):
        return next(view for view in daemon.status()["breakers"] if view["name"] == name)
