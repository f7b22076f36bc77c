"""What retryd says of itself: why a queue does not flow, why a message is where it is, and a log that can be read at night."""

import json
import os
import re
import subprocess

from consumer import HANG, Answer
from integration_case import IntegrationCase
from retryd import die_with_parent, eventually

ONE_LONG_DELAY = "retry: {quick: none, delays: [1h], jitter: 0%, spread: 1}"
NO_RETRY = "retry: {quick: none, delays: []}"


class Explain(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue()

    def retryctl(self, daemon, *arguments):
        return subprocess.run([os.environ["RETRYCTL_BIN"], "--admin", daemon.admin, *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=30)

    def said(self, daemon, *arguments):
        """What it prints, as one line; no line of it is wider than a terminal unless one word is."""
        answer = self.retryctl(daemon, *arguments)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""), answer)
        for line in answer.stdout.splitlines():
            self.assertTrue(len(line) <= 100 or " " not in line.strip(), line)
        return " ".join(answer.stdout.split())

    def why(self, daemon, message_id):
        return json.loads(self.retryctl(daemon, "--json", "why", message_id).stdout)

    def wait_for_decision(self, daemon, message_id, kind):
        eventually(lambda: [one for one in self.why(daemon, message_id)["decisions"] if one["kind"] == kind], what=kind)

    def events(self, daemon, name):
        lines = [json.loads(line) for line in daemon.log().splitlines() if line.startswith("{")]
        return [line for line in lines if line["event"] == name]


class WhyNot(Explain):
    def test_a_consumer_that_is_away(self):
        app, daemon = self.serve(lambda request: 200)
        self.wait_for_flow(daemon)
        app.stop()
        self.send(b"x")  # an idle consumer is not missed
        self.wait_for_cause(daemon, "consumer-away")
        said = self.said(daemon, "why-not", self.queue)
        self.assertIn(f"{self.queue} does not flow.", said)
        self.assertRegex(said, r"consumer-away, since \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ \(\d+ m?s\) Nobody takes deliveries: connect unix:")
        self.assertIn("What heals it: Start the consumer.", said)
        value = json.loads(self.retryctl(daemon, "why-not", self.queue, "--json").stdout)
        self.assertEqual((value["flows"], value["causes"][0]["cause"]), (False, "consumer-away"))

    def test_a_queue_that_flows_and_one_that_is_busy(self):
        app, daemon = self.serve(lambda request: Answer(200, wait=0.3) if request.body == b"slow" else 200, concurrency=1)
        self.assertIn("flows; nothing is there to be delivered. 0 of 1 slots in use, 0 messages ready in hand", self.said(daemon, "why-not", self.queue))
        self.send(b"quick")
        self.wait_for_requests(app, 1)
        for _ in range(20):
            self.send(b"slow")
        eventually(lambda: "busy" in self.said(daemon, "why-not", self.queue), what="busy")
        said = self.said(daemon, "why-not", self.queue)
        self.assertIn("flows, but slower than it could.", said)
        self.assertIn("for one of the 1 slots, all of which are in use", said)

    def test_a_queue_that_the_policy_does_not_have(self):
        _, daemon = self.serve(lambda request: 200)
        answer = self.retryctl(daemon, "why-not", "nowhere")
        self.assertEqual((answer.returncode, answer.stdout), (1, ""))
        self.assertIn(f"the policy has no such queue; it has {self.queue}", answer.stderr)


