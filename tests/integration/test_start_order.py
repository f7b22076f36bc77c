"""Broker, consumer and retryd start, go away and come back in every order: each message comes once, on its first attempt."""

import itertools

from amqp_codec import encode_properties
from integration_case import IntegrationCase
from retryd import eventually

PARTS = ("broker", "consumer", "retryd")


class StartOrder(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue()
        self.way = self.proxy()  # the broker, as retryd sees it
        self.app = self.consumer()
        self.daemon = self.retryd(f'queues: {{"@QUEUE@": "{self.app.url}"}}', amqp=self.way.url)
        self.sent = 0

    def publish(self, count):
        properties = encode_properties(delivery_mode=2)
        self.wire.publish_all(self.queue, [(properties, b"%d" % n) for n in range(self.sent, self.sent + count)])
        self.sent += count

    def goes(self, part):
        if part == "broker":
            self.way.refuse()
            self.way.cut()
        elif part == "consumer":
            self.app.stop()
        else:
            self.assertEqual(self.daemon.stop(), 0)

    def comes(self, part):
        if part == "broker":
            self.way.accept()
        elif part == "consumer":
            self.app.start()
        else:
            self.daemon.start(wait_ready=False)

    def notices(self, part):
        """Before the next thing happens, retryd has seen this one, where it can."""
        if part == "broker" and self.daemon.process:
            eventually(lambda: self.causes_now() & {"broker-down"}, what="broker-down")

    def causes_now(self):
        try:
            return set(self.daemon.causes(self.queue))
        except OSError:
            return set()

    def assert_all_came_once(self):
        eventually(lambda: len(self.app.requests) >= self.sent, 40, f"{self.sent} messages at the consumer")
        self.wait_for_nothing_left(40)
        self.wait_for_flow(self.daemon, 40)
        self.assertEqual(sorted(int(request.body) for request in self.app.requests), list(range(self.sent)))
        self.assertEqual({request.attempt for request in self.app.requests}, {1})

    def test_whatever_starts_first(self):
        for order in itertools.permutations(PARTS):
            with self.subTest(" ".join(order)):
                for part in ("retryd", "broker", "consumer"):
                    self.goes(part)
                self.publish(10)
                for part in order:
                    self.comes(part)
                    if part == "retryd":
                        eventually(lambda: self.daemon.answers("/livez"), what="/livez")
                self.assert_all_came_once()

    def test_whatever_goes_away_and_in_whatever_order_two_of_them_come_back(self):
        for gone in itertools.permutations(PARTS, 2):
            for back in (gone, gone[::-1]):
                with self.subTest(f"{gone} go, {back} come back"):
                    self.publish(5)
                    self.assert_all_came_once()
                    for part in gone:
                        self.goes(part)
                        self.notices(part)
                    self.publish(5)
                    for part in back:
                        self.comes(part)
                    self.assert_all_came_once()
