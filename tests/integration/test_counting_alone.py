"""Attempts over a restart of the broker."""

import amqp_codec as codec
from consumer import HANG
from integration_case import IntegrationCase, rabbitmqctl


class CountingOverARestart(IntegrationCase):
    def restart_broker(self):
        self.wire.close()
        rabbitmqctl("stop_app")
        rabbitmqctl("start_app")
        self.wire = self.entered(type(self.wire)())

    def test_a_message_that_was_delivered_twice_before_a_broker_restart_is_on_its_first_attempt_after_it(self):
        self.declare_work_queue(arguments=[codec.text("x-queue-type", "quorum")])
        app, daemon = self.serve(lambda request: 200 if request.seen == 2 else HANG)
        self.send(b"m")
        for delivery in (1, 2):
            self.wait_for_requests(app, delivery)
            daemon.kill()
            if delivery == 1:
                daemon.start()
        self.restart_broker()
        daemon.start()
        self.wait_for_requests(app, 3)
        self.assertEqual([request.attempt for request in app.requests], [1, 1, 1])
        self.wait_for_nothing_left()

    def test_the_count_of_a_message_that_waits_in_its_tier_outlives_a_broker_restart(self):
        self.declare_work_queue(arguments=[codec.text("x-queue-type", "quorum")])
        app, _ = self.serve(lambda request: 500, "retry: {quick: none, delays: [3s, 100ms], jitter: 0%, spread: 1}")
        self.send(b"m")
        self.wait_for_depth(self.own("delay.3000ms"), 1)
        self.restart_broker()
        message = self.wait_for_lot("parked", 40)
        self.assertEqual(message.headers["retryd-attempts"], 3)
        self.assertEqual([request.attempt for request in app.requests], [1, 2, 3])
