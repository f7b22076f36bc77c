"""The harness itself: what it publishes and gets is what the broker carries, and its faults are real faults."""

import os
import socket
import time
import unittest

import amqp_codec as codec
from amqp_wire import ChannelClosed, ConnectionClosed, Returned, Wire
from consumer import CLOSE, HANG, Answer, Consumer
from integration_case import IntegrationCase, eventually, rabbitmqctl
from retryd import UnixHttp

EVERY_LETTER = [
    codec.boolean("bool", True),
    codec.number("b", -3, "b"), codec.number("B", 200, "B"), codec.number("s", -300, "s"), codec.number("u", 60000, "u"),
    codec.number("I", -70000, "I"), codec.number("i", 4000000000, "i"), codec.number("l", -(1 << 40), "l"),
    codec.number("f", 0.5, "f"), codec.number("d", 0.1, "d"), codec.number("T", 1700000000, "T"),
    (b"decimal", "D", b"\x02\x00\x00\x01\x00"), codec.text("S", "gr\u00fc\u00df"), (b"x", "x", codec.long_string(b"\x00\xff")),
    (b"void", "V", b""), codec.table("F", [codec.text("inner", "1")]), codec.array("A", [codec.number("", 1), codec.text("", "two")]),
]


def post(path, body, headers=None):
    connection = UnixHttp(path)
    try:
        connection.request("POST", "/q", body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


class WireTest(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue()

    def test_every_header_type_comes_back_byte_for_byte(self):
        properties = codec.encode_properties(headers=EVERY_LETTER, delivery_mode=2)
        self.wire.publish(self.queue, b"body", properties)
        message = self.wire.get(self.queue)
        self.assertEqual(EVERY_LETTER, message.table)
        self.assertEqual(properties, message.properties)
        self.assertEqual({"inner": "1"}, message.headers["F"])
        self.assertEqual([1, "two"], message.headers["A"])

    def test_every_property_comes_back(self):
        values = dict(
            content_type=b"text/plain", content_encoding=b"gzip", headers=[], delivery_mode=1, priority=0, correlation_id=b"",
            reply_to=b"here", expiration=b"60000", message_id=b"m-1", timestamp=5, type=b"t", user_id=b"guest", app_id=b"a")
        self.wire.publish(self.queue, b"", codec.encode_properties(**values))
        self.assertEqual(values, codec.decode_properties(self.wire.get(self.queue).properties))

    def test_a_body_of_many_frames_comes_back(self):
        body = os.urandom(3_000_000)
        self.wire.publish(self.queue, body)
        self.assertEqual(body, self.wire.get(self.queue).body)

    def test_an_unroutable_message_raises(self):
        with self.assertRaises(Returned):
            self.wire.publish("nobody." + self.queue, b"x")
        self.wire.publish(self.queue, b"y")

    def test_a_closed_channel_is_opened_again(self):
        with self.assertRaises(ChannelClosed) as closed:
            self.wire.declare("missing." + self.queue, passive=True)
        self.assertEqual(404, closed.exception.code)
        self.assertIsNone(self.wire.depth("missing." + self.queue))
        self.assertEqual(0, self.wire.depth(self.queue))

    def test_peeking_leaves_everything_in_place(self):
        self.wire.publish_all(self.queue, [(codec.encode_properties(), bytes([i])) for i in range(10)])
        self.assertEqual(10, len(self.wire.peek_all(self.queue)))
        self.wait_for_depth(self.queue, 10)
        self.assertEqual([bytes([i]) for i in range(10)], [message.body for message in self.wire.get_all(self.queue)])

    def test_a_consumer_gets_and_settles(self):
        self.wire.publish(self.queue, b"1")
        self.wire.consume(self.queue)
        delivery = self.wire.next_delivery()
        self.wire.nack(delivery.tag)
        again = self.wire.next_delivery()
        self.assertEqual((False, True), (delivery.redelivered, again.redelivered))
        self.wire.ack(again.tag)

    def test_rabbitmqctl_reaches_the_private_broker(self):
        self.assertIn(self.queue, rabbitmqctl("list_queues", "name"))


class ConsumerTest(unittest.TestCase):
    def run_consumer(self, reply):
        path = f"/tmp/retryd-harness-{os.getpid()}.sock"
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        return self.enterContext(Consumer(reply, path))

    def test_the_reply_is_a_function_of_the_request(self):
        app = self.run_consumer(lambda request: Answer(503, {"Retry-After": "1"}, b"no") if request.seen == 0 else 200)
        self.assertEqual((503, b"no"), post(app.path, b"one", {"Retryd-Attempt": "1"}))
        self.assertEqual((200, b""), post(app.path, b"one"))
        self.assertEqual((503, b"no"), post(app.path, b"two"))
        self.assertEqual([b"one", b"one", b"two"], [request.body for request in app.requests])
        self.assertEqual(1, app.requests[0].attempt)

    def test_it_can_cut_hang_and_answer_raw_bytes(self):
        app = self.run_consumer(lambda request: {b"cut": CLOSE, b"hang": HANG, b"raw": Answer(raw=b"SSH-2.0\r\n", close=True)}[request.body])
        with self.assertRaises(OSError):
            post(app.path, b"cut")
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(app.path)
            client.sendall(b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nraw")
            self.assertEqual(b"SSH-2.0\r\n", client.recv(100))
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(app.path)
            client.sendall(b"POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nhang")
            client.settimeout(0.2)
            self.assertRaises(TimeoutError, client.recv, 1)

    def test_it_dies_and_comes_back_at_the_same_place(self):
        app = self.run_consumer(lambda request: 200)
        app.stop()
        self.assertRaises(OSError, post, app.path, b"x")
        app.start()
        self.assertEqual((200, b""), post(app.path, b"x"))


class ProxyTest(IntegrationCase):
    def test_it_passes_bytes_and_cuts_where_it_is_told(self):
        proxy = self.proxy()
        wire = self.entered(Wire(proxy.url))
        self.wire.declare(self.queue)
        wire.publish(self.queue, b"x")
        proxy.cut_after("up", 100)
        before = proxy.passed("up")
        with self.assertRaises((OSError, ConnectionClosed)):
            wire.publish(self.queue, bytes(1000))
        self.assertEqual(100, proxy.passed("up") - before)

    def test_a_stalled_direction_goes_on_when_resumed(self):
        proxy = self.proxy()
        wire = self.entered(Wire(proxy.url, timeout=0.3))
        proxy.stall("down")
        with self.assertRaises(TimeoutError):
            wire.declare(self.queue)
        proxy.resume("down")
        wire.socket.settimeout(5)
        wire.wait_for((50, 11))

    def test_a_half_open_connection_says_nothing(self):
        proxy = self.proxy()
        wire = self.entered(Wire(proxy.url, timeout=0.3))
        proxy.half_open()
        time.sleep(0.1)
        with self.assertRaises(TimeoutError):
            wire.declare(self.queue)
        proxy.cut()
        with self.assertRaises((OSError, ConnectionClosed)):
            wire.read_frame()

    def test_it_stalls_in_the_middle_of_a_frame(self):
        proxy = self.proxy()
        wire = self.entered(Wire(proxy.url, timeout=0.3))
        wire.declare(self.queue)
        before = proxy.passed("down")
        proxy.stall_after("down", 5)
        with self.assertRaises(TimeoutError):
            wire.declare(self.queue)
        self.assertEqual((5, 5, True), (proxy.passed("down") - before, len(wire.incoming), proxy.has_struck("down")))
        proxy.resume("down")
        wire.socket.settimeout(5)
        wire.wait_for((50, 11))

    def test_it_is_half_open_in_the_middle_of_a_frame(self):
        proxy = self.proxy()
        wire = self.entered(Wire(proxy.url, timeout=0.3))
        before = proxy.passed("up")
        proxy.half_open_after("up", 5)
        with self.assertRaises(TimeoutError):
            wire.declare(self.queue)
        self.assertEqual(5, proxy.passed("up") - before)
        wire.socket.close()
        eventually(lambda: proxy.breaks, what="the end of the client")
        ((begin, end, who),) = proxy.breaks
        self.assertEqual("half-open", who)
        self.assertGreater(end - begin, 0.2)

    def test_what_is_disarmed_does_not_strike(self):
        proxy = self.proxy()
        wire = self.entered(Wire(proxy.url))
        proxy.cut_after("up", 5)
        proxy.disarm()
        self.assertTrue(proxy.has_struck("up"))
        wire.declare(self.queue)

    def test_it_remembers_who_ended_a_connection(self):
        proxy = self.proxy()
        Wire(proxy.url).close()
        eventually(lambda: [who for _, _, who in proxy.breaks] in (["client"], ["broker"]), what="the end of a polite client")
        wire = self.entered(Wire(proxy.url))
        proxy.cut()
        eventually(lambda: [who for _, _, who in proxy.breaks][1:] == ["cut"], what="the end by a cut")
        wire = self.entered(Wire(proxy.url))
        wire.socket.close()
        eventually(lambda: [who for _, _, who in proxy.breaks][2:] == ["client"], what="the end by the client")

    def test_it_refuses_new_connections_on_demand(self):
        proxy = self.proxy()
        proxy.refuse()
        with self.assertRaises((OSError, ConnectionClosed)):
            Wire(proxy.url)
        proxy.accept()
        Wire(proxy.url).close()


if __name__ == "__main__":
    unittest.main()


class FailureTest(IntegrationCase):
    def test_a_failure_shows_what_the_daemons_and_the_queues_were_like(self):
        class Broken(IntegrationCase):
            def test_it(self):
                self.declare_work_queue()
                self.serve(lambda request: 200)
                with self.subTest("one"):
                    self.fail("in a part")
                self.fail("at the end")

        result = unittest.TestResult()
        unittest.TestSuite([Broken("test_it")]).run(result)
        told = [text for _, text in result.failures]
        self.assertEqual(len(told), 2, result.errors)
        for text, reason in zip(told, ("in a part", "at the end")):
            for part in (reason, "retryd, running", '"policy_hash"', "lines of its log", "messages_unacknowledged", "retryd.it.", "in test_it"):
                self.assertIn(part, text)
