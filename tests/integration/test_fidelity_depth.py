"""Header tables nested as deep as a frame can hold: whoever reads them by recursion dies of it, so nobody but the broker's library
does. Over HTTP they are left out, on the stream they are shown to a depth; either way the message is retried, parked whole, and
those beside it are not disturbed."""

import os

from amqp_codec import encode_properties, number, table
from fidelity_case import FidelityCase, original_headers
from retryd import eventually
from stream_case import StreamCase

LEVELS = 18_000  # of seven bytes each, in a frame of 131,072
WITHIN = 240  # each hop costs the broker seconds of CPU
POLICY = """
broker: {uri: "@AMQP@", confirm_timeout: 5m}
queues: {"@QUEUE@": {deliver: {%s, timeout: 60s}, retry: {quick: none, delays: [100ms], jitter: 0%%, spread: 1}}}
"""


def nested(levels):
    value = number("bottom", 1)
    for _ in range(levels):
        value = table("t", [value])
    return value


class OverHttp(FidelityCase):
    def test_as_many_levels_as_a_frame_holds_are_retried_and_parked_whole(self):
        self.declare_work_queue()
        app = self.consumer(lambda request: 503 if request.body == b"deep" else 200)
        daemon = self.retryd(POLICY % f'http: "{app.url}"')
        headers = [nested(LEVELS)]
        self.wire.publish(self.queue, b"deep", encode_properties(headers=headers, delivery_mode=2))
        self.wire.publish(self.queue, b"plain", encode_properties(delivery_mode=2))
        copy = self.wait_for_lot("parked", WITHIN)
        self.assertEqual((copy.body, original_headers(copy)), (b"deep", headers))
        deep = [request for request in app.requests if request.body == b"deep"]
        self.assertEqual([(request.attempt, request.headers["retryd-headers-omitted"]) for request in deep], [(1, "1"), (2, "1")])
        self.assertEqual([request.attempt for request in app.requests if request.body == b"plain"], [1])
        self.wait_until_settled(daemon, WITHIN)
        self.assert_quiet_links(daemon)


class OnTheStream(StreamCase):
    def test_as_many_levels_as_a_frame_holds_are_shown_to_a_depth_and_parked_whole(self):
        self.declare_work_queue()
        daemon = self.retryd(POLICY % f'stream: "unix:{self.path}"')
        eventually(lambda: os.path.exists(self.path), what="the stream's socket")
        peer = self.peer(credit=1)
        peer.socket.settimeout(WITHIN)
        headers = [nested(LEVELS)]
        self.wire.publish(self.queue, b"deep", encode_properties(headers=headers, delivery_mode=2))
        for attempt in (1, 2):
            message = peer.message()
            self.assertEqual((peer.body, message["attempt"]), (b"deep", attempt))
            self.assertNotIn("headers_omitted", message)
            shown, levels = message["headers"]["t"], 1
            while "t" in shown:
                shown, levels = shown["t"], levels + 1
            self.assertEqual((levels, list(shown)), (65, ["$bytes"]))
            peer.reply(message, "transient")
        copy = self.wait_for_lot("parked", WITHIN)
        self.assertEqual((copy.body, original_headers(copy)), (b"deep", headers))
        self.assertNotIn("link_down", daemon.log())
