"""How a retryd ends and what is left then: a drain finishes what is at the consumer and returns the rest uncounted, a kill loses
nothing."""

import collections
import json
import os
import signal
import time

from amqp_codec import encode_properties, quorum
from consumer import HANG, Answer
from integration_case import IntegrationCase
from retryd import eventually

POLICY = """
queues:
  "@QUEUE@":
    deliver: {http: "%s", timeout: %s, concurrency: %d}
    retry: {quick: {tries: 1, delay: 20ms}, delays: [100ms, 200ms], jitter: 0%%, spread: 1}
"""


class Lifecycle(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue()

    def daemon_for(self, app, timeout="20s", concurrency=2, arguments=()):
        return self.retryd(POLICY % (app.url, timeout, concurrency), arguments=arguments)

    def publish(self, count):
        messages = [(encode_properties(delivery_mode=2, message_id=f"m-{n}"), b"%d" % n) for n in range(count)]
        self.wire.publish_all(self.queue, messages)

    def wait_for_exit(self, daemon, timeout=60):
        process, daemon.process = daemon.process, None
        return process.wait(timeout)

    def wait_until_draining(self, daemon):
        eventually(lambda: daemon.status()["draining"], what="draining")


class Drain(Lifecycle):
    def check_deliveries_finish(self, number):
        app = self.consumer(lambda request: Answer(200, wait=1))
        daemon = self.daemon_for(app)
        self.publish(10)
        self.wait_for_requests(app, 2)
        daemon.process.send_signal(number)
        self.wait_until_draining(daemon)
        self.assertEqual((200, 503), (daemon.get("/livez")[0], daemon.get("/flowz")[0]))
        self.assertIn("draining", daemon.get("/flowz")[1])
        self.assertEqual(self.wait_for_exit(daemon), 0)
        self.assertEqual(len(app.requests), 2)
        self.wait_for_depth(self.queue, 8)
        daemon.start()
        self.wait_for_nothing_left()
        self.assertEqual(sorted(int(request.body) for request in app.requests), list(range(10)))
        self.assertEqual({request.attempt for request in app.requests}, {1})

    def test_sigterm_lets_deliveries_finish_and_returns_the_rest_uncounted(self):
        self.check_deliveries_finish(signal.SIGTERM)

    def test_sigint_does_the_same(self):
        self.check_deliveries_finish(signal.SIGINT)

    def test_of_a_hundred_that_end_at_once_in_the_drain_none_comes_again(self):
        # In no order, so that each is acked on its own: a broker that is left too soon forgets some of the acks.
        self.queue += ".quorum"
        self.declare_work_queue(arguments=quorum())
        end = time.monotonic() + 4
        app = self.consumer(lambda request: Answer(200, wait=end + (int(request.body) * 37) % 100 / 1e5 - time.monotonic()))
        daemon = self.retryd(f'queues: {{"@QUEUE@": {{deliver: {{http: "{app.url}", concurrency: 100}}}}}}')
        self.publish(100)
        self.wait_for_requests(app, 100)
        self.assertEqual(daemon.stop(), 0)
        time.sleep(0.5)
        self.assertEqual(self.wire.depth(self.queue), 0)

    def test_a_verdict_that_arrives_in_the_drain_is_carried_out(self):
        app = self.consumer(lambda request: Answer(500 if request.body == b"0" else 422, wait=1))
        daemon = self.daemon_for(app)
        self.publish(2)
        self.wait_for_requests(app, 2)
        self.assertEqual(daemon.stop(), 0)
        self.wait_for_depth(self.own("dlq"), 1)
        self.assertEqual(self.wire.depth(self.queue), 0)
        app.reply = lambda request: 200
        daemon.start()
        self.wait_for_requests(app, 3)
        self.assertEqual((app.requests[2].body, app.requests[2].attempt), (b"0", 2))

    def test_what_is_still_at_the_consumer_at_the_end_of_the_drain_is_returned_uncounted(self):
        app = self.consumer(lambda request: HANG)
        daemon = self.daemon_for(app, arguments=("--drain", "300ms"))
        self.publish(5)
        self.wait_for_requests(app, 2)
        self.assertEqual(daemon.stop(), 0)
        self.wait_for_depth(self.queue, 5)
        app.reply = lambda request: 200
        daemon.start()
        self.wait_for_nothing_left()
        self.assertEqual({request.attempt for request in app.requests}, {1})

    def test_a_consumer_that_leaves_first_is_no_failure_of_the_messages(self):
        app = self.consumer(lambda request: Answer(200, wait=0.2))
        daemon = self.daemon_for(app)
        self.publish(10)
        self.wait_for_requests(app, 2)
        app.stop()
        self.assertEqual(daemon.stop(), 0)
        self.assertIsNone(self.wire.get(self.own("parked")))
        app.start()
        daemon.start()
        self.wait_for_nothing_left()
        self.assertEqual({int(request.body) for request in app.requests}, set(range(10)))
        # The two that were at the consumer are lost: the first among others, the second alone, so it may be charged.
        self.assertLessEqual(sum(request.attempt > 1 for request in app.requests), 1)

    def test_a_second_sigterm_ends_at_once(self):
        app = self.consumer(lambda request: HANG)
        daemon = self.daemon_for(app, timeout="5m")
        self.publish(5)
        self.wait_for_requests(app, 2)
        daemon.process.send_signal(signal.SIGTERM)
        self.wait_until_draining(daemon)
        daemon.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.wait_for_exit(daemon, 15), 0)
        self.wait_for_depth(self.queue, 5)

    def test_sigterm_again_and_again_under_load_spends_no_attempt(self):
        app = self.consumer(lambda request: Answer(200, wait=0.005))
        daemon = self.daemon_for(app, concurrency=8)
        self.publish(3000)
        for count in (100, 700, 1300, 2000):
            self.wait_for_requests(app, count)
            self.assertEqual(daemon.stop(), 0, daemon.log())
            daemon.start(wait_ready=False)
            eventually(lambda: daemon.answers("/livez"), what="/livez")  # before main() a signal ends any program
        daemon.wait_ready()
        self.wait_for_nothing_left(60)
        times = collections.Counter(int(request.body) for request in app.requests)
        self.assertEqual(times, {n: 1 for n in range(3000)})
        self.assertEqual({request.attempt for request in app.requests}, {1})


