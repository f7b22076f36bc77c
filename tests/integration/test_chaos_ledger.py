"""The judgement of the chaos: what keeps every promise passes, and each kind of breach is found."""

import unittest

from amqp_codec import decode_properties, encode_properties, text
from amqp_wire import Message
from chaos_ledger import Delivery, Disturbance, Ending, Ledger
from chaos_messages import CALLS, LIMIT, POSTS, TIMEOUT, body, changed_in_lot, changed_over_http, fate, headers, properties, queue_of

PLAIN, WITHOUT_ID, DEAD, PARKED = 1, 3, 17, 19  # messages of queue chaos.posts


class LedgerTest(unittest.TestCase):
    def setUp(self):
        self.ledger = Ledger()

    def published(self, number, times=1):
        for _ in range(times):
            self.ledger.publish(number, 0)

    def delivered(self, number, at, attempt=1, limit=LIMIT, key=None, answer="success", altered=""):
        self.ledger.note(Delivery(number, at, attempt, limit, key or f"m-{number}", answer, altered))

    def succeeded(self, number, at, took=0.1):
        self.ledger.note(Ending(number, "succeeded", at + took, at))

    def done(self, number, at, **more):
        self.delivered(number, at, **more)
        self.succeeded(number, at)

    def in_lot(self, number, lot, at, attempts=1, **more):
        self.ledger.note(Ending(number, lot, at, attempts=attempts, **more))

    def disturbed(self, begin, end, queue=None):
        self.ledger.note(Disturbance("kill of retryd", begin, end, queue))

    def drained(self, begin, end):
        self.ledger.note(Disturbance("drain", begin, end, forgets_only=True))

    def suspected(self, crashes, reason="poison", numbers=(PLAIN,)):
        """Delivered three times, with so many crashes, and parked."""
        for number in numbers:
            self.published(number)
            for at in (10, 20, 30):
                self.delivered(number, at)
            self.in_lot(number, "parked", 0, reason=reason)
        for at in (20, 30)[:crashes]:
            self.disturbed(at + 0.1, at + 0.2)

    def verdict(self, *faults):
        """Judged; these faults and no others were found."""
        verdict = self.ledger.judge()
        self.assertEqual({fault for fault, found in verdict.faults.items() if found}, set(faults), verdict.faults)
        return verdict


class Kept(LedgerTest):
    def test_each_in_its_place(self):
        for number, answer in ((PLAIN, "success"), (DEAD, "permanent"), (PARKED, "transient")):
            self.published(number)
            self.delivered(number, 1, answer=answer)
        self.succeeded(PLAIN, 1)
        self.in_lot(DEAD, "dlq", 1)
        self.in_lot(PARKED, "parked", 1, attempts=LIMIT)
        self.assertEqual(self.verdict().places, {"succeeded": 1, "dlq": 1, "parked": 1})

    def test_a_kill_between_the_deliveries_explains_a_duplicate(self):
        self.published(PLAIN)
        self.done(PLAIN, 10)
        self.disturbed(14, 15)
        self.done(PLAIN, 20)
        self.assertEqual(self.verdict().explained, {"kill of retryd": 1})

    def test_a_kill_before_the_first_delivery_explains_one_too(self):
        self.published(PLAIN)
        self.disturbed(5, 6)
        self.done(PLAIN, 10)
        self.done(PLAIN, 10)
        self.verdict()

    def test_an_answer_after_the_timeout_explains_one(self):
        self.published(PLAIN)
        self.delivered(PLAIN, 10)
        self.delivered(PLAIN, 16, attempt=2)
        self.succeeded(PLAIN, 10, took=TIMEOUT + 3)
        self.succeeded(PLAIN, 16)
        self.assertEqual(self.verdict().explained, {"timeout": 1})

    def test_what_was_published_twice_may_end_twice(self):
        self.published(PLAIN, times=2)
        self.done(PLAIN, 10)
        self.done(PLAIN, 11)
        self.assertFalse(self.verdict().explained)

    def test_a_crash_forgets_the_attempts_of_one_stay(self):
        self.published(PARKED)
        for at in range(LIMIT + 2):
            self.delivered(PARKED, at, answer="transient")
        self.in_lot(PARKED, "parked", LIMIT + 2, attempts=LIMIT)
        self.disturbed(2, 2)
        self.verdict()

    def test_an_innocent_whose_trials_were_both_crashed_may_be_parked_as_poison(self):
        self.suspected(crashes=2)
        self.assertEqual(self.verdict().explained, {"trials crashed": 1})

    def test_a_drain_whose_connection_breaks_is_such_a_crash(self):
        self.suspected(crashes=1)
        self.drained(15, 16)
        self.ledger.note(Disturbance("connection ended by broker", 15.5, 15.6))
        self.assertEqual(self.verdict().explained, {"trials crashed": 1})

    def test_a_key_may_change_with_a_crash_where_there_is_no_id(self):
        self.published(WITHOUT_ID)
        self.delivered(WITHOUT_ID, 10, key="random-1")
        self.disturbed(11, 11)
        self.done(WITHOUT_ID, 12, key="random-2")
        self.verdict()


    def test_a_drain_forgets_a_stay_and_the_key_of_what_has_no_id(self):
        self.published(WITHOUT_ID)
        self.delivered(WITHOUT_ID, 10, key="random-1", answer="transient")
        self.drained(11, 12)
        self.done(WITHOUT_ID, 13, key="random-2")
        self.verdict()


