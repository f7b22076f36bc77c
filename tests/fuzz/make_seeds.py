#!/usr/bin/python3
"""Writes the inputs that the fuzz targets start from into corpus/TARGET/: messages, replies, frames and files that are well
formed, and the ones that went wrong in the field. What the fuzzer has found lies beside them under names of its own.

To be run again when a target reads its input in another way.
"""

import json
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration"))

import amqp_codec as amqp  # noqa: E402

NAMES_THAT_BREAK = [b"x", b"", b"a b", b"a:b", b"a\r\nX-Admin: 1", b"Host", b"Content-Length", b"Transfer-Encoding",
                    b"Connection", b"Expect", "größe".encode(), b"traceparent", b"tracestate", b"cloudEvents:type",
                    b"cloudEvents_id", b"retryd-attempts", b"CC", b"x-death", b"%41", b"X", b"n" * 255]


def seed(target, name, data):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())


def text(value):
    """As fuzz::Input::text reads it."""
    data = amqp.as_bytes(value)
    return bytes([len(data)]) + data


# --- messages


def every_kind():
    return [amqp.boolean("true", 1), amqp.number("i8", -5, "b"), amqp.number("u8", 250, "B"), amqp.number("i16", -300, "s"),
            amqp.number("u16", 65000, "u"), amqp.number("i32", -70000, "I"), amqp.number("u32", 4000000000, "i"),
            amqp.number("i64", -(1 << 40)), (b"u64", "L", b"\xff" * 8), amqp.number("f32", 1.5, "f"),
            amqp.number("f64", 0.1, "d"), (b"nan", "d", bytes.fromhex("7ff8000000000000")),
            (b"inf", "f", bytes.fromhex("ff800000")), (b"decimal", "D", b"\x02" + struct.pack(">i", -12345)),
            (b"scale", "D", b"\xff" + struct.pack(">i", -(1 << 31))), amqp.number("time", 1700000000, "T"), (b"void", "V", b""),
            amqp.text("text", "plain"), amqp.text("not-utf8", b"\xff\xfe bad"), amqp.text("nul", b"a\0b"),
            amqp.text("line", b"a\r\nX-Admin: 1"), (b"bytes", "x", amqp.long_string(b"\0\xff")),
            amqp.array("array", [amqp.boolean("", 1), amqp.text("", "in")]), amqp.table("empty", []),
            amqp.table("table", [amqp.text("inner", "value")]), amqp.table("notation", [amqp.text("$bytes", "AA==")]),
            amqp.number("twice", 1), amqp.number("twice", 2)]


def nested(levels):
    entries = [amqp.text("bottom", "reached")]
    for _ in range(levels):
        entries = [amqp.table("t", entries)]
    return entries


def record_headers():
    history = amqp.array("retryd-history", [amqp.table("", [amqp.number("at-ms", 1700000000000), amqp.text("outcome", "transient"),
                                                            amqp.text("type", "DbTimeout"), amqp.number("delay-ms", 1000)])])
    original = amqp.table("retryd-original", [amqp.text("user-id", "alice"), amqp.text("expiration", "60000"),
                                              amqp.number("delivery-mode", 1), amqp.number("expires-ms", 1700000060000),
                                              amqp.boolean("headers", 1), amqp.text("CC", "other"), amqp.text("retryd-x", "foreign")])
    return [amqp.number("retryd-v", 1), amqp.text("retryd-id", "id-1"), amqp.text("retryd-queue", "orders"),
            amqp.number("retryd-attempts", 3), amqp.number("retryd-retries", 2), amqp.number("retryd-lost", 1),
            amqp.number("retryd-suspect", 1), amqp.number("retryd-first-failed-ms", 1699999990000),
            amqp.number("retryd-last-failed-ms", 1699999999000), amqp.number("retryd-not-before-ms", 1700000009000),
            amqp.number("retryd-held-ms", 15000), amqp.text("retryd-exchange", "ex"), amqp.text("retryd-routing-key", "orange"),
            amqp.text("retryd-error-type", "DbTimeout"), history, original, amqp.text("mine", "kept")]