class Signals(Lifecycle):
    def test_sighup_is_answered_in_the_log_and_changes_nothing(self):
        app = self.consumer()
        daemon = self.daemon_for(app)
        daemon.process.send_signal(signal.SIGHUP)
        eventually(lambda: "reload_not_supported" in daemon.log(), what="the answer in the log")
        self.publish(1)
        self.wait_for_requests(app, 1)
        self.assertEqual(daemon.stop(), 0)

    def test_a_log_that_nobody_reads_ends_nothing(self):
        """SIGPIPE: the reader of standard error is gone."""
        app = self.consumer()
        daemon = self.daemon_for(app)
        self.assertEqual(self.ignored_signals(daemon) >> (signal.SIGPIPE - 1) & 1, 1)

    @staticmethod
    def ignored_signals(daemon):
        with open(f"/proc/{daemon.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1], 16) for line in file if line.startswith("SigIgn"))


class Kill(Lifecycle):
    def test_kill_in_the_middle_loses_nothing(self):
        def reply(request):
            number = int(request.body) % 10
            if number == 9:
                return 422
            if number == 8:
                return 500
            return Answer(503 if number == 7 and request.seen == 0 else 200, wait=0.01)

        app = self.consumer(reply)
        daemon = self.daemon_for(app, concurrency=8)
        self.publish(1000)
        for count in (100, 400, 800):
            self.wait_for_requests(app, count)
            daemon.kill()
            daemon.start(wait_ready=False)
        daemon.wait_ready()
        self.wait_for_nothing_left(90, lots=("dlq", "parked"))
        bodies = {lot: {int(message.body) for message in self.wire.get_all(self.own(lot))} for lot in ("dlq", "parked")}
        self.assertEqual(bodies, {"dlq": set(range(9, 1000, 10)), "parked": set(range(8, 1000, 10))})
        self.assertEqual({int(request.body) for request in app.requests}, set(range(1000)))

    def test_it_starts_again_over_the_socket_that_a_killed_one_left(self):
        app = self.consumer()
        daemon = self.daemon_for(app)
        daemon.kill()
        self.assertTrue(os.path.exists(daemon.admin))
        daemon.start()
        self.assertEqual(daemon.queue_status(self.queue)["state"], "flowing")


class Idle(Lifecycle):
    def test_with_nothing_to_do_it_does_nothing(self):
        daemon = self.daemon_for(self.consumer())
        begin, used = time.monotonic(), daemon.cpu_seconds()
        time.sleep(4)
        self.assertLess((daemon.cpu_seconds() - used) / (time.monotonic() - begin), 0.02)

    def test_every_log_line_is_json_with_a_time_a_level_and_an_event(self):
        daemon = self.daemon_for(self.consumer())
        daemon.stop()
        lines = [json.loads(line) for line in daemon.log().splitlines()]
        self.assertIn("stopped", [line["event"] for line in lines])
        for line in lines:
            self.assertLessEqual({"ts", "level", "event"}, line.keys())
