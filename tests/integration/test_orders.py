"""The operator's hand: breakers, pauses and throttles by retryctl, what is shown of them, and who did it; and a fallback."""

import json
import os
import subprocess

from guards_case import GuardsCase
from retryd import eventually


class Orders(GuardsCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue()
        self.app = self.consumer()
        self.daemon = self.retryd(f'queues: {{"@QUEUE@": "{self.app.url}"}}', guards=True)
        self.wait_for_flow(self.daemon)
        self.name = f"queue:{self.queue}"

    def retryctl(self, *arguments):
        return subprocess.run([os.environ["RETRYCTL_BIN"], "--admin", self.daemon.admin, *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=30)

    def said(self, *arguments):
        answer = self.retryctl(*arguments)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""), answer)
        return " ".join(answer.stdout.split())

    def logged(self):
        lines = [json.loads(line) for line in self.daemon.log().splitlines() if line.startswith("{")]
        return [line for line in lines if line["event"] == "operator_order"]

    def me(self):
        return f"uid {os.getuid()}"

    def test_the_breakers_are_shown_with_why(self):
        said = self.said("breakers")
        self.assertIn(self.name, said)
        self.assertIn("no calls in 30 s; it opens at 90 % of at least 20, or after 10 in a row", said)
        names = {breaker["name"] for breaker in json.loads(self.retryctl("--json", "breakers").stdout)["breakers"]}
        self.assertEqual(names, {self.name, f"bad-deploy:{self.queue}", f"last-tries:{self.queue}"})

    def test_a_breaker_is_opened_for_a_while_and_probes_close_it(self):
        self.assertIn("forced-open", self.said("breaker", "open", self.name, "--for", "2s"))
        self.send(b"waits")
        self.assertEqual(self.daemon.causes(self.queue), ["breaker-open"])
        self.assertIn(f"by {self.me()}", self.said("status"))
        self.wait_for_requests(self.app, 1)  # the probe
        for number in range(5):
            self.send(b"%d" % number)
        eventually(lambda: self.breaker(self.daemon, self.name)["state"] == "closed", what="its closing")
        self.wait_for_nothing_left()
        (line,) = self.logged()
        self.assertEqual((line["breaker"], line["order"], line["by"], line["for_ms"]), (self.name, "open", self.me(), "2000"))

    def test_an_open_one_stays_until_it_is_reset(self):
        self.said("breaker", "open", self.name)
        self.send(b"waits")
        self.assertIn("until an operator says otherwise", self.said("breakers"))
        self.assertEqual(self.app.requests, [])
        self.assertIn("closed", self.said("breaker", "reset", self.name))
        self.wait_for_requests(self.app, 1)
        self.assertIn("forced-closed", self.said("breaker", "close", self.name))
        self.assertIn("disabled", self.said("breaker", "disable", self.name))
        self.assertEqual([line["order"] for line in self.logged()], ["open", "reset", "close", "disable"])

    def test_a_queue_is_paused_and_resumed(self):
        self.assertIn(f"{self.queue} is paused by {self.me()}", self.said("pause", self.queue))
        self.wait_for_cause(self.daemon, "paused")
        self.send(b"waits")
        self.assertIn("paused for", self.said("status"))
        self.assertIn("retryctl resume", self.said("why-not", self.queue))
        eventually(lambda: self.wire.depth(self.queue) == 1, what="the message in its queue")
        self.assertEqual(self.app.requests, [])
        self.assertIn("neither paused nor throttled", self.said("resume", self.queue))
        self.wait_for_requests(self.app, 1)
        self.wait_for_flow(self.daemon)

    def test_a_lane_is_throttled(self):
        self.assertIn("20 % of its normal rate", self.said("throttle", self.queue, "--retries", "20%"))
        self.assertIn(f"by {self.me()}", self.said("status"))
        self.assertEqual(self.daemon.queue_status(self.queue)["throttled_to"], 0.2)
        self.said("resume", self.queue)
        self.assertEqual(self.daemon.queue_status(self.queue)["throttled_by"], "")

    def test_what_is_no_order_changes_nothing(self):
        for code, *words in (
            (1, "breaker", "open", "nobody"), (1, "pause", "nobody"), (2, "breaker", "explode", self.name), (2, "breaker", "open"),
            (2, "breaker", "reset", self.name, "--for", "1m"), (2, "pause", self.queue, "--for", "1m"), (2, "throttle", self.queue),
            (2, "throttle", self.queue, "--retries", "0%"), (2, "breaker", "open", self.name, "--for", "soon"),
            (2, "breaker", "open", self.name, "--for", "0s"), (2, "breaker", "open", self.name, "--for", "400d"), (2, "pause")):
            with self.subTest(words):
                answer = self.retryctl(*words)
                self.assertEqual((answer.returncode, answer.stdout), (code, ""), answer)
                self.assertTrue(answer.stderr.startswith("retryctl: "), answer)
        self.assertIn(f"there are {self.name}", self.retryctl("breaker", "open", "nobody").stderr)
        self.assertEqual(self.logged(), [])
        self.assertEqual(self.daemon.causes(self.queue), [])


class Fallback(GuardsCase):
    def test_it_takes_what_needs_a_dependency_that_is_left_alone(self):
        self.declare_work_queue()
        app, other = self.consumer(lambda request: 500), self.consumer()
        daemon = self.retryd(f"""
dependencies: {{db: {{on_open: fallback, fallback: ["{other.url}"]}}}}
queues: {{"@QUEUE@": {{deliver: {{http: "{app.url}"}}, needs: [db]}}}}
""", guards=True)
        self.send_many(self.queue, 200)
        self.wait_for_requests(other, 150)
        self.assertEqual({request.headers["retryd-fallback-for"] for request in other.requests}, {"db"})
        self.wait_for_nothing_left(60)
        self.assertEqual(daemon.deliveries(self.queue)["success"], 200)
        self.assertLess(len(app.requests), 50)