def hostile_record():
    return [amqp.number("retryd-attempts", -1), amqp.number("retryd-retries", (1 << 63) - 1), amqp.text("retryd-lost", "7"),
            amqp.number("retryd-suspect", 1 << 40), amqp.number("retryd-held-ms", -(1 << 63)),
            amqp.number("retryd-not-before-ms", (1 << 63) - 1), amqp.text("retryd-id", "x" * 300),
            amqp.text("retryd-original", "no table"), amqp.table("retryd-history", []), amqp.number("x-delivery-count", 1 << 50)]


def full_properties(headers):
    return amqp.encode_properties(content_type="application/json", content_encoding="gzip", headers=headers, delivery_mode=1,
                                  priority=9, correlation_id="c-1", reply_to="amq.rabbitmq.reply-to.g1", expiration="60000",
                                  message_id="id-1", timestamp=1700000000, type="created", user_id="alice", app_id="app",
                                  cluster_id="")


def raw(properties):
    """As fuzz::property_bytes reads bytes that are taken as they are."""
    return b"\0\0" + properties


def built(headers):
    """As fuzz::property_bytes reads properties that it shall make."""
    parts = [text("text/plain\r\nX: 1"), text(""), b"\x02", b"\xff", text("c"), text(" r "), text("60000"), text("id\r\n\r\nGET / HTTP/1.1"),
             b"\xff" * 8, text("t"), text("\x7f"), text("a%20"), text("cl")]
    return b"\x3f\xff" + b"".join(parts) + b"".join(text(name) + letter.encode() + text(value) for name, letter, value in headers)


MESSAGES = {
    "every-kind": raw(full_properties(every_kind())),
    "nested-100": raw(full_properties(nested(100))),
    "names-that-break": built([(name, "S", b"a\r\nX-Admin: 1") for name in NAMES_THAT_BREAK]),
    "too-many-headers": built([(b"h%03d" % i, "S", b"v" * 200) for i in range(100)]),
    "wrong-sizes": built([(b"n", "l", b"12"), (b"t", "F", b"\x05ab"), (b"a", "A", b"S\0\0\0\xff"), (b"u", "z", b"")]),
    "no-properties": raw(b"\0\0"),
    "unreadable": raw(b"\xff\xff\x01"),
    "unreadable-table": raw(amqp.encode_properties(message_id="m")[:0] + b"\x20\0\0\0\0\x03\x01aZ"),
    "our-record": raw(full_properties(record_headers())),
    "hostile-record": raw(full_properties(hostile_record())),
}


def messages():
    delivery = text("ex\r\n") + text("orange") + text("") + text("Db\r\nTimeout: \x00") + struct.pack(">HH", 2, 7) + b"\1\1" + \
        struct.pack(">Q", 2 * 1700000000123) + struct.pack(">Q", 1700000020000)[2:] + text("body")
    entry = struct.pack(">HHI", 4, 3, 15000) + b"\1\2\1" + struct.pack(">I", 9000) + b"\1\1" + text("DbTimeout") + \
        text("no answer in 30 s\nat db.c:17 \xe2\x80\xae") + b"\x05" + text("payments") + text("1.2") + struct.pack(">I", 4000)
    for name, message in MESSAGES.items():
        seed("properties", name, message)
        seed("http_request", name, text("orders") + delivery + message)
        seed("stream_message", name, text("orders") + delivery + message)
        if name == "too-many-headers":
            continue
        seed("record", name + "-lane", b"\1" + entry + message)
        seed("record", name + "-work", b"\0" + entry + message)
    for name, headers in {"every-kind": every_kind(), "nested-100": nested(100), "our-record": record_headers()}.items():
        seed("headers", name, amqp.encode_table(headers)[4:])
    rule = text("*imeout") + text("x-provider") + struct.pack(">H", 503) + text("120") + text("DbTimeout") + b"\x01" * 5 + b"a body\n"
    seed("classify", "glob", rule + raw(full_properties([amqp.text("x-provider", "fx-timeout")])))
    seed("classify", "expression", rule.replace(text("*imeout"), text("re:(?i).*time(out)+")) + raw(b"\0\0"))
    seed("classify", "stars", rule.replace(text("*imeout"), text("*a*a*a*b")).replace(text("DbTimeout"), text("a" * 100)))
    seed("classify", "date", rule.replace(text("120"), text("Sun, 06 Nov 9999 08:49:37 GMT")))


