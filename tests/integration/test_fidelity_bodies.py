"""Bodies of every size come back byte for byte; what is too large goes to the dead letters undelivered."""

import random

from amqp_codec import encode_properties, text
from fidelity_case import FidelityCase, always_fails, failing
from retryd import eventually

MIB = 1 << 20
FRAME = 131072
EDGES = (0, 1, FRAME - 9, FRAME - 8, FRAME - 7, FRAME, 2 * (FRAME - 8), 2 * (FRAME - 8) + 1, MIB)  # a frame's payload: 8 less


def body_of(size):
    return random.Random(size).randbytes(size)


class Bodies(FidelityCase):
    def test_bodies_round_the_edges_of_frames_come_back_byte_for_byte(self):
        self.declare_work_queue()
        app = self.consumer(always_fails)
        daemon = self.daemon(app)
        for size in EDGES:
            self.wire.publish(self.queue, body_of(size))
        copies = []
        while len(copies) < len(EDGES):
            copies.append(self.wait_for_lot("parked"))
        expected = sorted(body_of(size) for size in EDGES)
        self.assertEqual([len(copy.body) for copy in sorted(copies, key=lambda copy: copy.body)], [len(body) for body in expected])
        self.assertTrue(sorted(copy.body for copy in copies) == expected)
        for attempt in (1, 2, 3):
            self.assertTrue(sorted(request.body for request in app.requests if request.attempt == attempt) == expected)
        self.assert_quiet_links(daemon)

    def test_an_empty_body_is_a_post_of_no_bytes_and_holds_nothing_up(self):
        self.declare_work_queue()
        app = self.consumer(lambda request: 503 if not request.body else 200)
        daemon = self.daemon(app, more="prefetch: 1")
        self.wire.publish(self.queue, b"", encode_properties(content_type="text/plain"))
        self.wire.publish(self.queue, b"next")
        copy = self.wait_for_lot("parked")
        self.wait_until_settled(daemon)
        empty = [request for request in app.requests if not request.body]
        self.assertEqual([(r.method, r.headers["content-length"], r.headers["content-type"]) for r in empty],
                         [("POST", "0", "text/plain")] * 3)
        self.assertEqual([request.body for request in app.requests if request.body], [b"next"])
        self.assertEqual((copy.body, copy.value_of("content_type")), (b"", b"text/plain"))

    def test_a_body_of_64_mib_is_delivered_retried_and_parked_whole(self):
        self.declare_work_queue()
        app = self.consumer(always_fails)
        daemon = self.daemon(app, "[100ms]")
        body = body_of(64 * MIB)
        self.wire.publish(self.queue, body)
        copy = self.wait_for_lot("parked", timeout=60)
        self.assertTrue(copy.body == body)
        self.assertEqual([request.body == body for request in app.requests], [True, True])
        self.assert_quiet_links(daemon)

    def test_a_body_over_max_body_is_dead_lettered_whole_and_undelivered(self):
        self.declare_work_queue()
        app = self.consumer()
        daemon = self.daemon(app)
        body = body_of(65 * MIB)
        self.wire.publish(self.queue, body, encode_properties(message_id="big", headers=[text("own", "1")]))
        self.wire.publish(self.queue, b"small")
        copy = self.wait_for_lot("dlq", timeout=60)
        self.assertTrue(copy.body == body)
        self.assertEqual((copy.headers["retryd-reason"], copy.headers["retryd-error-type"]), ("permanent", "retryd.TooLarge"))
        self.assertEqual(copy.headers["own"], "1")
        eventually(lambda: app.requests, what="the small one")
        self.assertEqual([request.body for request in app.requests], [b"small"])
        self.wait_until_settled(daemon)

    def test_max_body_is_the_largest_that_is_delivered(self):
        self.declare_work_queue()
        app = self.consumer()
        self.retryd(f'max_body: 1KiB\nqueues: {{"@QUEUE@": {{deliver: {{http: "{app.url}"}}, to: {{permanent: parked}}}}}}')
        for size in (1023, 1024, 1025):
            self.wire.publish(self.queue, body_of(size))
        self.assertEqual(self.wait_for_lot("parked").body, body_of(1025))
        self.wait_for_requests(app, 2)
        self.assertEqual(sorted(len(request.body) for request in app.requests), [1023, 1024])

    def test_headers_as_large_as_a_frame_are_retried_or_parked_and_disturb_nobody(self):
        self.declare_work_queue()
        app = self.consumer(failing(1))
        daemon = self.daemon(app)
        overhead = len(encode_properties(delivery_mode=2, headers=[text("big", "")]))
        sizes = (100_000, 122_000, 124_000, 126_000, 126_500, 127_000, 128_000, 130_000, 130_900, 131_000, FRAME - 20 - overhead)
        for size in sizes:
            self.wire.publish(self.queue, b"big %d" % size, encode_properties(delivery_mode=2, headers=[text("big", "h" * size)]))
            self.wire.publish(self.queue, b"normal %d" % size)
        self.wait_until_at_rest(app, daemon, 2 * len(sizes))
        parked = {copy.body: copy for copy in self.wire.get_all(self.own("parked"))}
        for size in sizes:
            attempts = [request.attempt for request in app.requests if request.body == b"big %d" % size]
            with self.subTest(size):
                copy = parked.pop(b"big %d" % size, None)
                self.assertEqual(attempts, [1] if copy else [1, 2])
                if copy:
                    self.assertEqual(copy.headers["big"], "h" * size)
        self.assertEqual(parked, {})
        self.assertLess(len([request for request in app.requests if request.attempt == 2]), 2 * len(sizes))  # some were parked
        self.assertEqual(len([request for request in app.requests if request.body.startswith(b"normal")]), 2 * len(sizes))
        self.assert_quiet_links(daemon)

    def test_headers_that_fill_their_frame_to_the_last_byte_are_parked(self):
        for mode in (2, None):
            with self.subTest(delivery_mode=mode):
                self.queue = f"{mode}.{self.queue}"
                spare = 0 if mode else 1  # the byte in which the copy says that it is persistent
                overhead = len(encode_properties(delivery_mode=mode, headers=[text("big", "")])) + spare
                big = "h" * (FRAME - 20 - overhead)
                copy, _, _ = self.park(encode_properties(delivery_mode=mode, headers=[text("big", big)]), attempts=1)
                self.assertTrue(copy.headers["big"] == big)
                self.assertEqual(copy.value_of("delivery_mode"), 2)

    def test_headers_that_the_broker_has_made_larger_than_a_frame_are_parked_and_disturb_nobody(self):
        self.declare_work_queue(arguments=[text("x-queue-type", "quorum")])
        overhead = len(encode_properties(delivery_mode=2, headers=[text("big", "")]))
        big = "h" * (FRAME - 20 - overhead)
        self.wire.publish(self.queue, b"big", encode_properties(delivery_mode=2, headers=[text("big", big)]))
        self.wire.publish(self.queue, b"normal")
        self.wire.peek_all(self.queue)  # what is returned carries x-delivery-count from then on
        app = self.consumer(always_fails)
        daemon = self.daemon(app)
        copies = {copy.body: copy for copy in (self.wait_for_lot("parked"), self.wait_for_lot("parked"))}
        self.assertTrue(copies[b"big"].headers["big"] == big)
        self.assertEqual([request.attempt for request in app.requests if request.body == b"big"], [1])
        self.assertEqual([request.attempt for request in app.requests if request.body == b"normal"], [1, 2, 3])
        self.wait_until_settled(daemon)
        self.assert_quiet_links(daemon)

    def wait_until_at_rest(self, app, daemon, count):
        """Each has come twice or is parked."""
        def at_rest():
            came_back = len([request for request in list(app.requests) if request.attempt == 2])
            return came_back + (self.wire.depth(self.own("parked")) or 0) == count

        eventually(at_rest, 20, "every message at rest")
        self.wait_until_settled(daemon)