class Why(Explain):
    def test_a_message_that_waits_for_its_next_try(self):
        _, daemon = self.serve(lambda request: Answer(503, {"Retryd-Error-Type": "DbTimeout"}), ONE_LONG_DELAY)
        self.send(b"x", message_id="m-1")
        self.wait_for_decision(daemon, "m-1", "retry")
        self.wait_for_depth(self.own("delay.3600000ms"), 1)
        eventually(lambda: not self.why(daemon, "m-1")["in_hand"], what="the copy's confirm")
        said = self.said(daemon, "why", "m-1")
        self.assertRegex(said, rf"^It waits in {re.escape(self.own('delay.3600000ms'))} until [0-9: -]+Z \(59 min more\)")
        self.assertIn("transient (DbTimeout", said)
        self.assertIn("1 attempt had failed.", said)

    def test_a_message_that_was_parked_and_one_that_was_done_after_a_failure(self):
        app, daemon = self.serve(lambda request: 500, NO_RETRY)
        self.send(b"x", message_id="m-2")
        self.wait_for_decision(daemon, "m-2", "lot")
        eventually(lambda: not self.why(daemon, "m-2")["in_hand"], what="the copy's confirm")
        said = self.said(daemon, "why", "m-2")
        self.assertIn(f"It lies in {self.own('parked')} until somebody takes it out.", said)
        self.assertIn(f"rabbitmqadmin get queue={self.own('parked')}", said)
        self.assertIn("reason exhausted", said)

    def test_a_message_that_succeeded_late_and_one_that_succeeded_at_once(self):
        app, daemon = self.serve(lambda request: 503 if request.attempt == 1 and request.body == b"late" else 200,
                                 "retry: {quick: none, delays: [100ms]}")
        self.send(b"late", message_id="m-late")
        self.send(b"once", message_id="m-once")
        self.wait_for_decision(daemon, "m-late", "done")
        self.assertIn("It is done: nothing of it is left on the broker.", self.said(daemon, "why", "m-late"))
        said = self.said(daemon, "why", "m-once")
        self.assertIn("retryd knows nothing of m-once", said)
        self.assertIn("RabbitMQ can't be asked for one message.", said)

    def test_a_message_at_the_consumer(self):
        app, daemon = self.serve(lambda request: HANG)
        self.send(b"x", message_id="a b/c?d&e")
        self.wait_for_requests(app, 1)
        said = self.said(daemon, "why", "a b/c?d&e")
        self.assertRegex(said, r"It is in hand, from the queue .*: it has been at the consumer for .* \(attempt 1 of 9\)")


class Top(Explain):
    def test_it_prints_a_line_each_second_until_retryd_is_gone(self):
        app, daemon = self.serve(lambda request: 200)
        process = subprocess.Popen([os.environ["RETRYCTL_BIN"], "--admin", daemon.admin, "top"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        self.addCleanup(process.kill)
        for _ in range(50):
            self.send(b"x")
        self.wait_for_requests(app, 50)
        lines = [process.stdout.readline() for _ in range(2)]
        for line in lines:
            self.assertRegex(line, rf"Z {re.escape(self.queue)} \S+ done/s=\d+ fail/s=0 held/s=0 flight=\d+/4 work=")
        daemon.stop()
        _, complaint = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 1)
        self.assertIn("cannot reach retryd", complaint)


class Log(Explain):
    def test_of_equal_retries_one_is_written_and_the_rest_summed_up(self):
        app, daemon = self.serve(lambda request: Answer(503, {"Retryd-Error-Type": "DbTimeout"}), ONE_LONG_DELAY)
        for number in range(30):
            self.send(b"x", message_id=f"m-{number}")
        self.wait_for_requests(app, 30)
        self.wait_for_depth(self.own("delay.3600000ms"), 30)
        self.assertEqual(len(self.events(daemon, "retry")), 1)
        retry = self.events(daemon, "retry")[0]
        self.assertEqual((retry["queue"], retry["error_type"], retry["attempts"], retry["wait_ms"]), (self.queue, "DbTimeout", "1", "3600000"))
        eventually(lambda: self.events(daemon, "retries_summed_up"), 15, "the sum")
        summed = self.events(daemon, "retries_summed_up")
        self.assertEqual([(line["lines"], line["kinds"]) for line in summed], [("29", "1")])
        self.assertTrue(summed[0]["most"].startswith(f"29 x {self.queue} retry DbTimeout "), summed)

    def test_each_park_has_a_line_and_success_has_none(self):
        app, daemon = self.serve(lambda request: 422 if request.body == b"bad" else 200, NO_RETRY)
        for number in range(5):
            self.send(b"bad", message_id=f"bad-{number}")
            self.send(b"good", message_id=f"good-{number}")
        self.wait_for_requests(app, 10)
        self.wait_for_depth(self.own("dlq"), 5)
        self.assertEqual(sorted(line["id"] for line in self.events(daemon, "parked")), [f"bad-{number}" for number in range(5)])
        self.assertNotIn("good-", daemon.log())

    def test_hostile_texts_forge_no_line(self):
        forged = '{"ts":"2026-01-01T00:00:00.000Z","level":"info","event":"forged"}'
        app, daemon = self.serve(lambda request: Answer(422, {"Retryd-Error-Message": "x%0A" + forged}), NO_RETRY)
        self.send(b"x", message_id="a\n" + forged)
        self.wait_for_depth(self.own("dlq"), 1)
        self.assertEqual(len(self.events(daemon, "parked")), 1)
        self.assertEqual(self.events(daemon, "forged"), [])
