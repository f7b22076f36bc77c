"""Queues: which there are, as what they are declared, and what happens when one is missing, deleted or not as it should be."""

import os
import pathlib
import subprocess

import amqp_codec as codec
from consumer import Answer
from integration_case import IntegrationCase, rabbitmqctl
from retryd import eventually

ONE_RETRY = "retry: {quick: none, delays: [300ms], jitter: 0%, spread: 1}"
LONG = "retry: {quick: none, delays: [1h], jitter: 0%, spread: 1}"


class TopologyCase(IntegrationCase):
    def queues(self):
        """{name: (type, arguments as text without spaces)} of this test's queues."""
        lines = rabbitmqctl("list_queues", "--no-table-headers", "name", "type", "arguments").splitlines()
        rows = (line.split("\t", 2) for line in lines if self.queue in line)
        return {name: (kind, arguments.replace(" ", "")) for name, kind, arguments in rows}

    def wait_for_success(self, daemon, count=1, timeout=20):
        eventually(lambda: daemon.deliveries(self.queue).get("success") == count, timeout, f"{count} successes")

    def wait_for_consumers(self, queue, count=1, timeout=20):
        def there():
            return self.wire.depth(queue) is not None and self.wire.declare(queue, passive=True)[1] == count

        eventually(there, timeout, f"{count} consumers of {queue}")

    def fail_once(self, keys=ONE_RETRY):
        return self.serve(lambda request: 200 if request.seen else 500, keys)


