"""Queues and subscriptions that are not what they were: each is named in the status, in /flowz, in the metrics and by `why-not`,
and heals by itself when its cause goes."""

from amqp_codec import encode_table, short_string, text
from amqp_wire import Wire
from frame_proxy import CANCEL, DELIVER
from retryd import eventually
from watchdog_case import WatchdogCase, once_failing


class Subscriptions(WatchdogCase):
    def test_a_queue_that_is_deleted_and_made_again(self):
        app = self.consumer()
        daemon = self.daemon_for(app)
        self.wire.delete(self.queue)
        self.wait_until_named(daemon, "queue-missing")
        self.declare_work_queue()
        self.publish(b"1", b"2")
        self.wait_for_requests(app, 2)
        self.check_healed(daemon, app, "queue-missing")
        self.assertIn("subscription_lost", daemon.log())

    def test_a_queue_that_gives_us_no_subscription(self):
        self.wire.delete(self.queue)
        self.declare_work_queue(arguments=[text("x-queue-type", "classic")])  # a quorum queue ignores who wants it alone
        app = self.consumer()
        app.stop()
        daemon = self.daemon_for(app)
        self.wait_for_cause(daemon, "consumer-away")
        with Wire() as other:
            exclusive = b"\0\0" + short_string(self.queue) + short_string("") + b"\4" + encode_table([])
            other.call(60, 20, exclusive, 21)
            app.start()
            self.wait_until_named(daemon, "subscription-lost", detail="ACCESS_REFUSED")
        self.publish(b"1")
        self.wait_for_requests(app, 1)
        self.check_healed(daemon, app, "subscription-lost")

    def test_a_queue_that_is_deleted_and_made_again_at_once(self):
        """A classic one: of a quorum queue RabbitMQ 3.10 may then tell nobody and deliver nothing, see docs/limits.md."""
        self.wire.delete(self.queue)
        self.declare_work_queue(arguments=[text("x-queue-type", "classic")])
        app = self.consumer()
        daemon = self.daemon_for(app)
        self.pid = daemon.pid
        self.publish(b"before")
        self.wait_for_nothing_left(60)
        self.wire.delete(self.queue)
        self.declare_work_queue(arguments=[text("x-queue-type", "classic")])
        self.publish(b"1", b"2", b"3")
        self.wait_for_requests(app, 4, 60)
        self.check_healed(daemon, app, "subscription-lost")
        self.assertNotIn("link_down", daemon.log())

    def test_a_consumer_that_the_broker_no_longer_knows(self):
        """The broker's word of it gets lost, as from a client that did not ask for it."""
        app, proxy = self.consumer(), self.frame_proxy()
        daemon = self.daemon_for(app, proxy.url)
        proxy.swallow(CANCEL)
        self.wire.delete(self.queue)
        eventually(lambda: proxy.swallowed(CANCEL), what="a swallowed cancel")
        self.declare_work_queue()
        bodies = [b"1", b"2", b"3"]
        self.publish(*bodies)
        self.wait_until_named(daemon, "subscription-lost", detail="does not know its consumer")
        self.wait_for_requests(app, 3)
        self.check_healed(daemon, app, "subscription-lost")
        self.assert_none_lost(app, bodies)
        self.assertNotIn("link_down", daemon.log())

    def test_messages_that_wait_and_are_not_delivered(self):
        """The broker believes that the prefetch is used up: what it has sent has never come."""
        app, proxy = self.consumer(), self.frame_proxy()
        daemon = self.daemon_for(app, proxy.url, prefetch=4)
        proxy.swallow(DELIVER, 4)
        bodies = [b"%d" % n for n in range(10)]
        self.publish(*bodies)
        self.wait_until_named(daemon, "subscription-lost", timeout=60, detail="none is delivered")
        self.wait_for_requests(app, 6, 30)
        proxy.cut()  # gives back what the broker believes to be with us
        self.wait_for_requests(app, 10)
        self.check_healed(daemon, app, "subscription-lost")
        self.assert_none_lost(app, bodies)


class DelayQueues(WatchdogCase):
    def test_a_lane_that_was_away_is_named(self):
        """That it ends after three minutes, and that all comes back, is shown in virtual time and by the long tests."""
        app = self.consumer(once_failing)
        daemon = self.daemon_for(app)
        self.publish(b"1")
        self.wait_for_nothing_left(60)
        self.wire.delete(self.own("lane"))
        self.wait_until_named(daemon, "broker-dead-letter-wait", detail="the lane was away")
        self.publish(b"2")
        self.wait_for_requests(app, 4)
        daemon.kill()
        self.wire.delete(self.own("lane"))
        daemon.start()
        self.wait_until_named(daemon, "broker-dead-letter-wait", detail="the lane was away")
