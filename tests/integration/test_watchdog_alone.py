"""What the broker does to its clients, each named everywhere and healed by itself, and how soon it goes on after a restart.
Disturbs the broker, so nothing runs beside it."""

import os
import signal
import time

from amqp_codec import encode_properties
from consumer import Answer
from integration_case import rabbitmqctl
from retryd import eventually
from watchdog_case import WatchdogCase, once_failing

MIB = 1024 * 1024
ACK_TIMEOUT = "application:set_env(rabbit,consumer_timeout,%s), application:set_env(rabbit,channel_tick_interval,%s)."


class BrokerCase(WatchdogCase):
    def raise_alarm(self):
        self.addCleanup(self.clear_alarm)
        rabbitmqctl("set_vm_memory_high_watermark", "0.00001")

    def let_fail_in_an_alarm(self, app, daemon, bodies):
        """They come to the consumer when the alarm is raised, however long that takes."""
        app.stop()
        self.publish(*bodies)
        self.wait_for_cause(daemon, "consumer-away")
        self.raise_alarm()
        app.start()

    @staticmethod
    def clear_alarm():
        rabbitmqctl("set_vm_memory_high_watermark", "0.4")

    def reconnect(self):
        self.wire.__init__()


class Protections(BrokerCase):
    def test_the_ack_timeout_of_the_broker(self):
        """Named until the consumer has ended what it began; its answer then counts for the message, which came again meanwhile."""
        self.addCleanup(rabbitmqctl, "eval", ACK_TIMEOUT % (1800000, 60000))
        rabbitmqctl("eval", ACK_TIMEOUT % (3000, 1000))
        app = self.consumer(lambda request: Answer(200, wait=5 if request.body == b"slow" else 0))
        daemon = self.daemon_for(app)
        self.publish(b"slow", b"quick")
        self.wait_until_named(daemon, "ack-timeout")
        self.check_healed(daemon, app, "ack-timeout")
        self.assertEqual([request.attempt for request in app.requests if request.body == b"slow"], [1])
        self.assertNotIn("unknown delivery tag", daemon.log())  # as a late ack would be answered, with the channel's end

    def test_an_alarm(self):
        app = self.consumer(once_failing)
        daemon = self.daemon_for(app)
        bodies = [b"%d" % n for n in range(4)]
        self.let_fail_in_an_alarm(app, daemon, bodies)
        self.wait_until_named(daemon, "publish-blocked", 60)
        self.clear_alarm()
        self.check_healed(daemon, app, "publish-blocked")
        self.assert_none_lost(app, bodies)

    def test_an_alarm_while_large_copies_are_sent(self):
        """What the kernel takes is soon full, and the notice of the alarm can't be read while the send is stuck."""
        app = self.consumer(once_failing)
        daemon = self.daemon_for(app, confirm_timeout="60s")
        bodies = [b"%d" % n + bytes(20 * MIB) for n in range(3)]
        self.let_fail_in_an_alarm(app, daemon, bodies)
        self.wait_until_named(daemon, "link-stuck", 60, detail="publish link: its thread is stuck")
        self.clear_alarm()
        self.wait_for_requests(app, 6, 120)
        self.check_healed(daemon, app, "link-stuck", 120)

    def test_a_broker_that_is_frozen(self):
        app = self.consumer(once_failing)
        daemon = self.daemon_for(app, heartbeat="2s")
        pid = int(rabbitmqctl("eval", "list_to_integer(os:getpid()).").strip())
        os.kill(pid, signal.SIGSTOP)
        self.addCleanup(os.kill, pid, signal.SIGCONT)
        self.wait_until_named(daemon, "broker-down")
        os.kill(pid, signal.SIGCONT)
        self.reconnect()
        bodies = [b"%d" % n for n in range(20)]
        self.publish(*bodies)
        self.check_healed(daemon, app, "broker-down")
        self.assert_none_lost(app, bodies)

    def test_returns_and_alarms_between_deliveries_and_then_a_cut(self):
        """Frames of every kind while messages flow, on the channels of both links and on channel 0."""
        reply = lambda request: 422 if b"dead" in request.body else once_failing(request)
        app, proxy = self.consumer(reply), self.proxy()
        daemon = self.daemon_for(app, proxy.url)
        self.publish(b"dead 0")
        self.wait_for_lot("dlq")
        self.wire.delete(self.own("dlq"))  # the next copy to it comes back
        app.stop()
        bodies = [b"%d" % n for n in range(600)]
        self.publish(*bodies[:20], b"dead 1", *bodies[20:])
        self.wait_for_cause(daemon, "consumer-away")
        self.raise_alarm()
        app.start()
        self.wait_for_cause(daemon, "publish-blocked", 30)
        self.clear_alarm()
        eventually(lambda: '"returned"' in daemon.log(), 60, "a return")
        proxy.cut()
        done = lambda: {request.body for request in app.requests if request.seen} >= set(bodies)
        eventually(done, 300, "all of them twice")
        self.wait_for_nothing_left(60, lots=["dlq"])
        dead = [message.body for message in self.wire.peek_all(self.own("dlq"))]
        self.assertIn(dead, [[b"dead 1"], 2 * [b"dead 1"]])  # twice when the cut came between the copy and its confirm
        self.wait_for_flow(daemon)


class Restarts(BrokerCase):
    def stop_broker(self, daemon):
        self.addCleanup(rabbitmqctl, "start_app")
        rabbitmqctl("stop_app")
        self.wait_until_named(daemon, "broker-down")

    def test_deliveries_go_on_soon_after_the_brokers_return(self):
        app = self.consumer()
        daemon = self.daemon_for(app)
        self.publish(b"before")
        self.wait_for_requests(app, 1)
        self.stop_broker(daemon)
        self.publish_at_once(app)
        self.check_healed(daemon, app, "broker-down")

    def publish_at_once(self, app):
        """The time from the first connection that the broker takes to the first delivery of a message published then."""
        rabbitmqctl("start_app")
        begin = time.monotonic()
        self.reconnect()
        self.publish(b"after")
        self.wait_for_requests(app, 2, 60)
        took = time.monotonic() - begin
        print(f"the first delivery came {took:.2f} s after the broker's return")

    def test_ten_thousand_messages_in_the_rungs_survive_a_restart(self):
        app = self.consumer(once_failing)
        daemon = self.daemon_for(app, delays="20s", concurrency=32)
        bodies = [b"%d" % n for n in range(10_000)]
        self.wire.publish_all(self.queue, [(encode_properties(delivery_mode=2, message_id=b"id-" + body), body) for body in bodies])
        self.wait_for_requests(app, 10_000, 300)
        eventually(lambda: daemon.queue_status(self.queue)["in_hand"] == 0, 60, "an empty hand")
        waiting = self.wire.depth(self.own("delay.20000ms"))
        self.stop_broker(daemon)
        rabbitmqctl("start_app")
        begin = time.monotonic()
        self.reconnect()
        self.wait_for_requests(app, 20_000, 400)
        print(f"{waiting} waited at the restart; all 10,000 were done {time.monotonic() - begin:.1f} s after the broker's return")
        self.assertGreater(waiting, 5000)
        self.assertEqual({request.body for request in app.requests if request.attempt == 2}, set(bodies))
        self.check_healed(daemon, app, "broker-down", 120)