class Declarations(TopologyCase):
    def test_quorum_tiers_hold_what_expires_until_the_lane_has_it(self):
        self.declare_work_queue()
        self.fail_once(LONG)
        self.send(b"m")
        self.wait_for_depth(self.own("delay.3600000ms"), 1)
        kind, arguments = self.queues()[self.own("delay.3600000ms")]
        self.assertIn("quorum", kind)
        for wanted in ('{"x-message-ttl",3600000}', '{"x-dead-letter-exchange",[]}',
                       '{"x-dead-letter-strategy","at-least-once"}', '{"x-overflow","reject-publish"}',
                       f'{{"x-dead-letter-routing-key","{self.own("lane")}"}}'):
            self.assertIn(wanted, arguments)

    def test_no_queue_of_retryd_expires(self):
        self.declare_work_queue()
        self.serve(lambda request: 429 if request.body == b"held" else 500, LONG)
        self.send(b"m")
        self.send(b"held")
        self.wait_for_depth(self.own("hold.15000ms"), 1)
        self.wait_for_depth(self.own("delay.3600000ms"), 1)
        self.assertEqual([name for name, (_, arguments) in self.queues().items() if "x-expires" in arguments], [])

    def test_lane_and_lots_are_there_from_the_start_and_tiers_when_first_needed(self):
        self.declare_work_queue()
        self.fail_once(LONG)
        names = {self.queue, self.own("lane"), self.own("parked"), self.own("dlq")}
        self.assertEqual(self.queues().keys(), names)
        self.send(b"m")
        self.wait_for_depth(self.own("delay.3600000ms"), 1)
        self.assertEqual(self.queues().keys(), names | {self.own("delay.3600000ms")})

    def test_classic_queues_by_choice_have_their_kind_in_the_tiers_name(self):
        self.declare_work_queue()
        _, daemon = self.fail_once(ONE_RETRY.replace("spread: 1", "spread: 1, queue_type: classic"))
        self.send(b"m")
        self.wait_for_success(daemon)
        kinds = {name: kind for name, (kind, _) in self.queues().items() if name != self.queue}
        self.assertEqual(kinds.keys(), {self.own(kind) for kind in ("lane", "parked", "dlq", "delay.300ms.classic")})
        self.assertTrue(all("classic" in kind for kind in kinds.values()), kinds)

    def test_a_policy_with_the_other_queue_type_uses_the_queues_that_are_there(self):
        self.declare_work_queue()
        app, daemon = self.fail_once(ONE_RETRY)
        policy = pathlib.Path(daemon.folder, "policy.yaml").read_text(encoding="utf-8")
        self.assertEqual(daemon.stop(), 0)
        daemon.write_policy(policy.replace("spread: 1", "spread: 1, queue_type: classic"))
        daemon.start()
        self.send(b"m")
        self.wait_for_success(daemon)
        self.assertIn("quorum", self.queues()[self.own("lane")][0])
        self.assertIn("classic", self.queues()[self.own("delay.300ms.classic")][0])

    def assert_work_queue_is_made(self, kind):
        _, daemon = self.serve(lambda request: 200, f"declare: {kind}")
        self.assertIn(kind, self.queues()[self.queue][0])
        self.send(b"m")
        self.wait_for_success(daemon)

    def test_a_work_queue_is_made_as_a_quorum_queue_where_the_policy_says_so(self):
        self.assert_work_queue_is_made("quorum")

    def test_a_work_queue_is_made_as_a_classic_queue_where_the_policy_says_so(self):
        self.assert_work_queue_is_made("classic")

    def test_a_work_queue_that_is_there_is_used_as_it_is(self):
        self.declare_work_queue(arguments=[codec.number("x-max-priority", 5)])
        self.serve(lambda request: 200, "declare: quorum")
        self.assertIn("classic", self.queues()[self.queue][0])

    def test_changed_delays_make_new_queues_and_what_waits_in_the_old_ones_comes_back(self):
        self.declare_work_queue()
        app, daemon = self.fail_once("retry: {quick: none, delays: [3s], jitter: 0%, spread: 1}")
        policy = pathlib.Path(daemon.folder, "policy.yaml").read_text(encoding="utf-8")
        self.send(b"old")
        self.wait_for_depth(self.own("delay.3000ms"), 1)
        self.assertEqual(daemon.stop(), 0)
        daemon.write_policy(policy.replace("[3s]", "[200ms]"))
        daemon.start()
        self.send(b"new")
        self.wait_for_success(daemon, 2)
        self.assertEqual([request.body for request in app.requests], [b"old", b"new", b"new", b"old"])
        self.assertEqual([request.attempt for request in app.requests], [1, 1, 2, 2])
        self.assertIn(self.own("delay.200ms"), self.queues())

    def test_what_is_exhausted_goes_to_the_queue_that_the_policy_names(self):
        self.declare_work_queue()
        elsewhere = f"elsewhere.{self.queue}"
        self.serve(lambda request: 500, f'{ONE_RETRY}, to: {{exhausted: {{queue: "{elsewhere}"}}}}')
        self.send(b"m")
        self.wait_for_depth(elsewhere, 1)
        self.assertEqual(self.wire.get(elsewhere).headers["retryd-reason"], "exhausted")
        self.assertEqual(self.wire.depth(self.own("parked")), 0)

    def test_copies_go_to_no_alternate_exchange(self):
        self.declare_work_queue()
        exchange, alternate, stray = (f"{kind}.{self.queue}" for kind in ("ex", "alternate", "stray"))
        self.wire.declare_exchange(alternate, "fanout")
        self.addCleanup(self.wire.delete_exchange, alternate)
        self.wire.declare_exchange(exchange, "direct", arguments=[codec.text("alternate-exchange", alternate)])
        self.addCleanup(self.wire.delete_exchange, exchange)
        self.declare_work_queue(stray)
        self.wire.bind(stray, alternate)
        self.wire.bind(self.queue, exchange, "orange")
        app, _ = self.serve(lambda request: 500, ONE_RETRY)
        self.wire.publish("orange", b"m", exchange=exchange)
        self.wait_for_lot("parked")
        self.assertEqual(self.wire.depth(stray), 0)
        shown = {(request.headers["retryd-exchange"], request.headers["retryd-routing-key"]) for request in app.requests}
        self.assertEqual(shown, {(exchange, "orange")})

    def test_the_longest_name_of_a_work_queue_still_has_all_its_queues(self):
        self.queue = self.queue.ljust(222, "x")  # with the prefix and ".delay.604800000ms.classic" 255 bytes
        self.declare_work_queue()
        retry = "retry: {quick: none, delays: [300ms, 7d], jitter: 0%, spread: 1, queue_type: classic}"
        app, _ = self.serve(lambda request: 500, retry)
        self.send(b"m")
        self.wait_for_depth(self.own("delay.604800000ms.classic"), 1)
        self.assertEqual([request.attempt for request in app.requests], [1, 2])

    def test_names_with_spaces_quotes_and_letters_of_all_kinds_work(self):
        self.queue = f"Bestellungen «{self.token}» 100 % 'neu' ü/#*"
        self.declare_work_queue()
        app, _ = self.serve(lambda request: 500, ONE_RETRY)
        self.send(b"m")
        self.assertEqual(self.wait_for_lot("parked").headers["retryd-queue"], self.queue)


