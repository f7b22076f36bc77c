"""What the watchdog sees and heals only after minutes, with the broker's and retryd's own times."""

import os
import signal
import time

from amqp_codec import boolean, text
from amqp_wire import Wire
from integration_case import rabbitmqctl
from retryd import eventually
from watchdog_case import WatchdogCase, once_failing


class Queues(WatchdogCase):
    def test_a_standby_behind_a_single_active_consumer_is_left_in_peace_after_a_try(self):
        self.wire.delete(self.queue)
        self.declare_work_queue(arguments=[boolean("x-single-active-consumer", True)])
        with Wire() as active:
            active.consume(self.queue, prefetch=1)
            app = self.consumer()
            daemon = self.daemon_for(app)
            self.publish(b"1", b"2", b"3")
            eventually(lambda: "subscription_renewed" in daemon.log(), 60, "a renewed subscription")
            self.wait_for_flow(daemon, 60)
        self.pid = daemon.pid
        self.wait_for_requests(app, 3)
        self.check_healed(daemon, app, "subscription-lost")

    def test_a_delay_queue_that_somebody_declared_without_an_end(self):
        app = self.consumer(once_failing)
        self.wire.declare(self.own("delay.200ms"), [text("x-queue-type", "quorum")])
        daemon = self.daemon_for(app)
        self.publish(b"1")
        self.wait_until_named(daemon, "broker-dead-letter-wait", timeout=120, detail="keeps messages beyond their time")
        self.wire.get(self.own("delay.200ms"))
        self.wire.delete(self.own("delay.200ms"))
        self.check_healed(daemon, app, "broker-dead-letter-wait")

    def test_what_expired_while_the_lane_was_away_comes_back_in_the_brokers_own_time(self):
        app = self.consumer(once_failing)
        daemon = self.daemon_for(app, delays="5s")
        bodies = [b"%d" % n for n in range(100)]
        self.publish(*bodies)
        self.wait_for_depth(self.own("delay.5000ms"), 100)
        daemon.kill()
        self.wire.delete(self.own("lane"))
        self.wait_for_depth(self.own("delay.5000ms"), 0)
        daemon.start()
        self.wait_until_named(daemon, "broker-dead-letter-wait", detail="three minutes")
        begin = time.monotonic()
        self.wait_for_requests(app, 200, 240)
        print(f"a hundred messages were back {time.monotonic() - begin:.0f} s after the lane's return")
        self.assertEqual({request.body for request in app.requests if request.attempt == 2}, set(bodies))
        self.check_healed(daemon, app, "broker-dead-letter-wait", 240)


class Brokers(WatchdogCase):
    def test_twenty_daemons_do_not_come_back_in_step(self):
        """Down for a minute: the waits grow to five seconds, by chance, and nobody hammers."""
        proxies = [self.proxy() for _ in range(20)]
        apps = [self.consumer() for _ in range(20)]
        daemons = [self.daemon_for(app, proxy.url) for app, proxy in zip(apps, proxies)]
        for proxy in proxies:
            proxy.refuse()
            proxy.cut()
        times = []
        begin = time.monotonic()
        before = sum(proxy.connects for proxy in proxies)
        while time.monotonic() < begin + 60:
            time.sleep(0.1)
            now = sum(proxy.connects for proxy in proxies)
            times.append(now - before)
            before = now
        print(f"{sum(times)} attempts of 40 links in a minute, at most {max(times[100:])} in a tenth of a second after the first ten")
        self.assertLess(sum(times), 40 * 40)
        self.assertLess(max(times[100:]), 20)
        for proxy in proxies:
            proxy.accept()
        for daemon in daemons:
            self.wait_for_flow(daemon, 30)

    def test_a_broker_that_is_frozen_for_half_a_minute(self):
        app = self.consumer(once_failing)
        daemon = self.daemon_for(app, heartbeat="5s")
        bodies = [b"%d" % n for n in range(200)]
        self.publish(*bodies)
        pid = int(rabbitmqctl("eval", "list_to_integer(os:getpid()).").strip())
        os.kill(pid, signal.SIGSTOP)
        self.addCleanup(os.kill, pid, signal.SIGCONT)
        eventually(lambda: daemon.causes(self.queue), 30, "a cause")
        self.pid = daemon.pid
        time.sleep(30)
        self.assertFalse(daemon.answers("/flowz"))
        self.assertTrue(daemon.answers("/livez"))
        os.kill(pid, signal.SIGCONT)
        self.wire.__init__()
        self.wait_for_nothing_left(120)
        self.check_healed(daemon, app, "broker-down", 120)
        self.assertEqual({request.body for request in app.requests} - {b"afterwards"}, set(bodies))
