"""The broker's process frozen, its disk full, and several troubles at once: nothing is lost, and it heals by itself. Disturbs the
broker, so nothing runs beside it. Its process is killed in soak_broker.py: a broker that was killed may come back with a quorum queue
that answers nobody any more, so each such test has a broker of its own."""

import time

from amqp_codec import encode_properties, quorum
from broker_states import broker_setting, disk_alarm, frozen_broker, memory_alarm
from consumer import Answer
from integration_case import IntegrationCase
from process_facts import ESTABLISHED, tcp_states
from retryd import eventually

POLICY = """
broker: {uri: "@AMQP@", heartbeat: 2s, connect_timeout: 3s, confirm_timeout: 2s}
queues:
  "@QUEUE@":
    deliver: {http: "%s", timeout: 20s, concurrency: 4}
    retry: {quick: none, delays: [300ms], jitter: 0%%, spread: 1}
    prefetch: 40
"""


class BrokerFaults(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue(arguments=quorum())
        self.published = 0

    def start(self, reply, amqp=None):
        app = self.consumer(reply)
        return app, self.retryd(POLICY % app.url, amqp)

    def publish(self, count, size=0):
        numbers = range(self.published, self.published + count)
        messages = [(encode_properties(delivery_mode=2, message_id=f"id-{n}"), b"%d" % n + bytes(size)) for n in numbers]
        self.wire.publish_all(self.queue, messages)
        self.published += count

    @staticmethod
    def fails_once(request):
        odd = int(request.body.rstrip(b"\0")) % 2 or len(request.body) > 1000
        return Answer(503 if request.seen == 0 and odd else 200, wait=0.02)

    def assert_all_arrived(self, app, daemon):
        self.wait_for_nothing_left(120)
        # A lane that was away is named for three minutes, whether or not something expired meanwhile.
        eventually(lambda: set(daemon.causes(self.queue)) <= {"broker-dead-letter-wait"}, 60, "nothing that holds the queue up")
        numbers = [int(request.body.rstrip(b"\0")) for request in app.requests]
        self.assertEqual(set(numbers), set(range(self.published)))
        self.assertEqual({request.headers["idempotency-key"] for request in app.requests}, {f"id-{n}" for n in range(self.published)})
        self.assertLessEqual({request.attempt for request in app.requests}, {1, 2})

    def test_a_broker_that_is_frozen_is_given_up_and_served_again_when_it_thaws(self):
        app, daemon = self.start(self.fails_once)
        self.publish(300)
        self.wait_for_requests(app, 60)
        with frozen_broker():
            begin = time.monotonic()
            self.wait_for_cause(daemon, "broker-down", 30)
            self.assertEqual((200, 200, 503), tuple(daemon.get(page)[0] for page in ("/livez", "/readyz", "/flowz")))
            self.assert_no_busy_loop(daemon)
            time.sleep(max(0, begin + 10 - time.monotonic()))  # beyond the timeout of a new connection
        self.assert_all_arrived(app, daemon)
        eventually(lambda: tcp_states(daemon.pid) == [ESTABLISHED] * 2, 30, "two connections and no remains of others")

    def test_with_its_disk_full_the_hand_stays_bounded_and_nothing_that_failed_is_lost(self):
        app, daemon = self.start(self.fails_once)
        app.stop()
        self.publish(600)
        self.wait_for_cause(daemon, "consumer-away")
        with disk_alarm():
            app.start()
            self.wait_for_cause(daemon, "publish-blocked", 30)
            eventually(lambda: daemon.queue_status(self.queue)["being_copied"] > 20, 30, "half of the prefetch that has failed")
            eventually(lambda: daemon.queue_status(self.queue)["in_flight"] == 0, 30, "nothing more at the consumer")
            held = daemon.queue_status(self.queue)["in_hand"]
            self.assertLessEqual(held, 2 * 40)  # of work queue and lane
            self.assertLess(len(app.requests), self.published)
            self.assert_no_busy_loop(daemon)
            self.assertEqual(daemon.queue_status(self.queue)["in_hand"], held)
            self.assertIn("disk", daemon.get("/flowz")[1])
        self.assert_all_arrived(app, daemon)
        self.assertEqual(daemon.log().count('"publish_blocked"'), 1)

    def test_returns_an_alarm_and_closed_channels_between_deliveries_and_then_a_silent_network(self):
        network = self.proxy()
        self.publish(1, size=2000)
        self.publish(200)
        with broker_setting("max_message_size", 1000):
            app, daemon = self.start(self.fails_once, network.url)
            self.wait_for_cause(daemon, "unroutable", 30)  # the large copy has closed the publish channel
            app.stop()
            self.publish(200)
            self.wait_for_cause(daemon, "consumer-away")
            self.wire.delete(self.own("delay.300ms"))
            with memory_alarm():
                app.start()
                self.wait_for_cause(daemon, "publish-blocked", 30)
                self.wire.delete(self.own("lane"))
            network.stall("down")
            self.wait_for_cause(daemon, "broker-down", 30)
        network.cut()
        network.resume("down")
        self.assert_all_arrived(app, daemon)