class Refusals(TopologyCase):
    """What `retryd check` says of a policy that the broker could not, or should not, be asked for."""

    def check(self, keys, queue="w", more=""):
        policy = self.folder / "policy.yaml"
        queues = f'{{"{queue}": {{deliver: {{http: "http://127.0.0.1:1/"}}, {keys}}}{more}}}'
        policy.write_text(f'broker: "amqp://127.0.0.1/"\nqueues: {queues}\n', encoding="utf-8")
        command = [os.environ["RETRYD_BIN"], "check", policy]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_refused(self, words, keys, **more):
        code, text = self.check(keys, **more)
        self.assertEqual(code, 1, text)
        for word in words:
            self.assertIn(word, text)

    def test_the_plugin_backend_is_refused_with_what_to_write_instead(self):
        self.assert_refused(["policy.yaml:2:", "plugin is not supported yet", "queues"], "retry: {backend: plugin}")

    def test_delays_that_no_queue_should_have_are_refused(self):
        self.assert_refused(["30d", "7d"], "retry: {delays: [30d]}")
        self.assert_refused(["-5s"], "retry: {delays: [-5s]}")
        self.assert_refused(["49ms", "50ms"], "retry: {delays: [49ms]}")

    def test_a_work_queue_with_the_name_of_anothers_own_queue_is_refused(self):
        other = ', "%s": {deliver: {http: "http://127.0.0.1:1/"}}'
        for kind in ("lane", "parked", "dlq", "delay.1000ms", "hold.15000ms"):
            self.assert_refused([f"retryd.w.{kind}"], "history: 1", more=other % f"retryd.w.{kind}")

    def test_sending_the_exhausted_back_to_where_they_come_from_is_refused(self):
        for name in ("w", "retryd.w.lane", "retryd.w.delay.1000ms"):
            self.assert_refused([name], f"to: {{exhausted: {{queue: {name}}}}}")

    def test_a_name_whose_queues_would_have_names_over_255_bytes_is_refused(self):
        self.assertEqual(self.check("history: 1", queue="w" * 222)[0], 0)
        self.assert_refused(["255"], "history: 1", queue="w" * 223)