class Broken(LedgerTest):
    def test_one_that_never_ended_is_lost(self):
        self.published(PLAIN)
        self.delivered(PLAIN, 1)
        self.verdict("lost")

    def test_one_that_was_never_delivered_is_lost(self):
        self.published(PLAIN)
        self.verdict("lost")

    def test_two_places_are_one_too_many(self):
        self.published(PLAIN)
        self.done(PLAIN, 10)
        self.disturbed(10, 10)
        self.in_lot(PLAIN, "parked", 11)
        self.verdict("in a wrong place")

    def test_one_crash_makes_no_poison(self):
        self.suspected(crashes=1)
        self.verdict("in a wrong place")

    def test_nor_does_an_orderly_drain(self):
        self.suspected(crashes=1)
        self.drained(15, 16)
        self.verdict("in a wrong place")

    def test_crashes_make_few_poison(self):
        self.suspected(crashes=2, numbers=[PLAIN + 1000 * n for n in range(4)])
        self.verdict("in a wrong place")

    def test_crashes_exhaust_nobody(self):
        self.suspected(crashes=2, reason="exhausted")
        self.verdict("in a wrong place")

    def test_a_duplicate_without_anything_between(self):
        self.published(PLAIN)
        self.disturbed(-8, -5)
        self.done(PLAIN, 10)
        self.done(PLAIN, 20)
        self.disturbed(22, 23)
        self.verdict("duplicates unexplained")

    def test_what_happened_to_another_queue_explains_nothing(self):
        self.published(PLAIN)
        self.done(PLAIN, 10)
        self.disturbed(14, 15, CALLS)
        self.done(PLAIN, 20)
        self.verdict("duplicates unexplained")

    def test_a_drain_explains_no_duplicate(self):
        self.published(PLAIN)
        self.done(PLAIN, 10)
        self.drained(14, 15)
        self.done(PLAIN, 20)
        self.verdict("duplicates unexplained")

    def test_a_duplicate_in_a_lot(self):
        self.published(DEAD)
        self.delivered(DEAD, 10, answer="permanent")
        self.in_lot(DEAD, "dlq", 10)
        self.in_lot(DEAD, "dlq", 10)
        self.verdict("duplicates unexplained")

    def test_another_key_than_the_id(self):
        self.published(PLAIN)
        self.disturbed(5, 30)
        self.done(PLAIN, 10)
        self.done(PLAIN, 20, key="another")
        self.verdict("keys changed")

    def test_another_key_without_any_reason(self):
        self.published(WITHOUT_ID)
        self.delivered(WITHOUT_ID, 10, key="random-1", answer="transient")
        self.done(WITHOUT_ID, 12, key="random-2", attempt=2)
        self.verdict("keys changed")

    def test_an_attempt_beyond_the_limit(self):
        self.published(PLAIN)
        self.done(PLAIN, 10, attempt=LIMIT + 1)
        self.verdict("attempts over the limit")

    def test_another_limit_than_the_policy_s(self):
        self.published(PLAIN)
        self.done(PLAIN, 10, limit=LIMIT + 1)
        self.verdict("attempts over the limit")

    def test_more_recorded_than_the_limit(self):
        self.published(PARKED)
        self.delivered(PARKED, 1, answer="transient")
        self.in_lot(PARKED, "parked", 1, attempts=LIMIT + 1)
        self.verdict("attempts over the limit")

    def test_more_failures_than_are_recorded(self):
        self.published(PARKED)
        for at in range(LIMIT + 1):
            self.delivered(PARKED, at, answer="transient")
        self.in_lot(PARKED, "parked", LIMIT + 1, attempts=LIMIT)
        self.verdict("attempts over the limit")

    def test_altered_at_the_consumer_and_in_a_lot(self):
        self.published(PLAIN)
        self.done(PLAIN, 10, altered="the body")
        self.published(DEAD)
        self.in_lot(DEAD, "dlq", 10, altered="a header")
        self.assertEqual(len(self.verdict("altered").faults["altered"]), 2)


