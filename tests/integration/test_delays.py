"""Waiting: never shorter than asked for, whatever the queues in between do, and never in somebody else's way."""

import email.utils
import time

import amqp_codec as codec
from consumer import Answer
from integration_case import IntegrationCase, rabbitmqctl
from retryd import eventually

CLOCKS = 0.05  # two clocks are compared: the consumer's steady one and the wall clock that dates a copy


def failing(error_type):
    return Answer(500, {"Retryd-Error-Type": error_type})


def http_date(seconds_from_now):
    return email.utils.formatdate(time.time() + seconds_from_now, usegmt=True)


class DelaysCase(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue()

    def gaps(self, app):
        times = [request.at for request in app.requests]
        return [later - earlier for earlier, later in zip(times, times[1:])]

    def own_queues(self, kind):
        """{name: arguments as text} of this test's queues of a kind."""
        lines = rabbitmqctl("list_queues", "--no-table-headers", "name", "arguments").splitlines()
        rows = (line.partition("\t") for line in lines)
        return {name: arguments for name, _, arguments in rows if name.startswith(self.own(kind))}

    def assert_second_delivery_after(self, app, seconds, timeout=20):
        self.wait_for_requests(app, 2, timeout)
        self.assertGreaterEqual(self.gaps(app)[0], seconds - CLOCKS)


class Ladder(DelaysCase):
    def test_a_short_delay_is_not_stuck_behind_a_long_one(self):
        reply = lambda request: 200 if request.seen else failing("Slow" if request.body == b"slow" else "Quick")
        rules = "classify: [{error_type: Slow, as: transient, delay: 1m}]"
        app, _ = self.serve(reply, rules + ", retry: {quick: none, delays: [300ms], jitter: 0%, spread: 1}")
        self.send(b"slow")
        self.wait_for_depth(self.own("delay.60000ms"), 1)
        self.send(b"quick")
        self.wait_for_requests(app, 3)
        self.assertEqual([request.body for request in app.requests], [b"slow", b"quick", b"quick"])
        self.assertEqual(self.wire.depth(self.own("delay.60000ms")), 1)

    def test_every_delay_becomes_a_queue_with_exactly_that_time(self):
        delays = {"127ms": 127, "128ms": 128, "32768ms": 32768, "1h": 3_600_000, "7d": 604_800_000}
        rules = ", ".join(f'{{error_type: "{delay}", as: transient, delay: {delay}}}' for delay in delays)
        reply = lambda request: 200 if request.seen else failing(request.body.decode())
        self.serve(reply, f"classify: [{rules}], retry: {{quick: none, spread: 1}}")
        for delay in delays:
            self.send(delay.encode())
        names = {self.own(f"delay.{milliseconds}ms"): milliseconds for milliseconds in delays.values()}
        eventually(lambda: self.own_queues("delay.").keys() == names.keys(), what="one queue for each delay")
        for name, arguments in self.own_queues("delay.").items():
            self.assertIn(f'{{"x-message-ttl",{names[name]}}}', arguments.replace(" ", ""))

    def test_equal_delays_share_a_queue(self):
        app, _ = self.serve(lambda request: 500, "retry: {quick: none, delays: [100ms, 100ms], max: 4, jitter: 0%, spread: 4}")
        self.send(b"m")
        self.wait_for_lot("parked")
        self.assertEqual(list(self.own_queues("delay.")), [self.own("delay.100ms")])
        self.assertEqual(len(app.requests), 5)

    def assert_spread(self, keys, delays):
        self.serve(lambda request: 500, f"retry: {{quick: none, delays: [1h], {keys}}}", concurrency=16)
        self.wire.publish_all(self.queue, [(codec.encode_properties(), b"%d" % number) for number in range(100)])
        names = [self.own(f"delay.{delay}ms") for delay in delays]
        depths = lambda: [self.wire.depth(name) or 0 for name in names]
        eventually(lambda: sum(depths()) == 100, what="all copies within the band")
        self.assertTrue(all(depth >= 5 for depth in depths()), depths())  # 25 each on average

    def test_one_rung_is_several_queues_evenly_within_its_jitter(self):
        self.assert_spread("jitter: 20%, spread: 4", [2_880_000, 3_360_000, 3_840_000, 4_320_000])

    def test_full_jitter_spreads_a_rung_from_its_share_up_to_itself(self):
        self.assert_spread("jitter: full, spread: 4", [900_000, 1_800_000, 2_700_000, 3_600_000])

    def test_every_rung_is_waited_for_in_turn_and_the_last_repeats(self):
        app, _ = self.serve(lambda request: 500, "retry: {quick: none, delays: [200ms, 600ms], max: 3, jitter: 0%, spread: 1}")
        self.send(b"m")
        self.wait_for_lot("parked")
        self.assertEqual(len(app.requests), 4)
        for gap, delay in zip(self.gaps(app), [0.2, 0.6, 0.6]):
            self.assertGreaterEqual(gap, delay - CLOCKS)

    def test_delays_as_a_growing_series_become_the_rungs(self):
        delays = "{base: 100ms, factor: 3, cap: 500ms, steps: 3}"
        self.serve(lambda request: 500, f"retry: {{quick: none, delays: {delays}, jitter: 0%, spread: 1}}")
        self.send(b"m")
        self.wait_for_lot("parked")
        self.assertEqual(sorted(self.own_queues("delay.")), [self.own(f"delay.{delay}ms") for delay in (100, 300, 500)])


class Throttled(DelaysCase):
    def throttle_once(self, value, status=429, keys="", seconds=0.0, timeout=20):
        """The first reply carries the Retry-After; the second delivery comes no earlier than `seconds` after the first."""
        reply = lambda request: 200 if request.seen else Answer(status, {"Retry-After": value() if callable(value) else value})
        hold = "hold: {delays: [200ms, 500ms, 1s, 2s]}"
        retry = "retry: {quick: none, delays: [100ms], jitter: 0%, spread: 1}"
        app, daemon = self.serve(reply, f"{keys or hold}, {retry}")
        self.send(b"m")
        self.assert_second_delivery_after(app, seconds, timeout)
        return app, daemon

    def assert_second_delivery_is_attempt(self, number, served):
        self.assertEqual(served[0].requests[1].attempt, number)

    def test_a_retry_after_in_seconds_is_waited_for(self):
        self.assert_second_delivery_is_attempt(1, self.throttle_once("3", seconds=3))

    def test_a_retry_after_as_a_date_is_waited_for(self):
        self.throttle_once(lambda: http_date(4), seconds=3)  # a date has whole seconds

    def test_a_retry_after_with_503_is_waited_for_and_spends_no_attempt(self):
        self.assert_second_delivery_is_attempt(1, self.throttle_once("2", status=503, seconds=2))

    def test_a_retry_after_with_500_is_waited_for_and_spends_an_attempt(self):
        self.assert_second_delivery_is_attempt(2, self.throttle_once("2", status=500, seconds=2))

    def test_a_wait_that_is_longer_than_every_hold_queue_takes_several_hops(self):
        app, daemon = self.throttle_once("3", keys="hold: {delays: [300ms, 900ms]}", seconds=3)
        self.assertEqual(len(app.requests), 2)
        held = daemon.metrics()[f'retryd_retries_scheduled_total{{queue="{self.queue}",tier="hold"}}']
        self.assertIn(held, (2, 3))  # three, unless a queue gives it back late

    def test_a_retry_after_of_three_hundred_years_is_cut(self):
        self.throttle_once("9999999999", keys="hold: {delays: [200ms, 500ms], max_retry_after: 1s}", seconds=1)

    def test_a_retry_after_in_the_past_waits_on_the_first_hold_queue(self):
        self.throttle_once(lambda: http_date(-3600))
        self.assertEqual(list(self.own_queues("hold.")), [self.own("hold.200ms")])

    def test_a_retry_after_that_is_no_number_and_no_date_waits_on_the_first_hold_queue(self):
        self.throttle_once("abc", seconds=0.2)
        self.assertEqual(list(self.own_queues("hold.")), [self.own("hold.200ms")])

    def test_a_herd_with_one_retry_after_comes_back_spread_and_none_of_it_early(self):
        reply = lambda request: 200 if request.seen else Answer(429, {"Retry-After": "2"})
        app, _ = self.serve(reply, "hold: {delays: [500ms, 1s, 2s]}, retry: {jitter: 50%}", concurrency=32)
        bodies = [b"%d" % number for number in range(60)]
        self.wire.publish_all(self.queue, [(codec.encode_properties(), body) for body in bodies])
        self.wait_for_requests(app, 120)
        first = {request.body: request.at for request in app.requests if not request.seen}
        waits = [request.at - first[request.body] for request in app.requests if request.seen]
        self.assertEqual(len(waits), 60)
        self.assertGreaterEqual(min(waits), 2 - CLOCKS)
        self.assertGreater(max(waits) - min(waits), 0.5)  # over two seconds, evenly

    def test_without_a_retry_after_each_hold_climbs_one_queue(self):
        keys = "hold: {delays: [100ms, 400ms, 800ms]}"
        app, _ = self.serve(lambda request: 200 if request.seen == 4 else 429, keys)
        self.send(b"m")
        self.wait_for_requests(app, 5)
        for gap, delay in zip(self.gaps(app), [0.1, 0.4, 0.8, 0.8]):
            self.assertGreaterEqual(gap, delay - CLOCKS)
        self.assertEqual([request.attempt for request in app.requests], [1] * 5)

    def test_a_rule_may_say_how_long_a_throttled_message_waits(self):
        keys = "classify: [{status: 418, as: throttled, delay: 1s}], hold: {delays: [100ms, 1s]}"
        app, _ = self.serve(lambda request: 200 if request.seen else 418, keys)
        self.send(b"m")
        self.assert_second_delivery_after(app, 1)
        self.assertEqual(app.requests[1].attempt, 1)


class TiersThatAreNotAsAsked(DelaysCase):
    """Operators' policies and queues made by others let messages out early: then they wait on."""

    def set_policy(self, definition):
        name = f"early.{self.token}.{self._testMethodName}"
        rabbitmqctl("set_policy", "--apply-to", "queues", name, "^" + self.own("delay").replace(".", r"\."), definition)
        self.addCleanup(rabbitmqctl, "clear_policy", name)

    def serve_failing_once(self, delay, queue_type="quorum"):
        retry = f"retry: {{quick: none, delays: [{delay}], jitter: 0%, spread: 1, queue_type: {queue_type}}}"
        return self.serve(lambda request: 200 if request.seen else 500, f"{retry}, hold: {{delays: [500ms, 1s, 2s]}}")[0]

    def test_a_message_ttl_set_by_an_operators_policy_makes_no_retry_come_early(self):
        self.set_policy('{"message-ttl": 200}')
        app = self.serve_failing_once("3s")
        self.send(b"m")
        self.assert_second_delivery_after(app, 3)
        self.assertEqual(app.requests[1].attempt, 2)
        self.assertTrue(self.own_queues("hold."), "the rest was waited in another queue")

    def test_a_length_limit_on_classic_tiers_makes_no_retry_come_early(self):
        self.set_policy('{"max-length": 2}')
        app = self.serve_failing_once("2s", "classic")
        for number in range(4):
            self.send(b"%d" % number)
        self.wait_for_requests(app, 8, 40)
        first = {request.body: request.at for request in app.requests if not request.seen}
        again = {request.body: request.at for request in app.requests if request.seen}
        self.assertEqual(first.keys(), again.keys())
        self.assertGreaterEqual(min(again[body] - first[body] for body in first), 2 - CLOCKS)
        self.assertTrue(self.own_queues("hold."), "two were let out at once and waited in another queue")

    def test_a_length_limit_on_quorum_tiers_keeps_what_does_not_fit_in_hand(self):
        self.set_policy('{"max-length": 2}')
        app = self.serve_failing_once("2s")
        for number in range(4):
            self.send(b"%d" % number)
        self.wait_for_depth(self.own("delay.2000ms"), 4)  # the broker refuses from then on
        self.send(b"late")
        self.wait_for_requests(app, 10, 40)
        first, second = (request.at for request in app.requests if request.body == b"late")
        self.assertGreater(second - first, 2 + 0.4, "it was refused at least once and sent again later")
        self.assertEqual({request.attempt for request in app.requests if request.seen}, {2})

    def test_of_a_tier_that_others_declared_with_another_time_the_policys_time_rules(self):
        arguments = [codec.number("x-message-ttl", 100), codec.text("x-dead-letter-exchange", ""),
                     codec.text("x-dead-letter-routing-key", self.own("lane"))]
        self.wire.declare(self.own("delay.2500ms"), arguments)
        app = self.serve_failing_once("2500ms")
        self.send(b"m")
        self.assert_second_delivery_after(app, 2.5)
        self.assertTrue(self.own_queues("hold."), "the rest was waited in another queue")


class Room(DelaysCase):
    def test_what_waits_for_its_retry_leaves_the_prefetch_to_the_others(self):
        app, _ = self.serve(lambda request: 500 if request.body.startswith(b"bad") else 200,
                            "prefetch: 10, retry: {quick: {tries: 2, delay: 50ms}, delays: [1h], jitter: 0%, spread: 1}")
        bodies = [b"bad%d" % number for number in range(10)] + [b"good%d" % number for number in range(100)]
        self.wire.publish_all(self.queue, [(codec.encode_properties(), body) for body in bodies])
        self.wait_for_requests(app, 10 * 3 + 100)
        self.wait_for_depth(self.own("delay.3600000ms"), 10)
        self.assertEqual({request.body for request in app.requests}, set(bodies))

    def test_what_is_held_leaves_the_prefetch_to_the_others_too(self):
        app, _ = self.serve(lambda request: 429 if request.body.startswith(b"bad") else 200, "prefetch: 10")
        bodies = [b"bad%d" % number for number in range(10)] + [b"good%d" % number for number in range(100)]
        self.wire.publish_all(self.queue, [(codec.encode_properties(), body) for body in bodies])
        self.wait_for_requests(app, 110)
        self.wait_for_depth(self.own("hold.15000ms"), 10)


class LaneShare(DelaysCase):
    def assert_a_quarter_for_the_lane(self, concurrency):
        """Thirty retries come back while four hundred fresh messages wait, and every delivery takes as long as any other."""
        reply = lambda request: 500 if request.body.startswith(b"retry") and not request.seen else Answer(200, wait=0.01)
        keys = "lane_share: 25%, prefetch: 500, retry: {quick: none, delays: [500ms], jitter: 0%, spread: 1}"
        app, _ = self.serve(reply, keys, concurrency=concurrency)
        bodies = [b"retry%d" % number for number in range(30)] + [b"fresh%d" % number for number in range(400)]
        self.wire.publish_all(self.queue, [(codec.encode_properties(), body) for body in bodies])
        self.wait_for_requests(app, 460, 40)
        back = [index for index, request in enumerate(app.requests) if request.attempt == 2]
        self.assertTrue(app.requests[-1].body.startswith(b"fresh"), "fresh messages were waiting all the time")
        self.assertAlmostEqual(len(back) / (back[-1] - back[0]), 0.25, delta=0.08)

    def test_retries_get_one_slot_of_four_while_fresh_messages_wait(self):
        self.assert_a_quarter_for_the_lane(4)

    def test_with_a_single_slot_every_fourth_delivery_is_a_retry_while_fresh_messages_wait(self):
        self.assert_a_quarter_for_the_lane(1)

    def test_retries_have_all_slots_while_nothing_fresh_waits(self):
        def reply(request):
            if request.body.startswith(b"warm"):
                return 200
            return Answer(200, wait=0.5) if request.seen else 500

        app, daemon = self.serve(reply, "retry: {quick: none, delays: [300ms], jitter: 0%, spread: 1}")
        for number in range(20):  # a consumer that is new may be given little at first
            self.send(b"warm%d" % number)
        eventually(lambda: daemon.deliveries(self.queue).get("success") == 20, what="a warm consumer")
        for number in range(4):
            self.send(b"%d" % number)
        self.wait_for_requests(app, 28)
        back = [request.at for request in app.requests if request.seen]
        self.assertLess(back[3] - back[0], 0.5)  # all four at once: none waited for another's end