# --- replies and dates

REPLIES = {
    "success": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "throttled": b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 9999999999\r\nContent-Length: 0\r\n\r\n",
    "throttled-until": b"HTTP/1.1 429 x\r\nRetry-After: Sun, 06 Nov 2300 08:49:37 GMT\r\nContent-Length: 0\r\n\r\n",
    "stated": b"HTTP/1.1 422 x\r\nRetryd-Outcome: transient\r\nRetryd-Error-Type: Db\r\nRetryd-Error-Message: no\r\n"
              b"Retryd-Dependency: payments\r\nRetryd-App-Version: 1\r\nContent-Length: 0\r\n\r\n",
    "problem": b'HTTP/1.1 400 x\r\nContent-Type: application/problem+json\r\nContent-Length: 50\r\n\r\n'
               b'{"type":"Bad","title":"t","detail":"\\u0000","x":[]}',
    "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nTrailer: x\r\n\r\n",
    "interim": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n",
    "until-the-end": b"HTTP/1.0 500 x\r\n\r\n<html>\r\nno length",
    "error-page": b"HTTP/1.1 405 " + b"x" * 300 + b"\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<p>\0\xff\r\n\x1b]",
    "no-http": b"220 smtp.example ESMTP\r\n",
    "two": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 500 x\r\nContent-Length: 0\r\n\r\n",
    "two-lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "length-and-chunked": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "too-large": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nab",
    "switching": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    "no-content": b"HTTP/1.1 204 No Content\r\n\r\n",
    "fold": b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",
}


def replies():
    for name, reply in REPLIES.items():
        seed("http_reply", name, bytes(range(3, 11)) + struct.pack(">H", 64) + reply)
    for name, date in {"fixdate": "Sun, 06 Nov 1994 08:49:37 GMT", "rfc850": "Sunday, 06-Nov-94 08:49:37 GMT",
                       "asctime": "Sun Nov  6 08:49:37 1994", "2300": "Sun, 06 Nov 2300 08:49:37 GMT",
                       "leap": "Thu, 29 Feb 9999 23:59:60 GMT", "garbage": "abc"}.items():
        seed("http_date", name, date)


# --- the stream


def frames(*headers):
    out = b""
    for header in headers:
        data = header if isinstance(header, bytes) else json.dumps(header).encode()
        out += struct.pack(">II", len(data), 0) + data
    return out


def streams():
    hello = {"op": "hello", "protocol": 1, "credit": 64, "name": "worker-1"}
    talks = {
        "work": frames(hello, {"op": "reply", "id": 1, "outcome": "success", "credit": 1}, {"op": "credit", "n": 5},
                       {"op": "extend", "id": 2, "ms": 30000}, {"op": "pong"},
                       {"op": "reply", "id": 2, "outcome": "transient", "error": {"type": "Db", "message": "no"},
                        "retry_after_ms": 5000, "dependency": "payments"}, {"op": "leave"}, {"op": "reply", "id": 3}),
        "largest-numbers": frames(hello, b'{"op":"extend","id":1,"ms":9223372036854775807}', b'{"op":"credit","n":4294967296}',
                                  b'{"op":"reply","id":1,"outcome":"throttled","retry_after_ms":9223372036854775807}',
                                  b'{"op":"reply","id":1e0,"retry_after_ms":1e300,"credit":18446744073709551616}'),
        "two-hellos": frames(hello, hello),
        "reply-first": frames({"op": "reply", "id": 1}),
        "deep": frames(hello, b'{"op":' + b"[" * 40 + b"]" * 40 + b"}"),
        "no-json": frames(b"{", b"\xff"),
        "length-of-4-gib": b"\xff\xff\xff\xff\0\0\0\0",
        "length-of-2-gib": b"\x80\0\0\0\0\0\0\0{}",
        "length-of-nothing": b"\0\0\0\0\0\0\0\0" + frames(hello),
        "a-body": b"\0\0\0\x02\0\0\0\x01{}x",
    }
    for name, talk in talks.items():
        seed("stream_session", name, bytes(range(1, 9)) + b"\0\0\0\0\0\0\0\x04" + talk)


# --- files and addresses