class Messages(unittest.TestCase):
    def message(self, data=body(DEAD), properties_seen=properties(DEAD)):
        return Message(1, False, "", "", properties_seen, data)

    def with_headers(self, entries):
        return encode_properties(**{**decode_properties(properties(DEAD)), "headers": entries})

    def test_the_fates_and_the_queues_used_here(self):
        self.assertEqual([fate(number) for number in (PLAIN, WITHOUT_ID, DEAD, PARKED)], ["succeeded", "succeeded", "dlq", "parked"])
        self.assertEqual({queue_of(number) for number in (PLAIN, WITHOUT_ID, DEAD, PARKED)}, {POSTS})

    def test_what_retryd_and_the_broker_write_beside_is_no_change(self):
        self.assertFalse(changed_in_lot(DEAD, self.message()))
        beside = [text("retryd-id", "m-17"), text("x-death", "…")]
        self.assertFalse(changed_in_lot(DEAD, self.message(properties_seen=self.with_headers(headers(DEAD)[::-1] + beside))))

    def test_a_changed_body_header_or_property_is_found(self):
        self.assertIn("body", changed_in_lot(DEAD, self.message(body(DEAD)[:-1])))
        self.assertIn("headers", changed_in_lot(DEAD, self.message(properties_seen=self.with_headers(headers(DEAD)[1:]))))
        other = encode_properties(**{**decode_properties(properties(DEAD)), "correlation_id": b"another"})
        self.assertIn("correlation_id", changed_in_lot(DEAD, self.message(properties_seen=other)))
        more = encode_properties(**{**decode_properties(properties(DEAD)), "expiration": b"5"})
        self.assertIn("expiration", changed_in_lot(DEAD, self.message(properties_seen=more)))

    def test_a_change_over_http_is_found(self):
        lines = {"content-type": "application/x-chaos", "amqp-correlation-id": "c-1", "amqp-type": "chaos", "amqp-timestamp": "1700000001",
                 "amqp-message-id": "m-1", "amqp-header-n": "1", "amqp-header-said": "gr%C3%BC%C3%9Fe, 1"}
        self.assertFalse(changed_over_http(PLAIN, body(PLAIN), lines))
        for name in lines:
            self.assertIn(name, changed_over_http(PLAIN, body(PLAIN), {**lines, name: "another"}))


if __name__ == "__main__":
    unittest.main()
