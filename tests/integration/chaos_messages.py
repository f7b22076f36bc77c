"""The numbered messages of the chaos: what each looks like, what its consumer does with it, and where it must end.

All of it follows from the number, so that a daemon, a consumer and a broker that forget everything still agree.
"""

import random

from amqp_codec import array, decode_properties, encode_properties, number as integer, table, text

POSTS, CALLS = "chaos.posts", "chaos.calls"  # consumed over HTTP, and over a stream
TIMEOUT = 5  # the policy's deliver.timeout in seconds
LIMIT = 5  # attempts that a message may have: 1 + quick.tries + delays of the policy
STAY = 2  # attempts of one stay at most: 1 + quick.tries
EVERY = 380  # so rare are the messages that take long; 19 × 20, so that they come to both queues

BY_BROKER = (b"x-delivery-count", b"x-death", b"x-first-death-exchange", b"x-first-death-queue", b"x-first-death-reason")


def queue_of(number):
    return CALLS if number // 20 % 2 else POSTS


def fate(number):
    """Where message `number` must end, whatever happens on the way."""
    return {16: "dropped", 17: "dlq", 18: "parked", 19: "parked"}.get(number % 20, "succeeded")


def act(number, attempt):
    """What the consumer answers, and after how many seconds."""
    answer = {16: "drop", 17: "permanent", 18: "transient", 19: "transient"}.get(number % 20)
    if answer:
        return answer, 0
    if number % 20 in (12, 13, 14) and attempt < 3:
        return "transient", 0
    if number % 20 == 15:
        return "throttled once", 0
    if attempt == 1 and number % EVERY == 11:
        return "success", TIMEOUT + 3
    if attempt == 1 and number % EVERY == 31:
        return "success", TIMEOUT - 2  # over the broker's ack timeout, when that is short
    return "success", 0.3 if number % 20 == 11 else 0


def message_id(number):
    """Two of three have one."""
    return f"m-{number}" if number % 3 else None


# --- what it looks like


def body(number):
    size = 150_000 if number % 97 == 0 else (0, 100, 1000, 4000)[number % 4]  # the largest take several frames
    return b"%d:" % number + random.Random(number).randbytes(size)


def number_of(data):
    return int(data.split(b":", 1)[0])


def headers(number):
    return [integer("n", number), text("said", f"grüße, {number}"), table("nested", [text("inner", "1"), integer("small", -3, "b")]),
            array("list", [integer("", number), text("", "two")])]


def properties(number):
    return encode_properties(
        content_type="application/x-chaos", delivery_mode=2, correlation_id=f"c-{number}", type="chaos", timestamp=1_700_000_000 + number,
        message_id=message_id(number), headers=headers(number))


# --- whether it is still what it was; each says what is not, or nothing


def differences(expected, seen):
    return ", ".join(f"{name} is {seen.get(name)!r}" for name, value in expected.items() if seen.get(name) != value)


def changed_body(number, data):
    return "" if data == body(number) else f"the body has {len(data)} bytes, none of them to be trusted"


def changed_over_http(number, data, lines):
    """`lines`: the request's headers by lower-case name."""
    expected = {
        "content-type": "application/x-chaos", "amqp-correlation-id": f"c-{number}", "amqp-type": "chaos",
        "amqp-timestamp": str(1_700_000_000 + number), "amqp-message-id": message_id(number), "amqp-header-n": str(number),
        "amqp-header-said": f"gr%C3%BC%C3%9Fe, {number}",
    }
    return changed_body(number, data) or differences(expected, lines)


def changed_over_stream(number, message):
    """`message` as the Python client gives it."""
    headers_seen = {name: value for name, value in message.headers.items() if name.encode() not in BY_BROKER}
    seen = {**message.properties, "headers": headers_seen}
    expected = {
        "content_type": "application/x-chaos", "correlation_id": f"c-{number}", "type": "chaos", "delivery_mode": 2,
        "timestamp": 1_700_000_000 + number, "message_id": message_id(number),
        "headers": {"n": number, "said": f"grüße, {number}", "nested": {"inner": "1", "small": -3}, "list": [number, "two"]},
    }
    return changed_body(number, message.body) or differences(expected, seen)


def changed_in_lot(number, message):
    """Byte for byte; only what retryd and the broker write down of it may stand beside."""
    expected, seen = decode_properties(properties(number)), decode_properties(message.properties)
    seen["headers"] = sorted(entry for entry in seen["headers"] if not entry[0].startswith(b"retryd-") and entry[0] not in BY_BROKER)
    expected["headers"] = sorted(expected["headers"])
    more = seen.keys() - expected.keys()
    return changed_body(number, message.body) or differences(expected, seen) or (f"it has got {more}" if more else "")
