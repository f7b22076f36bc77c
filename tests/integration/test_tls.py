"""Messages over TLS, with the broker's own: large ones both ways with failures and retries, and connections that are cut inside of a
record, stalled and refused. The bytes are those of the plain tests."""

import collections
import hashlib
import os
import random

from amqp_codec import encode_properties
from consumer import Answer
from retryd import eventually
from tls_case import TlsCase

RETRY = "retry: {quick: {tries: 1, delay: 10ms}, delays: [100ms, 200ms], max: 3, jitter: 0%, spread: 1, queue_type: classic}"
SIZES = (0, 1, 200, 16_000, 17_000, 130_000, 1 << 20)  # around a record (16 KiB), around a frame (128 KiB), and large


def body_of(number, size):
    return b"%d " % number + random.Random(number).randbytes(size)


def digest(body):
    return hashlib.sha256(body).hexdigest()


class Tls(TlsCase):
    def setUp(self):
        super().setUp()
        self.sent = []

    def publish(self, bodies):
        self.wire.publish_all(self.queue, [(encode_properties(delivery_mode=2, message_id=digest(body)), body) for body in bodies])
        self.sent += map(digest, bodies)

    def succeeded(self):
        """How often each body was answered with 200."""
        return collections.Counter(digest(request.body) for request in self.app.requests if getattr(request, "fate", 0) == 200)

    def fail_first(self, times):
        """A consumer that fails every third message so often, each attempt of it."""

        def reply(request):
            name = digest(request.body)
            request.fate = 503 if int(name, 16) % 3 == 0 and request.attempt <= times else 200
            return Answer(request.fate)

        self.app.reply = reply

    def wait_for_all(self, timeout=120):
        eventually(lambda: set(self.succeeded()) >= set(self.sent), timeout, "every message to succeed", 0.1)
        self.wait_for_nothing_left(timeout)

    def test_two_thousand_messages_of_every_size_with_failures_and_retries(self):
        self.fail_first(times=3)
        daemon = self.retryd(self.broker_policy(queue=RETRY))
        self.publish([body_of(n, SIZES[n % 3] if n % 40 else SIZES[n // 40 % len(SIZES)]) for n in range(2000)])
        self.wait_for_all()
        self.assertEqual(self.succeeded(), collections.Counter(self.sent))
        self.assertGreater(daemon.deliveries(self.queue)["transient"], 1000)

    def test_large_copies_come_back_byte_for_byte(self):
        self.fail_first(times=4)
        self.retryd(self.broker_policy(queue=RETRY))
        self.publish([body_of(n, 1 << 20) for n in range(60)])
        self.wait_for_all()
        self.assertEqual(self.succeeded(), collections.Counter(self.sent))

    def test_a_cut_inside_a_record_either_way_loses_nothing(self):
        way = self.proxy(os.environ["RETRYD_TEST_AMQPS"])
        self.fail_first(times=2)
        self.retryd(self.broker_policy(way.url, RETRY))
        for number, (direction, after) in enumerate([("down", 150_001), ("up", 90_003), ("down", 7), ("up", 5)]):
            connects = way.connects
            way.cut_after(direction, after)
            self.publish([body_of(1000 * number + n, 40_000) for n in range(20)])
            eventually(lambda: way.connects > connects, 40, "a new connection after the cut")
            self.wait_for_all()

    def test_a_broker_that_goes_and_returns_is_connected_to_again(self):
        way = self.proxy(os.environ["RETRYD_TEST_AMQPS"])
        self.fail_first(times=1)
        daemon = self.retryd(self.broker_policy(way.url, RETRY, ", heartbeat: 2s"))
        for stop in (way.cut, way.half_open):
            way.refuse()
            way.cut()
            self.wait_for_cause(daemon, "broker-down", 60)
            self.assert_no_busy_loop(daemon)
            way.accept()
            self.wait_for_flow(daemon, 60)
            self.publish([body_of(len(self.sent) + n, 1000) for n in range(10)])
            stop()
            self.wait_for_all()

    def test_a_peer_that_falls_silent_is_found_by_its_heartbeats(self):
        way = self.proxy(os.environ["RETRYD_TEST_AMQPS"])
        self.fail_first(times=1)
        daemon = self.retryd(self.broker_policy(way.url, RETRY, ", heartbeat: 2s"))
        way.stall("down")
        self.wait_for_cause(daemon, "broker-down", 60)
        way.resume("down")
        self.wait_for_flow(daemon, 60)
        self.publish([body_of(n, 1000) for n in range(10)])
        self.wait_for_all()

    def test_a_daemon_under_load_drains_and_stops(self):
        self.fail_first(times=1)
        daemon = self.retryd(self.broker_policy(queue=RETRY))
        self.publish([body_of(n, 20_000) for n in range(300)])
        self.wait_for_requests(self.app, 50)
        self.assertEqual(daemon.stop(), 0)
        self.assertNotIn('"level":"error"', daemon.log())
        daemon.start()
        self.wait_for_all()
