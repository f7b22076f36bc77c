"""The system's clock set back, or forward, under a running retryd: nothing crashes, hangs, is lost or comes early by it.

Only the daemon's clock is set, by the library that is loaded into it; the broker's and the consumer's stay as they are.
"""

import json
import os
import struct

from amqp_codec import encode_properties, quorum
from consumer import Answer
from integration_case import IntegrationCase
from retryd import eventually

HOUR, DAY = 3600, 86400
KEYS = "retry: {quick: {tries: 1, delay: 100ms}, delays: [1s, 2s], jitter: 0%, spread: 1}, hold: {delays: [1s, 2s, 4s]}"


class WallClock(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue(arguments=quorum())
        self.offset = self.folder / "offset"
        self.offset.write_bytes(bytes(8))

    def set_clock(self, seconds):
        """So far from the true time. In place: the daemon has the file mapped."""
        with open(self.offset, "r+b") as file:
            file.write(struct.pack("=q", seconds))

    def start(self, reply, keys=KEYS, deliver="concurrency: 8"):
        app = self.consumer(reply)
        wrapper = ("env", f"LD_PRELOAD={os.environ['WALL_CLOCK_SHIM']}", f"WALL_CLOCK_OFFSET={self.offset}",
                   "ASAN_OPTIONS=verify_asan_link_order=0")
        policy = f'queues: {{"@QUEUE@": {{deliver: {{http: "{app.url}", {deliver}}}, {keys}}}}}'
        return app, self.retryd(policy, wrapper=wrapper)

    def publish(self, numbers, **properties):
        messages = [(encode_properties(delivery_mode=2, **properties), b"%d" % n) for n in numbers]
        self.wire.publish_all(self.queue, messages)

    def seconds_told(self, daemon):
        return json.loads(daemon.get("/status")[1])["at_ms"] / 1000

    def check_jumps(self, *offsets, keys=KEYS):
        """Each message fails three times: once quickly, twice in the broker; the clock jumps while they wait."""
        app, daemon = self.start(lambda request: Answer(503 if request.seen < 3 else 200, wait=0.01), keys)
        begin = self.seconds_told(daemon)
        count = 0
        for offset in offsets:
            self.publish(range(count, count + 20))
            count += 20
            self.wait_for_requests(app, len(app.requests) + 1)
            self.set_clock(offset)
            self.wait_for_requests(app, 4 * count, 60)
        self.wait_for_nothing_left()
        self.assertLess(abs(self.seconds_told(daemon) - begin), DAY / 2)
        self.assertEqual(sorted((int(r.body), r.attempt) for r in app.requests),
                         [(n, attempt) for n in range(count) for attempt in (1, 2, 3, 4)])
        self.assert_never_early(app)
        self.assert_no_busy_loop(daemon)
        self.assertNotIn("link_down", daemon.log())
        self.assertEqual(daemon.stop(), 0)

    def assert_never_early(self, app):
        times = {(request.body, request.attempt): request.at for request in app.requests}
        for (body, attempt), at in times.items():
            if attempt > 2:
                self.assertGreaterEqual(at - times[body, attempt - 1], {3: 1, 4: 2}[attempt] - 0.05)

    def test_the_clock_is_indeed_the_one_that_is_set(self):
        _, daemon = self.start(lambda request: 200)
        now = self.seconds_told(daemon)
        self.set_clock(-DAY)
        eventually(lambda: now - self.seconds_told(daemon) > DAY - 60, what="yesterday")

    def test_retries_keep_their_times_and_their_counts_whatever_the_clock_does(self):
        self.check_jumps(-DAY, 0, HOUR, -HOUR, DAY, -3650 * DAY, 0)

    def test_retries_of_messages_without_a_history_do_so_too(self):
        self.check_jumps(-DAY, 0, keys=KEYS + ", history: 0")

    def test_a_timeout_a_gate_and_a_slow_start_follow_no_wall_clock(self):
        health = [200]

        def reply(request):
            if request.method == "GET":
                return health[0]
            return Answer(200, wait=3 if request.body == b"0" and request.seen == 0 else 0.01)

        deliver = "concurrency: 8, timeout: 2s, slow_start: 5s, ready: {path: /healthz, every: 200ms}"
        app, daemon = self.start(reply, deliver=deliver)
        handed = lambda: [request for request in app.requests if request.method == "POST"]
        self.publish(range(1))
        eventually(handed, what="the first message")
        self.set_clock(-DAY)
        eventually(lambda: daemon.deliveries(self.queue).get("timeout") == 1, 10, "its timeout")
        health[0] = 503
        self.wait_for_cause(daemon, "consumer-not-ready")
        self.set_clock(DAY)
        health[0] = 200
        self.publish(range(1, 100))
        self.wait_for_nothing_left(40)
        self.assertEqual({request.attempt for request in handed() if request.body != b"0"}, {1})
        self.assertEqual(daemon.deliveries(self.queue), {"timeout": 1, "success": 100})
        self.set_clock(-HOUR)
        self.assertEqual(daemon.stop(), 0)

    def test_a_retry_after_is_waited_for_up_to_the_next_step_of_the_hold_ladder(self):
        """A hop that ends with more left than the whole wait was shows that the clock was set back: the rest is not waited for."""
        throttled = Answer(429, {"Retry-After": "4"})
        app, _ = self.start(lambda request: 200 if request.seen else throttled, KEYS.replace("[1s, 2s, 4s]", "[2s]"))
        self.publish([0])
        self.wait_for_depth(self.own("hold.2000ms"), 1)
        self.set_clock(-DAY)
        self.wait_for_requests(app, 2, 30)
        first, second = app.requests
        self.assertGreaterEqual(second.at - first.at, 1.95)
        self.assertEqual((first.attempt, second.attempt), (1, 1))

    def test_a_clock_set_forward_ends_what_expires_and_what_grows_too_old_by_it(self):
        app, daemon = self.start(lambda request: 503, "limits: {age: 12h}, " + KEYS)
        self.publish([0], expiration="43200000")
        self.publish([1])
        self.wait_for_requests(app, 4)
        self.set_clock(DAY)
        reasons = {}
        while len(reasons) < 2:
            copy = self.wait_for_lot("parked", 30)
            reasons[copy.body] = copy.headers["retryd-reason"]
        self.assertEqual(reasons, {b"0": "expired", b"1": "age"})
        self.assertEqual(daemon.stop(), 0)
