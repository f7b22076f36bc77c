"""The broker gone, restarted, blocked, silent, or closing what it does not like: nothing is lost, the cause is named, and it heals
by itself. Disturbs the broker, so nothing runs beside it."""

import time

from amqp_codec import encode_properties, text
from consumer import Answer
from integration_case import IntegrationCase, rabbitmqctl
from retryd import eventually

POLICY = """
broker: {uri: "@AMQP@", heartbeat: 2s, connect_timeout: 3s, confirm_timeout: 2s}
queues:
  "@QUEUE@":
    deliver: {http: "%s", timeout: 20s, concurrency: 4}
    retry: {quick: {tries: 0}, delays: [%s], jitter: 0%%, spread: 1}
"""
ACK_TIMEOUT = "application:set_env(rabbit,consumer_timeout,%s), application:set_env(rabbit,channel_tick_interval,%s)."


class ConnectionsCase(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue(arguments=[text("x-queue-type", "quorum")])

    def daemon_for(self, app, delays="200ms", amqp=None, wait_ready=True):
        return self.retryd(POLICY % (app.url, delays), amqp, wait_ready=wait_ready)

    def publish(self, *bodies):
        self.wire.publish_all(self.queue, [(encode_properties(delivery_mode=2, message_id=b"id-" + body), body) for body in bodies])

    def reconnect(self):
        """The test's own connection, after the broker has closed it."""
        self.wire.__init__()

    def wait_for_down(self, daemon):
        self.wait_for_cause(daemon, "broker-down")

    def check_it_works(self, daemon, app):
        self.wait_for_flow(daemon, 60)
        before = len(app.requests)
        self.publish(b"afterwards")
        self.wait_for_requests(app, before + 1)
        self.wait_for_nothing_left()


class BrokerAbsent(ConnectionsCase):
    def test_absent_at_the_start_it_is_waited_for(self):
        app, proxy = self.consumer(), self.proxy()
        proxy.refuse()
        daemon = self.daemon_for(app, amqp=proxy.url, wait_ready=False)
        eventually(lambda: daemon.answers("/livez"), what="/livez")
        self.wait_for_down(daemon)
        self.assert_no_busy_loop(daemon)
        self.assertEqual((200, 503, 503, 200), tuple(daemon.get(page)[0] for page in ("/livez", "/readyz", "/flowz", "/metrics")))
        self.assertIn("broker-down", daemon.get("/flowz")[1])
        self.assertLess(proxy.connects, 40)
        proxy.accept()
        daemon.wait_ready(60)
        self.check_it_works(daemon, app)

    def test_gone_and_back_readyz_does_not_flap(self):
        app, proxy = self.consumer(), self.proxy()
        daemon = self.daemon_for(app, amqp=proxy.url)
        proxy.refuse()
        proxy.cut()
        self.wait_for_down(daemon)
        before = proxy.connects
        self.assert_no_busy_loop(daemon)
        self.assertLess(proxy.connects - before, 30)
        self.assertEqual((200, 200, 503), tuple(daemon.get(page)[0] for page in ("/livez", "/readyz", "/flowz")))
        self.assertEqual(daemon.metrics()["retryd_broker_connected"], 0)
        proxy.accept()
        self.check_it_works(daemon, app)
        self.assertEqual(daemon.metrics()["retryd_broker_connected"], 1)

    def test_sigterm_ends_it_while_the_broker_is_gone(self):
        proxy = self.proxy()
        daemon = self.daemon_for(self.consumer(), amqp=proxy.url)
        proxy.refuse()
        proxy.cut()
        self.wait_for_down(daemon)
        self.assertEqual(daemon.stop(), 0)


class Cuts(ConnectionsCase):
    def check_all_arrive(self, disturb):
        """Half of the messages fail at first, while the connections suffer."""
        app, proxy = self.consumer(lambda request: Answer(503 if request.seen == 0 and int(request.body) % 2 else 200, wait=0.005)), self.proxy()
        daemon = self.daemon_for(app, amqp=proxy.url)
        self.publish(*(b"%d" % n for n in range(600)))
        for count in (100, 300, 500):
            self.wait_for_requests(app, count, 60)
            disturb(proxy)
        self.wait_for_nothing_left(60)
        self.assertEqual({int(request.body) for request in app.requests}, set(range(600)))
        self.assertEqual(daemon.deliveries(self.queue)["success"], len(app.requests) - daemon.deliveries(self.queue)["transient"])
        self.wait_for_flow(daemon, 60)

    def test_cut_connections_lose_nothing(self):
        self.check_all_arrive(lambda proxy: proxy.cut())

    def test_cuts_inside_a_frame_lose_nothing(self):
        def disturb(proxy):
            for way in ("up", "down"):
                proxy.cut_after(way, 1001)

        self.check_all_arrive(disturb)

    def test_half_open_connections_are_noticed_and_lose_nothing(self):
        self.check_all_arrive(lambda proxy: proxy.half_open())

    def test_a_stalled_network_loses_nothing(self):
        def disturb(proxy):
            proxy.stall("down")
            time.sleep(1)
            proxy.resume("down")

        self.check_all_arrive(disturb)

    def test_an_answer_after_the_connection_is_gone_is_not_acked_on_the_next(self):
        app, proxy = self.consumer(lambda request: Answer(200, wait=3 if request.seen == 0 else 0)), self.proxy()
        daemon = self.daemon_for(app, amqp=proxy.url)
        self.publish(b"1", b"2", b"3")
        self.wait_for_requests(app, 3)
        proxy.cut()
        self.wait_for_nothing_left()
        self.wait_for_flow(daemon)
        self.assertEqual({request.body for request in app.requests}, {b"1", b"2", b"3"})
        self.assertEqual({request.attempt for request in app.requests}, {1})
        self.assertNotIn("channel_closed", daemon.log())

    def test_a_confirm_that_never_comes_renews_the_link_and_the_copy_keeps_its_id(self):
        app, proxy = self.consumer(lambda request: 503 if request.seen == 0 else 200), self.proxy()
        daemon = self.daemon_for(app, amqp=proxy.url)
        proxy.swallow_confirm()
        self.publish(b"x")
        eventually(proxy.has_swallowed, what="a swallowed confirm")
        eventually(lambda: "link_down" in daemon.log(), what="the link's renewal")
        self.wait_for_requests(app, 3)  # the copy of unknown fate was there, and so is the second
        self.wait_for_nothing_left()
        self.assertEqual([request.attempt for request in app.requests], [1, 2, 2])
        self.assertEqual({request.headers["idempotency-key"] for request in app.requests}, {"id-x"})
        self.wait_for_flow(daemon)

    def test_slow_work_does_not_stop_the_heartbeats(self):
        app = self.consumer(lambda request: Answer(200, wait=8))
        daemon = self.daemon_for(app)
        self.publish(b"1", b"2")
        self.wait_for_nothing_left()
        self.assertEqual(len(app.requests), 2)
        self.assertNotIn("link_down", daemon.log())


class QueuesThatGo(ConnectionsCase):
    def test_a_work_queue_that_is_deleted_is_waited_for(self):
        app = self.consumer()
        daemon = self.daemon_for(app)
        self.wire.delete(self.queue)
        self.wait_for_cause(daemon, "queue-missing")
        self.assert_no_busy_loop(daemon)
        self.assertEqual((503, 200), (daemon.get("/flowz")[0], daemon.get("/readyz")[0]))
        self.assertIn("queue-missing", daemon.get("/flowz")[1])
        self.declare_work_queue()
        self.check_it_works(daemon, app)

    def test_a_delay_queue_that_is_deleted_is_made_again_and_nothing_is_lost(self):
        app = self.consumer(lambda request: 503 if request.seen == 0 else 200)
        daemon = self.daemon_for(app)
        self.publish(b"1")
        self.wait_for_nothing_left()
        self.wire.delete(self.own("delay.200ms"))
        bodies = {b"%d" % n for n in range(2, 30)}
        self.publish(*bodies)
        self.wait_for_requests(app, 2 + 2 * len(bodies))
        self.wait_for_nothing_left()
        self.assertEqual(daemon.deliveries(self.queue), {"transient": 29, "success": 29})

    def test_a_parking_lot_that_is_deleted_is_made_again(self):
        app = self.consumer(lambda request: 500)
        self.daemon_for(app)
        self.wire.delete(self.own("parked"))
        self.publish(b"x")
        self.wait_for_depth(self.own("parked"), 1)
        self.assertEqual(self.wait_for_lot("parked").headers["retryd-attempts"], 2)

    def test_a_lane_that_is_deleted_is_made_again(self):
        app = self.consumer(lambda request: 503 if request.seen == 0 else 200)
        daemon = self.daemon_for(app)
        self.wire.delete(self.own("lane"))
        eventually(lambda: self.wire.depth(self.own("lane")) is not None, what="a new lane")
        self.wait_for_flow(daemon)
        self.check_it_works(daemon, app)


class BrokerStates(ConnectionsCase):
    def test_connections_closed_by_the_broker_come_back(self):
        app = self.consumer(lambda request: Answer(503 if request.seen == 0 and int(request.body) % 2 else 200, wait=0.01))
        daemon = self.daemon_for(app)
        self.publish(*(b"%d" % n for n in range(400)))
        for count in (50, 250):
            self.wait_for_requests(app, count)
            rabbitmqctl("close_all_connections", "test")
            eventually(lambda: "CONNECTION_FORCED" in daemon.log() or "test" in daemon.log(), what="the reason in the log")
        self.reconnect()
        self.wait_for_nothing_left(60)
        self.assertEqual({int(request.body) for request in app.requests}, set(range(400)))
        self.wait_for_flow(daemon)

    def test_messages_in_the_delay_queues_survive_a_restart_of_the_broker(self):
        app = self.consumer(lambda request: 503 if request.seen == 0 else 200)
        daemon = self.daemon_for(app, delays="6s")
        bodies = {b"%d" % n for n in range(100)}
        self.publish(*bodies)
        self.wait_for_depth(self.own("delay.6000ms"), 100)
        self.addCleanup(rabbitmqctl, "start_app")
        rabbitmqctl("stop_app")
        self.wait_for_down(daemon)
        self.assertEqual((200, 200, 503), tuple(daemon.get(page)[0] for page in ("/livez", "/readyz", "/flowz")))
        rabbitmqctl("start_app")
        self.reconnect()
        self.wait_for_requests(app, 200, 60)
        self.wait_for_nothing_left()
        self.assertEqual({request.body for request in app.requests if request.attempt == 2}, bodies)
        self.wait_for_flow(daemon)

    def test_the_brokers_ack_timeout_is_named_and_heals_without_a_late_ack(self):
        self.addCleanup(rabbitmqctl, "eval", ACK_TIMEOUT % (1800000, 60000))
        rabbitmqctl("eval", ACK_TIMEOUT % (5000, 1000))
        app = self.consumer(lambda request: Answer(200, wait=8))
        daemon = self.daemon_for(app)
        self.publish(b"x")
        causes = set()

        def named():
            causes.update(daemon.causes(self.queue))
            return "ack-timeout" in causes or "PRECONDITION_FAILED" in daemon.log()

        eventually(named, 30, "the ack timeout")
        self.assertIn("timeout", daemon.log())
        self.wait_for_nothing_left(60)
        self.wait_for_flow(daemon)
        self.assertEqual([request.attempt for request in app.requests], [1])  # what comes again is still under way
        self.assertEqual(daemon.log().count("channel_closed"), 1)  # a late ack would have closed the next one too


class Alarm(ConnectionsCase):
    def raise_alarm(self):
        self.addCleanup(self.clear_alarm)
        rabbitmqctl("set_vm_memory_high_watermark", "0.00001")

    @staticmethod
    def clear_alarm():
        rabbitmqctl("set_vm_memory_high_watermark", "0.4")

    def messages_at_the_broker(self):
        """Those that it has delivered and not had acked too; its figure may be some seconds old."""
        lines = rabbitmqctl("list_queues", "--no-table-headers", "name", "messages").splitlines()
        return next(int(messages) for name, messages in (line.rsplit("\t", 1) for line in lines) if name == self.queue)

    def begin(self):
        """In the alarm ten messages come to the consumer, nine of which succeed; the tenth fails."""
        app = self.consumer(lambda request: 503 if request.body == b"9" and request.seen == 0 else 200)
        daemon = self.retryd(POLICY.replace("concurrency: 4", "concurrency: 10") % (app.url, "200ms"))
        app.stop()
        self.publish(*(b"%d" % n for n in range(10)))
        self.wait_for_cause(daemon, "consumer-away")
        self.raise_alarm()
        app.start()
        self.wait_for_requests(app, 10)
        return app, daemon

    def test_successes_are_acked_and_failures_stay_in_hand(self):
        app, daemon = self.begin()
        eventually(lambda: daemon.queue_status(self.queue)["in_hand"] == 1, 30, "nine acks")
        eventually(lambda: self.messages_at_the_broker() == 1, 30, "nine messages gone")
        self.wait_for_cause(daemon, "publish-blocked")
        self.assertIn("publish-blocked", daemon.get("/flowz")[1])
        self.assertEqual((200, 200, 503), tuple(daemon.get(page)[0] for page in ("/livez", "/readyz", "/flowz")))
        self.assertTrue(any(link["blocked"] for link in daemon.status()["links"]))
        self.assertEqual(daemon.metrics()["retryd_broker_blocked"], 1)
        self.assertEqual(daemon.log().count('"publish_blocked"'), 1)
        self.assert_no_busy_loop(daemon)
        self.clear_alarm()
        self.wait_for_requests(app, 11)
        self.wait_for_nothing_left(60)
        self.assertEqual([request.attempt for request in app.requests if request.body == b"9"], [1, 2])
        self.wait_for_flow(daemon)
        self.assertEqual(daemon.metrics()["retryd_broker_blocked"], 0)

    def test_sigterm_ends_it_during_the_alarm(self):
        app, daemon = self.begin()
        self.wait_for_cause(daemon, "publish-blocked", 30)
        self.assertEqual(daemon.stop(60), 0)
        self.clear_alarm()
        self.wait_for_depth(self.queue, 1)
        self.assertEqual(len(app.requests), 10)
        daemon.start()
        self.wait_for_nothing_left()
