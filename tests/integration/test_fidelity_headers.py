"""The header table that comes back is the one that left: every type, every byte."""

import struct

from amqp_codec import array, boolean, encode_properties, number, table, text
from fidelity_case import FidelityCase, always_fails, failing, original_headers, shown


def raw(name, letter, value):
    return name.encode(), letter, value


def sized(name, letter, value):
    return name.encode(), letter, struct.pack(">I", len(value)) + value


def nested(levels):
    """A table in a table in a table …"""
    value = number("bottom", 1)
    for _ in range(levels):
        value = table("t", [value])
    return value


INTEGERS = [
    number("i8", -5, "b"), number("u8", 250, "B"), number("i16", -300, "s"), number("u16", 65000, "u"),
    number("i32", -70000, "I"), number("u32", 4000000000, "i"), number("i64", -(2**40), "l"),
]
KINDS = [
    boolean("yes", True), boolean("no", False), number("f32", 1.5, "f"), number("f64", 0.1, "d"),
    raw("decimal", "D", struct.pack(">Bi", 2, 12345)), raw("negative", "D", struct.pack(">Bi", 2, -12345)),
    number("when", 1700000000, "T"), raw("nothing", "V", b""), sized("bytes", "x", b"\0\xff\x80"), text("text", "väl"),
    text("no text", ""), array("empty array", []), table("empty table", []), number("dup", 1), number("dup", 2),
    number("", 7), text("n" * 255, "the longest name"),
]


