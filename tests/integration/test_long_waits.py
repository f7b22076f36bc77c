"""Waits of hours and centuries: kept in the hold queues, cut where the policy says, never a loop and never a crash."""

import email.utils
import json
import time

from consumer import Answer
from integration_case import IntegrationCase
from stream_case import StreamCase

HOUR = 3600
CENTURIES = "9999999999"  # seconds: three of them
RETRY = "retry: {quick: none, delays: [100ms], jitter: 20%, spread: 1}"


def http_date(seconds_from_now):
    return email.utils.formatdate(time.time() + seconds_from_now, usegmt=True)


class Waiting(IntegrationCase):
    """Each message waits in the longest hold queue that is shorter than its wait; R seconds become R to 1.4 R."""

    def assert_waits(self, copy, hours, attempts, since):
        self.assertEqual(copy.headers["retryd-attempts"] if attempts else copy.headers.get("retryd-attempts", 0), attempts)
        wait = copy.headers["retryd-not-before-ms"] / 1000 - since
        self.assertGreaterEqual(wait, hours * HOUR - 1)  # a date has whole seconds
        self.assertLess(wait, 1.4 * hours * HOUR + 60)

    def copy_in(self, hold):
        queue = self.own(f"hold.{hold}ms")
        self.wait_for_depth(queue, 1)
        return self.wire.get(queue)


class OverHttp(Waiting):
    def wait_told(self, value, status=429, keys="", hours=6, attempts=0):
        self.queue += "-"
        self.declare_work_queue()
        app, daemon = self.serve(lambda request: Answer(status, {"Retry-After": value}), keys + RETRY)
        begin = time.time()
        self.send(b"m", message_id="m")
        self.assert_waits(self.copy_in(2 * HOUR * 1000), hours, attempts, begin)
        self.assertEqual(len(app.requests), 1)
        self.assertIn("hold", json.loads(daemon.get("/why?id=m")[1])["text"])
        self.assert_no_busy_loop(daemon)
        self.assertEqual(daemon.stop(), 0)

    def test_ten_hours_are_cut_to_the_six_that_are_built_in(self):
        self.wait_told("36000")

    def test_ten_hours_are_waited_for_where_the_policy_allows_them(self):
        self.wait_told("36000", keys="hold: {max_retry_after: 12h}, ", hours=10)

    def test_ten_hours_as_a_date(self):
        self.wait_told(http_date(10 * HOUR), status=503, keys="hold: {max_retry_after: 12h}, ", hours=10)

    def test_ten_hours_after_a_failure_spend_its_attempt_and_are_waited_for(self):
        self.wait_told("36000", status=500, attempts=1)

    def test_three_hundred_years_in_every_form(self):
        for value in (CENTURIES, "18446744073709551616", "9" * 300, "Wed, 01 Jan 2326 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"):
            with self.subTest(value):
                self.wait_told(value)

    def test_three_hundred_years_after_a_failure(self):
        self.wait_told(CENTURIES, status=500, attempts=1)

    def test_a_message_that_would_expire_meanwhile_is_parked_as_expired(self):
        self.declare_work_queue()
        self.serve(lambda request: Answer(429, {"Retry-After": CENTURIES}), RETRY)
        self.send(b"m", expiration="7200000")
        self.assertEqual(self.wait_for_lot("parked").headers["retryd-reason"], "expired")

    def test_a_message_that_would_be_held_for_too_long_is_parked_as_held(self):
        self.declare_work_queue()
        self.serve(lambda request: Answer(429, {"Retry-After": CENTURIES}), "hold: {max: 5h}, " + RETRY)
        self.send(b"m")
        self.assertEqual(self.wait_for_lot("parked").headers["retryd-reason"], "held")


class OverTheStream(StreamCase, Waiting):
    def test_ten_hours_and_three_hundred_years(self):
        self.declare_work_queue()
        daemon = self.serve_stream(RETRY)
        peer = self.peer(credit=1)
        for outcome, attempts in (("throttled", 0), ("transient", 1)):
            for milliseconds in (36_000_000, 9_999_999_999_000, 2**53, 2**63 - 1):
                with self.subTest(outcome=outcome, milliseconds=milliseconds):
                    begin = time.time()
                    self.send(b"m")
                    peer.reply(peer.message(), outcome, retry_after_ms=milliseconds)
                    self.assert_waits(self.copy_in(2 * HOUR * 1000), 6, attempts, begin)
        self.assert_no_busy_loop(daemon)
        self.assertEqual(daemon.stop(), 0)