class Losses(TopologyCase):
    """Queues that go away under a running daemon."""

    def test_a_missing_work_queue_is_waited_for_and_then_consumed(self):
        app, daemon = self.serve(lambda request: 200)
        self.wait_for_cause(daemon, "queue-missing")
        self.assertTrue(daemon.answers("/readyz"))
        self.assertFalse(daemon.answers("/flowz"))
        self.declare_work_queue()
        self.send(b"m")
        self.wait_for_success(daemon)
        self.wait_for_flow(daemon)

    def test_a_work_queue_that_is_deleted_and_made_again_is_consumed_again(self):
        self.declare_work_queue()
        app, daemon = self.serve(lambda request: 200)
        self.send(b"before")
        self.wait_for_success(daemon)
        self.wire.delete(self.queue)
        self.wait_for_cause(daemon, "queue-missing")
        self.declare_work_queue()
        self.send(b"after")
        self.wait_for_success(daemon, 2)
        self.assertEqual([request.body for request in app.requests], [b"before", b"after"])
        self.wait_for_flow(daemon)

    def test_what_was_at_the_consumer_when_its_work_queue_was_deleted_is_delivered_once(self):
        self.declare_work_queue()
        app, daemon = self.serve(lambda request: Answer(200, wait=1))
        self.send(b"m")
        self.wait_for_requests(app, 1)
        self.wire.delete(self.queue)
        self.declare_work_queue()
        self.wait_for_success(daemon)
        self.send(b"after")
        self.wait_for_success(daemon, 2)
        self.assertEqual([request.body for request in app.requests], [b"m", b"after"])

    def test_a_lane_that_is_deleted_is_made_again_and_consumed(self):
        self.declare_work_queue()
        app, daemon = self.fail_once()
        self.wait_for_consumers(self.own("lane"))
        self.wire.delete(self.own("lane"))
        self.wait_for_consumers(self.own("lane"))
        self.send(b"m")
        self.wait_for_success(daemon)
        self.assertEqual([request.attempt for request in app.requests], [1, 2], daemon.log())

    def test_what_waits_while_work_queue_and_lane_are_deleted_comes_back_all_the_same(self):
        for queue_type in ("quorum", "classic"):
            with self.subTest(queue_type):
                self.queue = f"{queue_type}.{self.queue}"
                self.declare_work_queue()
                app, daemon = self.fail_once(ONE_RETRY.replace("300ms", "6s").replace("spread: 1", f"spread: 1, queue_type: {queue_type}"))
                for number in range(10):
                    self.send(b"%d" % number)
                self.wait_for_depth(self.own("delay.6000ms" + (".classic" if queue_type == "classic" else "")), 10)
                self.wire.delete(self.queue)
                self.wire.delete(self.own("lane"))
                self.wait_for_consumers(self.own("lane"))
                self.wait_for_success(daemon, 10)
                self.assertEqual(sorted((request.body, request.attempt) for request in app.requests),
                                 [(b"%d" % number, attempt) for number in range(10) for attempt in (1, 2)])
                self.wait_for_cause(daemon, "queue-missing")
                self.assertEqual(daemon.stop(), 0)

    def test_a_tier_that_is_deleted_is_made_again_for_the_next_copy(self):
        self.declare_work_queue()
        app, daemon = self.fail_once()
        self.send(b"first")
        self.wait_for_success(daemon, 1)
        self.wire.delete(self.own("delay.300ms"))
        self.send(b"second")
        self.wait_for_success(daemon, 2)
        self.assertEqual([request.body for request in app.requests], [b"first", b"first", b"second", b"second"])
        self.assertIn('"event":"returned"', daemon.log())

    def assert_lot_is_made_again(self, lot, status):
        self.declare_work_queue()
        self.serve(lambda request: status, "retry: {quick: none, delays: none}")
        self.wire.delete(self.own(lot))
        self.send(b"m")
        eventually(lambda: self.wire.depth(self.own(lot)) == 1, what=f"the message in a new {lot}")
        self.wait_for_depth(self.queue, 0)

    def test_a_parking_lot_that_is_deleted_is_made_again_for_the_next_message(self):
        self.assert_lot_is_made_again("parked", 500)

    def test_a_dead_letter_lot_that_is_deleted_is_made_again_for_the_next_message(self):
        self.assert_lot_is_made_again("dlq", 422)

    def test_a_copy_whose_queue_cannot_be_made_stays_in_hand_by_name_and_goes_back_at_the_end(self):
        self.declare_work_queue()
        retry = "retry: {quick: none, delays: none}"
        _, daemon = self.serve(lambda request: 500, f"{retry}, to: {{exhausted: {{queue: amq.reserved}}}}")
        self.send(b"m")
        self.wait_for_cause(daemon, "unroutable")
        self.assertEqual(daemon.queue_status(self.queue)["in_hand"], 1)
        self.assertEqual(daemon.stop(), 0)
        self.wait_for_depth(self.queue, 1)