POLICY = """broker: {uri: "amqp://app:${env:SECRET}@127.0.0.1:5672/%2f", heartbeat: 10s}
admin: {listen: ["127.0.0.1:9123"], token_file: "/secret"}
defaults:
  deliver: {http: "unix:/run/app/app.sock", path: "/q/{queue}", headers: {X-Key: "${file:/secret}"}, ready: {path: /healthz}}
  classify: [{status: [5xx, 404], error_type: ["*Error", "re:^Db"], header: {x: "a*"}, as: throttled, delay: 5m}]
  retry: {quick: {tries: 2, delay: 200ms}, delays: {base: 1s, factor: 2, cap: 60s, steps: 6}, jitter: full, spread: 4}
groups: {partner: {queues: [fx], hold: {delays: [1m, 5m], max: 1h}, to: {permanent: {queue: elsewhere}}}}
queues: {orders: "http://127.0.0.1:8080/orders", fx: {limits: {age: 1d}, history: 3}}
"""


def files():
    for path in (HERE.parents[1] / "config").glob("*.yaml"):
        seed("policy", path.stem, path.read_bytes())
    seed("policy", "secrets", POLICY)
    seed("policy", "wrong", "broker: 5\nqueues: {a: {deliver: {timeout: 010, \"x\\n\": no}}, a: 1, \"b\\u202e\": {retry: {max: -1}}}\n")
    seed("policy", "secret-in-the-wrong-place", 'broker: {uri: "amqp://a:${env:SECRET}/@b@c", heartbeat: "${env:SECRET}"}\nqueues: {o: "${file:/secret}"}\n')
    seed("policy", "deep", "queues: " + "[" * 400 + "\n")
    seed("policy", "alias", "a: &a [x, x]\nb: &b [*a, *a]\nqueues: *b\n")
    uris = {"usual": "@127.0.0.1:5672/", "ipv6": "%40@[::1]:5671/%2f", "bare": "@h", "no-end": "@[::1", "port": "@h:99999/",
            "whole": "amqp://guest:guest@127.0.0.1:5672/vh", "tls": "amqps://a:b@c/d", "escape": "%zz@h", "nul": "%00@h/%00"}
    for name, uri in uris.items():
        seed("broker_uri", name, uri)


def requests():
    seed("admin", "status", b"\x00orders\nGET\n/status\nlocalhost\n\n\n")
    seed("admin", "drain", b"\x14orders\nPOST\n/drain\n127.0.0.1:9123\napplication/json\nBearer Zq7token\n")
    seed("admin", "drain-without", b"\x14orders\nPOST\n/drain\n127.0.0.1\napplication/json; charset=utf-8\nBearer wrong\n")
    seed("admin", "why-not", b"\x00o\x01r\nGET\n/why-not?queue=o%01r\n[::1]:80\n\n\n")
    seed("admin", "why", b"\x02\xff\nGET\n/why?x=1&id=%e2%80%ae%\nlocalhost\n\n\n")
    seed("admin", "encoded-dots", b"\x00o\nGET\n/ui/%2e%2e/%2e%2e/etc/passwd\nlocalhost\n\n\n")
    seed("admin", "metrics", b"\x02o\nHEAD\n/metrics\nexample.org\n\n\n")
    asked = {"status": "GET /status HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer Zq7token\r\n\r\n",
             "drain": "POST /drain HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer Zq7token\r\n"
                      "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
             "two": "GET /livez HTTP/1.1\r\nHost: x\r\n\r\nHEAD /readyz HTTP/1.1\r\nHost: x\r\n\r\n",
             "chunked": "POST /drain HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
             "smuggled": "GET /livez HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nPOST /drain HTTP/1.1\r\n\r\n",
             "old": "GET /livez HTTP/1.0\r\n\r\n", "dots": "GET /ui/..%2f HTTP/1.1\r\nHost: x\r\n\r\n", "no-http": "\x16\x03\x01\x02\0",
             "long-head": "GET /livez HTTP/1.1\r\nX: " + "x" * 9000 + "\r\n\r\n",
             "long-body": "POST /drain HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n"}
    for name, words in asked.items():
        seed("admin_server", name, bytes(range(250, 258 - 2)) + b"\0\0" + words.encode())
    hostile = ['orders"} 1\nretryd_up{x="', "a\\", "\u202e\u2066evil\u2069", '\n{"level":"info","event":"parked"}', b"\xff\x00\x1b[31m",
               "\u0085\u2028\u2029\u200f\ufeff"]
    for i, name in enumerate(hostile):
        seed("outputs", f"hostile-{i}", text(name) + text(hostile[i - 1]) + text(name))