class Headers(FidelityCase):
    def assert_survives(self, headers, within=15):
        copy, requests, _ = self.park(encode_properties(headers=headers, delivery_mode=2), within=within)
        self.assertEqual(original_headers(copy), sorted(headers))
        for request in requests[1:]:
            self.assertEqual(shown(request), shown(requests[0]))
        return copy, requests

    def test_integers_of_every_width_keep_their_sign_and_their_letter(self):
        _, requests = self.assert_survives(INTEGERS)
        for name, value in (("i8", "-5"), ("u8", "250"), ("i16", "-300"), ("u16", "65000"), ("i32", "-70000"),
                            ("u32", "4000000000"), ("i64", str(-(2**40)))):
            self.assertEqual(requests[2].headers[f"amqp-header-{name}"], value)

    def test_integers_at_their_limits_keep_their_sign_and_their_letter(self):
        limits = [(letter, value) for letter, bits in (("b", 8), ("s", 16), ("I", 32), ("l", 64))
                  for value in (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, 0, -1)]
        limits += [(letter, value) for letter, bits in (("B", 8), ("u", 16), ("i", 32)) for value in (0, 2**bits - 1)]
        self.assert_survives([number(f"n{at}", value, letter) for at, (letter, value) in enumerate(limits)])

    def test_every_kind_of_value_survives_with_its_letter_and_bytes(self):
        _, requests = self.assert_survives(KINDS)
        for name, value in (("yes", "true"), ("f32", "1.5"), ("f64", "0.1"), ("decimal", "123.45"), ("negative", "-123.45"),
                            ("when", "1700000000"), ("nothing", "null"), ("bytes", "%00%FF%80"), ("text", "v%C3%A4l"),
                            ("empty%20array", "[]"), ("empty%20table", "{}")):
            self.assertEqual(requests[2].headers[f"amqp-header-{name}"], value)

    def test_every_kind_of_value_survives_inside_tables_and_arrays(self):
        kinds = KINDS + INTEGERS
        self.assert_survives([table("table", kinds), array("array", kinds), table("both", [array("a", [table("", kinds)])])])

    def test_tables_nested_deeper_than_anybody_reads_survive(self):
        self.assert_survives([nested(200), text("beside", "it")])

    def test_thousands_of_levels_park_or_survive_and_hurt_nobody(self):
        self.assert_survives([nested(9000)], within=60)  # each hop costs the broker about a second of CPU

    def test_an_unsigned_64_bit_number_keeps_its_bits(self):
        copy, _, _ = self.park(encode_properties(headers=[raw("five", "L", struct.pack(">Q", 5)), raw("max", "L", b"\xff" * 8)]))
        bits = {name: value for name, letter, value in original_headers(copy) if letter in "Ll"}  # the hop makes L an l
        self.assertEqual(bits, {b"five": struct.pack(">Q", 5), b"max": b"\xff" * 8})

    def test_text_that_is_not_utf_8_keeps_its_bytes_and_is_shown_escaped(self):
        headers = [text("raw", b"\xff\xfe bad"), text("nul", b"a\0b"), text("lines", b"a\r\nX-Admin: 1"), text(b"k\xff\0ey", b"v")]
        copy, requests, daemon = self.park(encode_properties(
            headers=headers, message_id=b"\xfe\r\nid", type=b"\xff", content_type=b"text/\xff", correlation_id=b"a\0b"))
        self.assertEqual(original_headers(copy), sorted(headers))
        for request in requests:
            self.assertEqual(request.headers["amqp-header-raw"], "%FF%FE bad")
            self.assertEqual(request.headers["amqp-header-nul"], "a%00b")
            self.assertEqual(request.headers["amqp-header-lines"], "a%0D%0AX-Admin: 1")
            self.assertEqual(request.headers["amqp-header-k%ff%00ey"], "v")
            self.assertEqual(request.headers["idempotency-key"], "%FE%0D%0Aid")
            self.assertEqual(request.headers["amqp-type"], "%FF")
            self.assertNotIn("content-type", request.headers)
            self.assertNotIn("x-admin", request.headers)
        self.assertIn("parked", [event.get("event") or event.get("msg") for event in self.events(daemon)])

    def test_a_message_of_binary_header_names_and_values_is_parked_intact(self):
        headers = [text(b"\x80\x81", b"\xfe\xff\0"), sized("bytes", "x", bytes(range(256))), array("a", [text("", b"\xc3\x28")])]
        body = bytes(range(256)) * 7
        copy, requests, _ = self.park(encode_properties(headers=headers, message_id=b"\xc0\xaf"), body)
        self.assertEqual(original_headers(copy), sorted(headers))
        self.assertEqual([request.body for request in requests], [body] * 3)
        self.assertEqual(copy.value_of("message_id"), b"\xc0\xaf")

    def test_headers_called_like_those_of_http_change_nothing_of_the_request(self):
        names = ["Host", "Content-Length", "Transfer-Encoding", "Connection", "Expect", "", "a b", "a:b", "a\r\nX: 1"]
        headers = [text(name, "chunked") for name in names]
        copy, requests, _ = self.park(encode_properties(headers=headers))
        self.assertEqual(original_headers(copy), sorted(headers))
        self.assertEqual(requests[0].headers["content-length"], "4")
        self.assertEqual(requests[2].headers["amqp-header-content-length"], "chunked")
        self.assertNotIn("transfer-encoding", requests[0].headers)
        self.assertNotIn("x", requests[0].headers)

    def test_a_message_without_a_header_table_is_counted_like_any_other(self):
        copy, requests, _ = self.park(encode_properties())
        self.assertEqual(original_headers(copy), None)
        self.assertEqual((copy.headers["retryd-attempts"], copy.headers["retryd-reason"]), (3, "exhausted"))
        self.assertEqual(shown(requests[2]), {})

    def test_an_empty_header_table_stays_one(self):
        copy, _, _ = self.park(encode_properties(headers=[]))
        self.assertEqual(original_headers(copy), [])

    def test_headers_named_like_our_own_are_the_messages_and_believed_by_nobody(self):
        headers = [number("retryd-attempts", 77), number("retryd-retries", 77), text("retryd-id", "forged"), text("retryd-reason", "x"),
                   table("retryd-original", [text("user-id", "mallory")]), array("retryd-history", [number("", 1)])]
        copy, requests, _ = self.park(encode_properties(headers=headers, message_id="own"))
        self.assertEqual(original_headers(copy), sorted(headers))
        self.assertEqual(copy.headers["retryd-attempts"], 3)
        for request in requests:
            self.assertEqual(request.headers["amqp-header-retryd-attempts"], "77")
            self.assertEqual(request.headers["idempotency-key"], "own")

    def test_a_message_that_was_dead_lettered_elsewhere_is_retried_and_parked(self):
        source = f"source.{self.queue}"
        self.wire.declare(source, [text("x-dead-letter-exchange", ""), text("x-dead-letter-routing-key", self.queue)])
        self.declare_work_queue()
        self.wire.publish(source, b"dead", encode_properties(headers=[text("own", "yes")], delivery_mode=2))
        self.wire.nack(self.wire.get(source, ack=False).tag, requeue=False)
        self.wait_for_depth(self.queue, 1)
        [arrived] = self.wire.peek_all(self.queue)
        self.assertIn("x-death", arrived.headers)
        app = self.consumer(always_fails)
        daemon = self.daemon(app)
        copy = self.wait_for_lot("parked")
        self.assertEqual(original_headers(copy), sorted(arrived.table))
        self.assertEqual([request.attempt for request in app.requests], [1, 2, 3])
        for request in app.requests:
            self.assertEqual(shown(request), shown(app.requests[0]))
            self.assertIn(source, request.headers["amqp-header-x-death"])
        self.assert_quiet_links(daemon)

    def test_a_long_death_history_is_carried_beside_the_brokers_own(self):
        death = [text("reason", "expired"), number("count", 3), text("queue", "q"), number("time", 1700000000, "T"),
                 array("routing-keys", [text("", "k")])]
        headers = [array("x-death", [table("", death)] * 700), text("x-first-death-reason", "expired"), text("x-last-death-queue", "q")]
        self.assert_survives(headers)

    def test_a_malformed_death_header_kills_no_delay_queue(self):
        junk = [
            array("x-death", [text("", "junk")]), text("x-death", "junk"), number("x-death", 1), table("x-death", [text("queue", "q")]),
            array("x-death", []), array("x-death", [number("", 1), table("", [])]), raw("x-death", "V", b""),
            array("x-death", [table("", [text("count", "many"), number("queue", 1), text("reason", "expired")])]),
            number("x-first-death-queue", 3), number("x-delivery-count", -1), text("x-delivery-count", "many"),
        ]
        self.declare_work_queue()
        app = self.consumer(failing(1))
        daemon = self.daemon(app)
        for at, header in enumerate(junk):
            self.wire.publish(self.queue, b"junk %d" % at, encode_properties(headers=[header]))
        self.wire.publish(self.queue, b"clean")
        self.wait_for_requests(app, 2 * len(junk) + 2)
        self.assertEqual({request.attempt for request in app.requests if request.seen}, {2})
        self.wait_until_settled(daemon)
        self.assert_quiet_links(daemon)
