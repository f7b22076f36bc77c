"""The properties that come back are those that left, present or absent; what a copy cannot carry is set aside and given back."""

import contextlib
import os
import urllib.parse

from amqp_codec import encode_properties, plain, text
from amqp_wire import Wire
from consumer import Answer
from fidelity_case import FidelityCase, always_fails, failing, noted_in, original_headers, other_properties, shown
from integration_case import rabbitmqctl

ALL = {
    "content_type": "text/plain", "content_encoding": "gzip", "delivery_mode": 2, "priority": 7, "correlation_id": "c-1",
    "reply_to": "answers", "expiration": "600000", "message_id": "m-1", "timestamp": 1700000000, "type": "order.made",
    "user_id": "guest", "app_id": "shop", "cluster_id": "kluster",
}
EMPTY = {name: "" for name in ("content_type", "content_encoding", "correlation_id", "reply_to", "message_id", "type", "app_id",
                               "cluster_id")}
SHOWN = {"amqp-message-id": "m-1", "amqp-correlation-id": "c-1", "amqp-reply-to": "answers", "amqp-type": "order.made",
         "amqp-app-id": "shop", "amqp-user-id": "guest", "amqp-timestamp": "1700000000", "amqp-priority": "7",
         "amqp-expiration": "600000"}


def noted(copy, name):
    return plain(*noted_in(copy)[name]) if name in noted_in(copy) else None


def original_properties(copy):
    """All but the header table, as they were before retryd."""
    values = other_properties(copy.properties)
    del values["delivery_mode"]
    for name in ("user_id", "expiration", "reply_to", "delivery_mode"):
        if (value := noted(copy, name.replace("_", "-"))) is not None:
            values[name] = value.encode() if isinstance(value, str) else value
    return values


def as_got(properties):
    return other_properties(encode_properties(**properties))