# --- the broker


def frame(kind, channel, payload):
    return struct.pack(">BHI", kind, channel, len(payload)) + payload + b"\xce"


def method(channel, class_id, method_id, arguments=b""):
    return frame(1, channel, struct.pack(">HH", class_id, method_id) + arguments)


def content(channel, properties, *bodies, size=None):
    whole = sum(map(len, bodies)) if size is None else size
    header = struct.pack(">HHQ", 60, 0, whole) + properties
    return frame(2, channel, header) + b"".join(frame(3, channel, body) for body in bodies)


def deliver(channel, tag=1):
    return method(channel, 60, 60, text("tag") + struct.pack(">Q", tag) + b"\1" + text("ex") + text("orange"))


def returned(channel):
    return method(channel, 60, 50, struct.pack(">H", 312) + text("NO_ROUTE") + text("") + text("retryd.orders.delay.1000ms"))


CONVERSATIONS = {
    "delivery": deliver(1) + content(1, full_properties(every_kind()), b"two ", b"frames"),
    "interleaved": deliver(1) + deliver(2) + content(2, b"\0\0", b"b") + content(1, b"\0\0", b"a"),
    "empty-body": deliver(1) + content(1, b"\0\0"),
    "huge-claim": deliver(1) + content(1, b"\0\0", b"x", size=1 << 62),
    "out-of-order": deliver(1) + deliver(1) + content(1, b"\0\0", b"x", size=0) + frame(3, 2, b"x") + frame(2, 3, b""),
    "return": returned(1) + content(1, full_properties(record_headers()), b"gone") + method(1, 60, 80, struct.pack(">QB", 1, 1)),
    "nack": method(1, 60, 120, struct.pack(">QB", (1 << 64) - 1, 3)),
    "methods": method(1, 20, 11, amqp.long_string("")) + method(1, 60, 11) + method(1, 60, 21, text("tag")) + method(1, 85, 11) +
               method(2, 50, 11, text("orders") + struct.pack(">II", 7, 0)) + method(1, 60, 30, text("tag") + b"\1") +
               method(1, 60, 31, text("tag")) + method(0, 10, 60, text("low on memory")) + method(0, 10, 61),
    "channel-closed": deliver(1) + method(1, 20, 40, struct.pack(">H", 406) + text("PRECONDITION_FAILED") + struct.pack(">HH", 60, 80)),
    "connection-closed": method(0, 10, 50, struct.pack(">H", 320) + text("CONNECTION_FORCED") + struct.pack(">HH", 0, 0)),
    "heartbeat": frame(8, 0, b""),
    "nested": deliver(1) + content(1, amqp.encode_properties(headers=nested(500)), b"x"),
    "no-frame-end": deliver(1)[:-1] + b"\0",
    "length-of-4-gib": b"\1\0\1\xff\xff\xff\xff",
}


def conversations():
    for name, talk in CONVERSATIONS.items():
        seed("amqp_frames", name, talk)
        seed("amqp_link", name + "-consume", b"\0" + talk)
        seed("amqp_link", name + "-publish", b"\1" + talk)
    seed("amqp_link", "tags-that-jump", b"\0" + b"".join(deliver(2, tag) + content(2, b"\0\0", b"x") for tag in (1, 1 << 40, 2)))
    seed("amqp_link", "consume", b"\0" + method(2, 60, 21, text("retryd-2")) + deliver(2, 1) + content(2, b"\0\0", b"x") +
         deliver(2, 2) + content(2, b"\0\0") + method(2, 60, 30, text("retryd-2") + b"\1") +
         method(2, 20, 40, struct.pack(">H", 404) + text("NOT_FOUND") + struct.pack(">HH", 60, 80)))


if __name__ == "__main__":
    messages()
    replies()
    streams()
    files()
    requests()
    conversations()
