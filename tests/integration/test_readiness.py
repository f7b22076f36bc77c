"""The standing gate and the slow start: a consumer that is up but not ready gets nothing, one that has just come is loaded step by
step, and nobody is charged for it."""

import json
import os
import subprocess
import time

from amqp_codec import encode_properties
from consumer import CLOSE, HANG, Answer
from integration_case import IntegrationCase
from retryd import eventually

GATE = "{path: /healthz, every: 100ms}"


class Readiness(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue()
        self.health = 200
        self.work = lambda request: 200

    def app(self, tcp=False):
        """A consumer that answers self.health on its page, and by self.work to messages."""
        def reply(request):
            if request.method == "GET":
                return self.health() if callable(self.health) else self.health
            return self.work(request)

        return self.consumer(reply, tcp)

    def daemon_for(self, app, deliver=f"ready: {GATE}", concurrency=4):
        return self.retryd(f'queues: {{"@QUEUE@": {{deliver: {{http: "{app.url}", concurrency: {concurrency}, {deliver}}}}}}}')

    def publish(self, count):
        properties = encode_properties(delivery_mode=2)
        self.wire.publish_all(self.queue, [(properties, b"%d" % n) for n in range(count)])

    @staticmethod
    def messages(app):
        return [request for request in app.requests if request.method == "POST"]

    def wait_for_not_ready(self, daemon, why):
        def told():
            stalls = daemon.queue_status(self.queue)["stalls"]
            return any(stall["cause"] == "consumer-not-ready" and why in stall["detail"] for stall in stalls)

        eventually(told, what=f"not ready: {why}")

    def assert_each_came_once_on_its_first_attempt(self, app, count):
        self.assertEqual(sorted(int(request.body) for request in self.messages(app)), list(range(count)))
        self.assertEqual({request.attempt for request in self.messages(app)}, {1})


class Gate(Readiness):
    def test_up_but_not_ready_gets_nothing_and_everything_when_it_is_ready(self):
        self.health = 503
        self.work = lambda request: 500
        app = self.app()
        self.publish(20)
        daemon = self.daemon_for(app)
        self.wait_for_not_ready(daemon, "GET /healthz: status 503")
        self.assert_no_busy_loop(daemon)
        self.assertEqual((self.messages(app), self.wire.depth(self.queue)), ([], 20))
        self.assertEqual((200, 200, 503), tuple(daemon.get(page)[0] for page in ("/livez", "/readyz", "/flowz")))
        self.check_explanations(daemon)
        self.work = lambda request: 200
        self.health = 200
        self.wait_for_nothing_left()
        self.wait_for_flow(daemon)
        self.assertEqual(daemon.metrics()[self.stall("consumer-not-ready")], 0)
        self.assert_each_came_once_on_its_first_attempt(app, 20)

    def stall(self, cause):
        return f'retryd_stall{{queue="{self.queue}",cause="{cause}"}}'

    def check_explanations(self, daemon):
        self.assertIn("consumer-not-ready", daemon.get("/flowz")[1])
        self.assertEqual(daemon.metrics()[self.stall("consumer-not-ready")], 1)
        self.assertEqual(daemon.metrics()[self.stall("consumer-away")], 0)
        self.assertEqual(daemon.queue_status(self.queue)["state"], "consumer-not-ready")
        said = {command: self.retryctl(daemon, command) for command in ("status", f"why-not {self.queue}")}
        for text in said.values():
            self.assertIn("consumer-not-ready", text)
            self.assertIn("GET /healthz: status 503", text)
        self.assertIn("says that it is not ready", said[f"why-not {self.queue}"])

    @staticmethod
    def retryctl(daemon, command):
        answer = subprocess.run([os.environ["RETRYCTL_BIN"], "--admin", daemon.admin, *command.split()],
                                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=True)
        return " ".join(answer.stdout.split())

    def check_not_ready_in_the_middle_of_load(self, tcp):
        self.work = lambda request: Answer(200, wait=1)
        app = self.app(tcp)
        self.publish(24)
        daemon = self.daemon_for(app)
        eventually(lambda: len(self.messages(app)) > 4, what="the second round")
        self.health = 503
        self.wait_for_cause(daemon, "consumer-not-ready")
        self.assertGreater(daemon.queue_status(self.queue)["in_flight"], 0)
        begun = len(self.messages(app))
        self.assertLess(begun, 24)
        eventually(lambda: daemon.queue_status(self.queue)["in_flight"] == 0, what="the end of what was at the consumer")
        time.sleep(0.5)  # a while in which nothing may come
        self.assertEqual(len(self.messages(app)), begun)
        self.assertEqual(daemon.deliveries(self.queue), {"success": begun})
        self.health = 200
        self.wait_for_nothing_left()
        self.assertEqual(daemon.deliveries(self.queue), {"success": 24})
        self.assert_each_came_once_on_its_first_attempt(app, 24)

    def test_not_ready_in_the_middle_of_load_finishes_what_it_has_and_gets_no_more(self):
        self.check_not_ready_in_the_middle_of_load(tcp=False)

    def test_not_ready_in_the_middle_of_load_over_tcp(self):
        self.check_not_ready_in_the_middle_of_load(tcp=True)

    def test_a_start_with_404_and_503_to_everything_costs_nothing(self):
        self.health = 404
        self.work = lambda request: self.health
        app = self.app()
        self.publish(10)
        daemon = self.daemon_for(app)
        self.wait_for_not_ready(daemon, "status 404")
        self.health = 503
        self.wait_for_not_ready(daemon, "status 503")
        self.health = 204
        self.wait_for_nothing_left()
        self.assert_each_came_once_on_its_first_attempt(app, 10)

    def test_whatever_is_no_2xx_is_a_no(self):
        """A redirect is not followed; garbage, a cut and an endless reply are no answers."""
        self.health = 404
        app = self.app()
        daemon = self.daemon_for(app)
        self.publish(1)
        for health, why in (
                (404, "status 404"), (Answer(302, {"Location": "/ready"}), "status 302"), (401, "status 401"),
                (Answer(raw=b"SSH-2.0-OpenSSH_9.2\r\n"), "bad reply"), (Answer(raw=b"\0" * 1000), "bad reply"), (CLOSE, "GET /healthz: "),
                (Answer(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", close=True), "GET /healthz: ")):
            self.health = 404
            self.wait_for_not_ready(daemon, "status 404")
            self.health = health
            self.wait_for_not_ready(daemon, why)
        self.assertEqual((self.messages(app), {request.target for request in app.requests}), ([], {"/healthz"}))
        self.health = 200
        self.wait_for_nothing_left()

    def test_a_page_that_hangs_is_a_no_and_its_late_answer_is_nothing(self):
        app = self.app()
        self.publish(1)
        self.health = HANG
        daemon = self.daemon_for(app)
        self.wait_for_not_ready(daemon, "no answer in 5 s")
        self.assertLessEqual(len(app.connections), 1)
        self.assertEqual(self.messages(app), [])
        self.health = 200
        self.wait_for_nothing_left(timeout=25)

    def test_one_bad_answer_among_good_ones_is_passed_over_where_the_policy_says_so(self):
        self.work = lambda request: Answer(200, wait=0.02)
        app = self.app()
        daemon = self.daemon_for(app, "ready: {path: /healthz, every: 100ms, down_after: 3, up_after: 3}")
        self.publish(200)
        self.wait_for_requests(app, 20)
        answers = [503, 200, 503, 503, 200, 503]
        self.health = lambda: answers.pop() if answers else 200
        eventually(lambda: not answers, what="the questions")
        self.assertNotIn("consumer_not_ready", daemon.log())
        self.health = 503
        self.wait_for_cause(daemon, "consumer-not-ready")
        self.health = 200
        self.wait_for_nothing_left()
        self.assert_each_came_once_on_its_first_attempt(app, 200)

    def test_a_misconfigured_consumer_is_tried_only_while_its_page_says_that_it_is_ready(self):
        self.work = lambda request: 401
        app = self.app()
        self.publish(3)
        daemon = self.daemon_for(app)
        self.wait_for_cause(daemon, "consumer-misconfigured")
        self.health = 503  # it is being put right
        self.wait_for_not_ready(daemon, "status 503")
        self.work = lambda request: 503
        time.sleep(1)  # a while in which nothing may come
        self.work = lambda request: 200
        self.health = 200
        self.wait_for_nothing_left()
        self.assertEqual({request.attempt for request in self.messages(app)}, {1})
        self.assertEqual(set(daemon.deliveries(self.queue)), {"endpoint", "success"})

    def test_a_drain_while_it_is_not_ready_gives_back_what_is_in_hand(self):
        self.work = lambda request: Answer(200, wait=0.1)
        app = self.app()
        self.publish(200)
        daemon = self.daemon_for(app)
        self.wait_for_requests(app, 12)
        self.health = 503
        self.wait_for_cause(daemon, "consumer-not-ready")
        eventually(lambda: daemon.queue_status(self.queue)["in_flight"] == 0, what="the end of what was at the consumer")
        done = len(self.messages(app))
        self.assertGreater(daemon.queue_status(self.queue)["in_hand"], 0)
        self.assertEqual(daemon.stop(timeout=5), 0)
        self.wait_for_depth(self.queue, 200 - done)
        self.health = 200
        daemon.start()
        self.wait_for_nothing_left()
        self.assert_each_came_once_on_its_first_attempt(app, 200)

    def test_away_not_ready_and_back(self):
        app = self.app()
        daemon = self.daemon_for(app)
        self.wait_for_flow(daemon)
        app.stop()
        self.wait_for_cause(daemon, "consumer-away")
        self.publish(10)
        self.health = 503
        app.start()
        self.wait_for_not_ready(daemon, "status 503")
        self.assertNotIn("consumer-away", daemon.causes(self.queue))
        self.health = 200
        self.wait_for_nothing_left()
        self.assert_each_came_once_on_its_first_attempt(app, 10)
        events = [json.loads(line)["event"] for line in daemon.log().splitlines()]
        changes = [event for event in events if event.startswith("consumer_")]
        self.assertEqual(changes, ["consumer_present", "consumer_away", "consumer_not_ready", "consumer_present"])


class SlowStart(Readiness):
    def setUp(self):
        super().setUp()
        self.status = 200
        self.at_once = 0
        self.course = []  # how many were at the consumer when each message came, itself among them
        self.work = self.count_in

    def count_in(self, _request):
        self.at_once += 1
        self.course.append(self.at_once)
        return Answer(self.status, wait=0.3, before=self.count_out)

    def count_out(self):
        self.at_once -= 1

    def check_rounds(self, course):
        """1, 2, 4, 8: each round that succeeded doubles what may be there at once."""
        for before, limit in ((2, 1), (5, 2), (11, 4)):
            self.assertLessEqual(max(course[:before]), limit, course)
        self.assertEqual(max(course), 8)

    def test_the_load_doubles_with_each_round_that_succeeds_at_the_start_and_after_an_absence(self):
        app = self.app()
        self.publish(40)
        daemon = self.daemon_for(app, "slow_start: 30s", concurrency=8)
        self.wait_for_requests(app, 2)
        said = json.loads(self.why_not(daemon))
        self.assertEqual((said["flows"], said["causes"][0]["cause"]), (True, "slow-start"))
        self.wait_for_nothing_left()
        self.check_rounds(self.course)
        app.stop()
        self.at_once, self.course = 0, []
        self.publish(40)
        self.wait_for_cause(daemon, "consumer-away")
        app.start()
        self.wait_for_nothing_left()
        self.check_rounds(self.course)

    def why_not(self, daemon):
        return subprocess.run([os.environ["RETRYCTL_BIN"], "--admin", daemon.admin, "--json", "why-not", self.queue],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=True).stdout

    def test_it_begins_again_when_the_consumer_is_ready_again(self):
        app = self.app()
        self.publish(80)
        daemon = self.daemon_for(app, f"slow_start: 30s, ready: {GATE}", concurrency=8)
        eventually(lambda: 8 in self.course, what="the full load")
        self.health = 503
        self.wait_for_cause(daemon, "consumer-not-ready")
        eventually(lambda: self.at_once == 0, what="the end of what was at the consumer")
        self.course = []
        self.health = 200
        self.wait_for_nothing_left()
        self.check_rounds(self.course)

    def test_failures_open_nothing_but_its_time_ends_it(self):
        self.status = 500
        app = self.app()
        self.publish(60)
        begin = time.monotonic()
        daemon = self.daemon_for(app, "slow_start: 4s", concurrency=8)
        self.wait_for_requests(app, 3)
        self.assertEqual(daemon.queue_status(self.queue)["slots"], 1)
        eventually(lambda: 8 in self.course, what="the full load")
        self.assertGreater(time.monotonic() - begin, 3.5)
        self.assertEqual(daemon.queue_status(self.queue)["slots"], 8)
        early = [at_once for at_once, request in zip(self.course, self.messages(app)) if request.at < begin + 3.5]
        self.assertEqual(set(early), {1})
