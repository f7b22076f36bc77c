"""The broker killed again and again, its disk full for a minute, away for minutes, and a lane that is missing while messages expire."""

import collections
import random
import time

from amqp_codec import quorum
from broker_states import crash_broker, disk_alarm, memory_alarm, queues_without_leader, restart_broker
from consumer import Answer
from integration_case import rabbitmqctl
from retryd import eventually
from soak_case import SoakCase, scaled

POLICY = """
broker: {uri: "@AMQP@", heartbeat: 2s, connect_timeout: 3s, confirm_timeout: 5s}
queues:
  "@QUEUE@":
    deliver: {http: "%s", timeout: 20s, concurrency: 8}
    retry: {quick: none, delays: [%s], jitter: 0%%, spread: 1}
"""
PAGES = ("/livez", "/readyz", "/flowz")


class Broker(SoakCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue(arguments=quorum())

    def start(self, reply, delays="300ms", amqp=None):
        app = self.consumer(reply)
        return app, self.retryd(POLICY % (app.url, delays), amqp)

    def pages(self, daemon):
        return tuple(daemon.get(page)[0] for page in PAGES)

    def restart_while_a_queue_has_no_leader(self):
        """A queue without a leader is the broker's own fault (docs/limits.md). How often it was restarted for that."""
        restarts = 0
        while not self.all_queues_have_a_leader():
            self.assertLess(restarts, 5)
            restart_broker()
            restarts += 1
        return restarts

    def all_queues_have_a_leader(self, seconds=10):
        end = time.monotonic() + seconds
        while queues_without_leader():
            if time.monotonic() > end:
                return False
            time.sleep(0.2)
        return True

    def test_killed_at_random_in_the_middle_of_failures_it_loses_nothing(self):
        kills, batch = scaled(25, 2), 200
        chance = random.Random(93)
        app, daemon = self.start(lambda request: Answer(503 if request.seen == 0 and int(request.body) % 2 else 200, wait=0.01))
        restarts = 0
        for kill in range(kills):
            done = len(app.requests)
            self.publish_numbers(range(kill * batch, (kill + 1) * batch))
            self.wait_for_requests(app, done + chance.randrange(1, batch), 60)
            crash_broker()
            restarts += self.restart_while_a_queue_has_no_leader()
            self.reconnect()
        self.wait_for_nothing_left()
        self.wait_for_flow(daemon, 60)
        count = kills * batch
        times = collections.Counter(int(request.body) for request in app.requests)
        self.assertEqual(set(times), set(range(count)))
        self.figure("kills", kills)
        self.figure("restarts because the broker had left a queue without a leader", restarts)
        self.figure("messages", count)
        self.figure("delivered more often than they failed", sum(times[n] - 1 - n % 2 for n in range(count)))
        self.assertLessEqual({request.attempt for request in app.requests}, {1, 2})
        self.assertEqual({request.headers["idempotency-key"] for request in app.requests}, {f"m-{n}" for n in range(count)})

    def check_ten_thousand_in_the_rungs(self, restart):
        count = scaled(10_000, 300)
        self.publish_numbers(range(count))
        app = self.consumer(lambda request: 503 if request.seen == 0 else 200)
        daemon = self.retryd(POLICY.replace("jitter: 0%%, spread: 1", "jitter: 20%%, spread: 4") % (app.url, "4m"))
        eventually(lambda: daemon.deliveries(self.queue).get("transient") == count, 180, "all of them failed once")
        eventually(lambda: daemon.queue_status(self.queue)["in_hand"] == 0, 60, "all of them in the rungs")
        self.assertEqual(len(app.requests), count)
        restart()
        begin = time.monotonic()
        self.reconnect()
        eventually(lambda: daemon.metrics()["retryd_broker_connected"] == 1, 30, "both links")
        self.figure("seconds until both links were up again", time.monotonic() - begin)
        self.wait_for_requests(app, 2 * count, 600)
        self.wait_for_nothing_left()
        self.figure("messages that came back", len(app.requests) - count)
        self.assertEqual({int(request.body) for request in app.requests if request.attempt == 2}, set(range(count)))
        self.assertEqual(len(app.requests), 2 * count)

    def test_ten_thousand_messages_in_the_rungs_outlive_a_restart(self):
        self.check_ten_thousand_in_the_rungs(restart_broker)

    def test_ten_thousand_messages_in_the_rungs_outlive_a_kill(self):
        self.check_ten_thousand_in_the_rungs(crash_broker)

    def check_alarm(self, alarm):
        app, daemon = self.start(lambda request: Answer(503 if request.seen == 0 and int(request.body) % 2 else 200, wait=0.01))
        app.stop()
        self.publish_numbers(range(2000))
        self.wait_for_cause(daemon, "consumer-away")
        seconds = scaled(60, 10)
        with alarm():
            app.start()
            self.wait_for_cause(daemon, "publish-blocked", 30)
            answers = self.keep_asking(seconds, lambda: (*self.pages(daemon), daemon.queue_status(self.queue)["in_hand"]))
            self.assertEqual({answer[:3] for answer in answers}, {(200, 200, 503)})
            self.assert_no_busy_loop(daemon)
        begin = time.monotonic()
        self.wait_for_nothing_left()
        self.figure("seconds of alarm", seconds)
        self.figure("most in hand meanwhile", max(answer[3] for answer in answers))
        self.figure("seconds until all was done", time.monotonic() - begin)
        self.assertLessEqual(max(answer[3] for answer in answers), 2 * 128)
        self.assertEqual({int(request.body) for request in app.requests}, set(range(2000)))
        self.assertEqual(len(app.requests), 3000)
        self.assertEqual(daemon.log().count('"publish_blocked"'), 1)

    def test_a_disk_alarm_of_a_minute(self):
        self.check_alarm(disk_alarm)

    def test_a_memory_alarm_of_a_minute(self):
        self.check_alarm(memory_alarm)

    def test_away_for_two_minutes_and_back(self):
        network = self.proxy()
        app, daemon = self.start(lambda request: 503 if request.seen == 0 else 200, "1s", network.url)
        self.publish_numbers(range(100))
        self.wait_for_nothing_left()
        network.refuse()
        network.cut()
        self.wait_for_cause(daemon, "broker-down")
        seconds, used, tries = scaled(120, 10), daemon.cpu_seconds(), network.connects
        self.assertEqual(set(self.keep_asking(seconds, lambda: self.pages(daemon))), {(200, 200, 503)})
        self.figure("seconds away", seconds)
        self.figure("tries to connect", network.connects - tries)
        self.figure("processor time meanwhile", (daemon.cpu_seconds() - used) / seconds * 100, "% of one core")
        self.publish_numbers(range(100, 200))
        network.accept()
        begin = time.monotonic()
        self.wait_for_requests(app, 201, 60)
        self.figure("seconds from its return to the first message", app.requests[200].at - begin)
        self.assertLess(app.requests[200].at - begin, 5 + 3)  # one reconnect backoff, and what a busy machine adds
        self.wait_for_nothing_left()
        self.assertEqual(sorted((int(request.body), request.attempt) for request in app.requests),
                         [(n, attempt) for n in range(200) for attempt in (1, 2)])

    def test_what_expires_while_the_lane_is_missing_comes_back_within_the_three_minutes_that_are_told(self):
        app, daemon = self.start(lambda request: 503 if request.seen == 0 else 200, "2s")
        self.publish_numbers(range(10))
        self.wait_for_depth(self.own("delay.2000ms"), 10)
        self.assertEqual(daemon.stop(), 0)
        self.wire.delete(self.own("lane"))
        self.wait_for_depth(self.own("delay.2000ms"), 0)
        self.assertEqual(len(app.requests), 10)
        daemon.start()
        begin = time.monotonic()
        self.wait_for_requests(app, 20, 240)
        self.figure("seconds from the lane's return to the last message", app.requests[-1].at - begin)
        self.wait_for_nothing_left()
        self.assertEqual(sorted((int(request.body), request.attempt) for request in app.requests),
                         [(n, attempt) for n in range(10) for attempt in (1, 2)])

    def test_what_expires_while_the_lane_is_missing_is_told_by_name_until_it_is_back(self):
        app, daemon = self.start(lambda request: 503 if request.seen == 0 else 200, "2s")
        self.publish_numbers(range(10))
        self.wait_for_depth(self.own("delay.2000ms"), 10)
        self.wire.delete(self.own("lane"))  # retryd makes it again at once
        eventually(lambda: "broker-dead-letter-wait" in daemon.causes(self.queue), 20, "the cause by its name")
        self.wait_for_requests(app, 20, 240)
        self.wait_for_flow(daemon, 240)
        self.wait_for_nothing_left()
