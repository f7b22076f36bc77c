"""Attempts: what spends one, what does not, and what nobody else's counter can change."""

import amqp_codec as codec
from consumer import HANG, Answer
from integration_case import IntegrationCase
from retryd import eventually

FAST = "retry: {quick: none, delays: [100ms, 100ms], jitter: 0%, spread: 1}"
SLOW_TO_RETURN = "retry: {quick: none, delays: [1s, 1s], jitter: 0%, spread: 1}"


def failing_until(attempt):
    return lambda request: 200 if request.attempt >= attempt else 500


class Counting(IntegrationCase):
    def attempts(self, app):
        return [request.attempt for request in app.requests]

    def deliveries(self, daemon, outcome):
        return daemon.deliveries(self.queue).get(outcome, 0)

    def wait_for_outcome(self, daemon, outcome, count=1):
        eventually(lambda: self.deliveries(daemon, outcome) == count, what=f"{count} deliveries with {outcome}")

    def assert_parked(self, reason, attempts, lot="parked"):
        message = self.wait_for_lot(lot)
        self.assertEqual((message.headers["retryd-reason"], message.headers["retryd-attempts"]), (reason, attempts))
        return message

    # --- whose counter counts

    def test_a_message_without_any_headers_is_counted_and_parked_at_the_limit(self):
        self.declare_work_queue()
        app, _ = self.serve(lambda request: 500, FAST)
        self.wire.publish(self.queue, b"bare", codec.encode_properties())
        self.assert_parked("exhausted", 3)
        self.assertEqual(self.attempts(app), [1, 2, 3])

    def carry_by_hand(self, x_death):
        """Takes what waits out of its tier before its time and puts it into the lane with another x-death; True when done."""
        if not self.wire.depth(self.own("delay.1000ms")):
            return False
        message = self.wire.get(self.own("delay.1000ms"))
        table = [entry for entry in message.table if entry[0] != b"x-death"] + x_death
        properties = codec.decode_properties(message.properties) | {"headers": table}
        self.wire.publish(self.own("lane"), message.body, codec.encode_properties(**properties))
        return True

    def run_with_x_death(self, x_death):
        self.declare_work_queue()
        app, _ = self.serve(lambda request: 500, SLOW_TO_RETURN)
        self.send(b"m", headers=x_death)
        carried = lambda: self.carry_by_hand(x_death)
        eventually(carried, what="the first copy in its tier")
        self.wait_for_requests(app, 2)
        eventually(carried, what="the second copy in its tier")
        self.assert_parked("exhausted", 3)
        self.assertEqual(self.attempts(app), [1, 2, 3])

    def test_an_x_death_that_never_moves_changes_no_count(self):
        count = codec.table("", [codec.text("queue", self.own("delay.1000ms")), codec.text("reason", "expired"),
                                 codec.number("count", 1)])
        self.run_with_x_death([codec.array("x-death", [count])])

    def test_an_x_death_that_is_missing_changes_no_count(self):
        self.run_with_x_death([])

    def test_a_delivery_limit_of_the_work_queue_is_not_reached_by_retrying(self):
        rejects = f"rejects.{self.token}"
        self.declare_work_queue(rejects)
        self.declare_work_queue(arguments=codec.quorum(limit=1, dead_letters_to=rejects))
        app, _ = self.serve(lambda request: 500, "retry: {quick: {tries: 1, delay: 10ms}, delays: [50ms], max: 4, jitter: 0%}")
        self.send(b"m")
        self.assert_parked("exhausted", 6)
        self.assertEqual(self.attempts(app), [1, 2, 3, 4, 5, 6])
        self.assertEqual(self.wire.depth(rejects), 0)

    def assert_first_attempt_is_one(self, arguments, headers=()):
        self.declare_work_queue(arguments=arguments)
        app, _ = self.serve(lambda request: 200)
        self.send(b"m", headers=list(headers))
        self.wait_for_requests(app, 1)
        self.assertEqual(app.requests[0].headers["retryd-attempt"], "1")
        return app.requests[0]

    def test_the_first_attempt_from_a_quorum_queue_is_number_one(self):
        self.assert_first_attempt_is_one(codec.quorum())

    def test_the_first_attempt_from_a_classic_queue_is_number_one(self):
        self.assert_first_attempt_is_one([codec.text("x-queue-type", "classic")])

    def test_the_first_attempt_is_number_one_whatever_counters_the_producer_wrote(self):
        forged = [codec.number("x-delivery-count", 77), codec.number("retryd-attempts", 77), codec.number("retryd-retries", 77)]
        request = self.assert_first_attempt_is_one((), forged)
        self.assertEqual(request.headers["amqp-header-retryd-attempts"], "77")
        self.assertNotIn("retryd-first-failed", request.headers)

    def test_counters_that_a_producer_wrote_spend_no_attempt_and_are_still_there_at_the_end(self):
        self.declare_work_queue()
        app, _ = self.serve(failing_until(3), FAST)
        self.send(b"m", headers=[codec.number("retryd-attempts", 77), codec.number("retryd-retries", 77)])
        self.wait_for_requests(app, 3)
        self.assertEqual(self.attempts(app), [1, 2, 3])
        self.assertEqual({request.headers["amqp-header-retryd-attempts"] for request in app.requests}, {"77"})

    # --- what spends an attempt

    def test_quick_tries_are_spent_on_the_first_stay_only(self):
        self.declare_work_queue()
        app, _ = self.serve(lambda request: 500, "retry: {quick: {tries: 2, delay: 10ms}, delays: [1s, 1s], jitter: 0%}")
        self.send(b"m")
        self.assert_parked("exhausted", 5)
        requests = app.requests
        self.assertEqual(self.attempts(app), [1, 2, 3, 4, 5])
        self.assertEqual({request.headers["retryd-max-attempts"] for request in requests}, {"5"})
        self.assertGreaterEqual(requests[3].at - requests[2].at, 0.95)  # after the quick ones every try waits in the broker
        self.assertGreaterEqual(requests[4].at - requests[3].at, 0.95)

    def test_what_is_permanent_is_a_dead_letter_after_one_attempt(self):
        self.declare_work_queue()
        app, _ = self.serve(lambda request: 422, FAST)
        self.send(b"m")
        self.assert_parked("permanent", 1, "dlq")
        self.assertEqual(self.attempts(app), [1])

    # --- what spends none

    def test_a_throttled_delivery_spends_no_attempt(self):
        self.declare_work_queue()
        app, daemon = self.serve(lambda request: 200 if request.seen == 3 else 429, FAST + ", hold: {delays: [100ms, 200ms]}")
        self.send(b"m")
        self.wait_for_outcome(daemon, "success")
        self.assertEqual(self.attempts(app), [1, 1, 1, 1])
        self.assertEqual(self.deliveries(daemon, "throttled"), 3)

    def test_a_consumer_that_comes_and_goes_costs_its_messages_nothing(self):
        rejects = f"rejects.{self.token}"
        self.declare_work_queue(rejects)
        self.declare_work_queue(arguments=codec.quorum(limit=1, dead_letters_to=rejects))  # the second return would be one too many
        app, daemon = self.serve(lambda request: 200)
        for away in range(1, 6):
            app.stop()
            for number in range(10):
                self.send(b"%d.%d" % (away, number))
            self.wait_for_cause(daemon, "consumer-away")
            app.start()
            self.wait_for_outcome(daemon, "success", 10 * away)
        self.assertEqual(self.attempts(app), [1] * 50)
        self.assertEqual(self.wire.depth(rejects), 0)

    def test_what_is_handed_back_at_a_shutdown_has_the_same_attempt_number_afterwards(self):
        self.declare_work_queue()
        app = self.consumer(lambda request: {0: 500, 1: HANG}.get(request.seen, 200))
        policy = f'queues: {{"@QUEUE@": {{deliver: {{http: "{app.url}"}}, {FAST}}}}}'
        daemon = self.retryd(policy, arguments=("--drain", "200ms"))
        self.send(b"m")
        self.wait_for_requests(app, 2)
        self.assertEqual(daemon.stop(), 0)
        daemon.start()
        self.wait_for_outcome(daemon, "success")
        self.assertEqual(self.attempts(app), [1, 2, 2])
        self.assertEqual(app.requests[2].headers["retryd-redelivered"], "true")

    # --- crashes

    def crash_with_one_in_flight(self, app, daemon, times):
        for crash in range(1, times + 1):
            self.wait_for_requests(app, crash)
            daemon.kill()
            daemon.start()

    def test_a_message_that_was_in_flight_at_four_crashes_is_delivered_again(self):
        self.declare_work_queue(arguments=codec.quorum())
        app, daemon = self.serve(lambda request: 200 if request.seen == 4 else HANG)
        self.send(b"m")
        self.crash_with_one_in_flight(app, daemon, 4)
        self.wait_for_outcome(daemon, "success")
        self.assertEqual(self.attempts(app), [1] * 5)
        self.assertEqual(app.requests[4].headers["retryd-redelivered"], "true")

    def test_what_the_brokers_delivery_limit_takes_away_is_in_the_queues_own_dead_letter_target(self):
        rejects = f"rejects.{self.token}"
        self.declare_work_queue(rejects)
        self.declare_work_queue(arguments=codec.quorum(limit=1, dead_letters_to=rejects))
        app, daemon = self.serve(lambda request: HANG)
        self.send(b"m")
        self.crash_with_one_in_flight(app, daemon, 2)
        self.wait_for_depth(rejects, 1)
        self.assertEqual(len(app.requests), 2)

    # --- clocks

    def test_a_message_that_fails_for_longer_than_its_age_limit_is_parked(self):
        self.declare_work_queue()
        keys = "limits: {age: 1s}, to: {age: dlq}, retry: {quick: none, delays: [700ms], max: 9, jitter: 0%, spread: 1}"
        app, _ = self.serve(lambda request: 500, keys)
        self.send(b"m")
        self.assert_parked("age", 2, "dlq")
        self.assertEqual(self.attempts(app), [1, 2])

    def test_held_time_is_left_out_of_the_age(self):
        self.declare_work_queue()
        keys = ("limits: {age: 2s}, hold: {delays: [1500ms]}, "
                "retry: {quick: none, delays: [300ms], max: 9, jitter: 0%, spread: 1}")
        app, daemon = self.serve(lambda request: {0: 500, 1: 429, 2: 429, 3: 500}.get(request.seen, 200), keys)
        self.send(b"m")
        self.wait_for_outcome(daemon, "success")
        self.assertEqual(self.attempts(app), [1, 2, 2, 2, 3])

    def test_a_message_that_is_held_for_longer_than_allowed_is_parked(self):
        self.declare_work_queue()
        app, _ = self.serve(lambda request: 429, "hold: {delays: [400ms], max: 1s}, to: {held: dlq}")
        self.send(b"m")
        message = self.assert_parked("held", 0, "dlq")
        self.assertEqual(self.attempts(app), [1, 1, 1])
        self.assertEqual(message.headers["retryd-held-ms"], 800)

    def test_no_delay_is_scheduled_past_the_messages_own_expiry(self):
        self.declare_work_queue()
        app, _ = self.serve(lambda request: 500, FAST.replace("100ms", "30s") + ", to: {expired: dlq}")
        self.send(b"m", expiration="20000")
        message = self.assert_parked("expired", 1, "dlq")
        self.assertEqual(message.headers["retryd-original"]["expiration"], "20000")
        self.assertIsNone(message.value_of("expiration"))

    def test_no_hold_is_scheduled_past_the_messages_own_expiry(self):
        self.declare_work_queue()
        app, _ = self.serve(lambda request: Answer(429, {"Retry-After": "30"}), "to: {expired: dlq}")
        self.send(b"m", expiration="20000")
        self.assert_parked("expired", 0, "dlq")

    # --- two daemons

    def test_two_daemons_on_one_queue_share_it_and_count_alike(self):
        self.declare_work_queue()
        reply = lambda request: Answer(200 if request.attempt == 3 else 500, wait=0.01)
        first, one = self.serve(reply, FAST + ", prefetch: 4")
        second, other = self.serve(reply, FAST + ", prefetch: 4")
        bodies = sorted(b"%d" % number for number in range(100))
        self.wire.publish_all(self.queue, [(codec.encode_properties(delivery_mode=2), body) for body in bodies])
        succeeded = lambda: self.deliveries(one, "success") + self.deliveries(other, "success")
        eventually(lambda: succeeded() == 100, 30, "all succeeded")
        seen = sorted((request.body, request.attempt) for request in first.requests + second.requests)
        self.assertEqual(seen, [(body, attempt) for body in bodies for attempt in (1, 2, 3)])
        self.assertTrue(first.requests and second.requests)
        self.assertEqual(self.wire.depth(self.own("parked")), 0)