class Properties(FidelityCase):
    def test_all_properties_are_there_on_every_attempt(self):
        self.wire.declare(self.queue, [(b"x-max-priority", "b", b"\x0a")])
        app = self.consumer(always_fails)
        self.daemon(app)
        self.wire.publish(self.queue, b"body", encode_properties(headers=[text("own", "1")], **ALL))
        copy = self.wait_for_lot("parked")
        self.assertEqual(len(app.requests), 3)
        for request in app.requests:
            self.assertEqual(shown(request), {**SHOWN, "amqp-header-own": "1"})
            self.assertEqual((request.headers["content-type"], request.headers["content-encoding"]), ("text/plain", "gzip"))
        self.assertEqual(original_properties(copy), as_got(ALL))

    def test_each_property_alone_comes_back_alone(self):
        self.declare_work_queue()
        app = self.consumer(always_fails)
        self.daemon(app)
        for name, value in ALL.items():
            self.wire.publish(self.queue, name.encode(), encode_properties(**{name: value}))
        copies = {}
        while len(copies) < len(ALL):
            copy = self.wait_for_lot("parked")
            copies[copy.body.decode()] = copy
        for name, value in ALL.items():
            with self.subTest(name):
                self.assertEqual(original_properties(copies[name]), as_got({name: value}))
                requests = [shown(request) for request in app.requests if request.body == name.encode()]
                self.assertEqual(requests, [requests[0]] * 3)

    def test_absent_properties_stay_absent(self):
        copy, requests, _ = self.park(encode_properties())
        self.assertEqual(original_properties(copy), {})
        self.assertEqual(shown(requests[2]), {})
        self.assertNotIn("content-type", requests[2].headers)

    def test_empty_properties_stay_empty_and_present(self):
        copy, requests, _ = self.park(encode_properties(priority=0, timestamp=0, **EMPTY))
        self.assertEqual(original_properties(copy), as_got({"priority": 0, "timestamp": 0, **EMPTY}))
        self.assertEqual(requests[2].headers["amqp-correlation-id"], "")
        self.assertEqual(shown(requests[2]), shown(requests[0]))

    def test_properties_of_the_longest_kind_stay_whole(self):
        longest = {name: "x" * 255 for name in EMPTY}
        copy, requests, _ = self.park(encode_properties(timestamp=2**64 - 1, priority=255, **longest))
        self.assertEqual(original_properties(copy), as_got({"timestamp": 2**64 - 1, "priority": 255, **longest}))
        self.assertEqual(requests[2].headers["idempotency-key"], "x" * 255)

    @contextlib.contextmanager
    def user(self, name, tags=()):
        """A user of the broker, for the time; its URI."""
        name = f"{name}-{self.token}"
        rabbitmqctl("add_user", name, "secret")
        try:
            rabbitmqctl("set_user_tags", name, *tags)
            rabbitmqctl("set_permissions", name, ".*", ".*", ".*")
            parts = urllib.parse.urlsplit(os.environ["RETRYD_TEST_AMQP"])
            yield f"amqp://{name}:secret@{parts.hostname}:{parts.port}/"
        finally:
            rabbitmqctl("delete_user", name)

    def test_somebody_elses_user_id_is_set_aside_and_shown(self):
        alice = self.entered(self.user("alice"))
        for tags in ((), ("administrator",)):
            with self.subTest(tags=tags), self.user("svc", tags) as service:
                self.check_user_id(alice, service)

    def check_user_id(self, alice, service):
        name = urllib.parse.urlsplit(alice).username
        self.queue = f"{self.queue}-"
        self.declare_work_queue()
        app = self.consumer(always_fails)
        daemon = self.daemon(app, amqp=service)
        with Wire(alice) as producer:
            producer.publish(self.queue, b"body", encode_properties(user_id=name, delivery_mode=2))
        copy = self.wait_for_lot("parked")
        self.assertEqual([request.headers["amqp-user-id"] for request in app.requests], [name] * 3)
        self.assertEqual((copy.value_of("user_id"), noted(copy, "user-id")), (None, name))
        self.assert_quiet_links(daemon)
        daemon.stop()

    def test_a_long_expiration_leaves_the_delay_alone_and_is_shown(self):
        self.declare_work_queue()
        app = self.consumer(failing(1))
        daemon = self.daemon(app, "[1s]", "quorum")
        self.wire.publish(self.queue, b"body", encode_properties(expiration="600000"))
        self.wait_for_requests(app, 2)
        first, second = app.requests
        self.assertGreaterEqual(second.at - first.at, 0.99)
        self.assertLess(second.at - first.at, 3)
        self.assertEqual([shown(first), shown(second)], [{"amqp-expiration": "600000"}] * 2)
        self.wait_until_settled(daemon)

    def test_no_copy_carries_an_expiration_of_its_own(self):
        copy, _, _ = self.park(encode_properties(expiration="600000"))
        self.assertEqual((copy.value_of("expiration"), noted(copy, "expiration")), (None, "600000"))

    def test_what_would_expire_before_its_retry_is_parked_as_expired_instead_of_vanishing(self):
        self.declare_work_queue()
        app = self.consumer(failing(1))
        self.daemon(app, "[20s]")
        self.wire.publish(self.queue, b"body", encode_properties(expiration="5000"))
        copy = self.wait_for_lot("parked", timeout=10)
        self.assertEqual(len(app.requests), 1)
        self.assertEqual((copy.headers["retryd-reason"], noted(copy, "expiration")), ("expired", "5000"))
        self.assertEqual(copy.value_of("expiration"), None)

    def test_a_pseudo_queue_to_reply_to_is_set_aside_and_shown(self):
        address = "amq.rabbitmq.reply-to.g1h2AA5yZXBseUA.abc"
        copy, requests, _ = self.park(encode_properties(reply_to=address))
        self.assertEqual([request.headers["amqp-reply-to"] for request in requests], [address] * 3)
        self.assertEqual((copy.value_of("reply_to"), noted(copy, "reply-to")), (None, address))

    def test_every_delivery_mode_is_parked_persistent_and_remembered(self):
        self.declare_work_queue()
        app = self.consumer(always_fails)
        self.daemon(app, "[100ms]")
        for mode in (None, 1, 2):
            with self.subTest(mode):
                self.wire.publish(self.queue, b"%r" % mode, encode_properties(delivery_mode=mode))
                copy = self.wait_for_lot("parked")
                self.assertEqual((copy.value_of("delivery_mode"), noted(copy, "delivery-mode")), (2, mode))

    def test_between_attempts_only_our_documented_headers_change_and_none_grows(self):
        odd = {"X-Odd": "1", "Amqp-Header-Own": "changed", "Retryd-Attempt": "99", "Retryd-Original": "x", "Retryd-Error-Type": "T",
               "Retryd-Error-Message": "m", "Idempotency-Key": "other", "CC": "elsewhere"}
        self.declare_work_queue()
        app = self.consumer(lambda request: Answer(503, odd, b'{"echo": true}'))
        self.daemon(app, "[50ms, 60ms, 70ms, 80ms]")
        self.wire.publish(self.queue, b"body", encode_properties(headers=[text("Own", "mine"), text("CC-not", "x")], message_id="m"))
        copy = self.wait_for_lot("parked")
        self.assertEqual([request.attempt for request in app.requests], [1, 2, 3, 4, 5])
        for request in app.requests:
            names = [name.lower() for name, _ in request.header_lines]
            self.assertEqual(len(names), len(set(names)))
        changing = {"retryd-attempt", "retryd-deadline", "retryd-first-failed", "retryd-last-error"}
        steady = [{k: v for k, v in request.headers.items() if k not in changing} for request in app.requests]
        self.assertEqual(steady, [steady[0]] * 5)
        later = [{k: v for k, v in request.headers.items() if k in changing and k not in ("retryd-attempt", "retryd-deadline")}
                 for request in app.requests]
        self.assertEqual(later[1:], [later[1]] * 4)
        self.assertEqual(later[0], {})
        self.assertEqual(original_headers(copy), sorted([text("Own", "mine"), text("CC-not", "x")]))
        ours = {"v", "id", "queue", "attempts", "retries", "first-failed-ms", "last-failed-ms", "exchange", "routing-key", "reason",
                "error-type", "error-message", "fingerprint", "history", "original"}
        on_copy = [name.decode() for name, _, _ in copy.table if name.startswith(b"retryd-")]
        self.assertEqual(sorted(on_copy), sorted(f"retryd-{name}" for name in ours))
        self.assertEqual(len(copy.headers["retryd-history"]), 5)
