"""Fidelity while the broker restarts or changes its mind about what it takes."""

from amqp_codec import encode_properties, plain, text
from amqp_wire import Wire
from broker_states import broker_setting
from fidelity_case import FidelityCase, always_fails, failing, noted_in
from integration_case import rabbitmqctl
from retryd import eventually


class FidelityAlone(FidelityCase):
    def restart_broker(self):
        self.wire.close()
        rabbitmqctl("stop_app")
        rabbitmqctl("start_app")
        self.wire = self.entered(Wire())

    def check_waiting_copy(self, queue_type, delay):
        self.declare_work_queue()
        app = self.consumer(always_fails)
        daemon = self.daemon(app, f"[{delay}]", queue_type)
        self.wire.publish(self.queue, b"body", encode_properties(delivery_mode=2, message_id="m"))
        tier = self.own(f"delay.{int(delay[:-1]) * 1000}ms{'.classic' if queue_type == 'classic' else ''}")
        self.wait_for_depth(tier, 1)
        daemon.kill()  # so that nothing but the broker keeps it
        self.restart_broker()
        daemon.start()
        copy = self.wait_for_lot("parked", timeout=40)
        self.assertEqual([request.attempt for request in app.requests], [1, 2])
        self.assertEqual((copy.value_of("delivery_mode"), plain(*noted_in(copy)["delivery-mode"])), (2, 2))

    def test_a_copy_waiting_in_a_classic_queue_survives_a_restart_of_the_broker(self):
        self.check_waiting_copy("classic", "9s")

    def test_a_copy_waiting_in_a_quorum_queue_survives_a_restart_of_the_broker(self):
        self.check_waiting_copy("quorum", "9s")

    def test_what_was_sent_transient_is_parked_over_a_restart_of_the_broker(self):
        self.declare_work_queue()
        app = self.consumer(always_fails)
        daemon = self.daemon(app, "[100ms]", "classic")
        for body, mode in ((b"none", None), (b"one", 1)):
            self.wire.publish(self.queue, body, encode_properties(delivery_mode=mode))
        self.wait_for_depth(self.own("parked"), 2)
        self.wait_until_settled(daemon)
        daemon.stop()
        self.restart_broker()
        copies = {copy.body: copy for copy in self.wire.get_all(self.own("parked"))}
        self.assertEqual({copy.value_of("delivery_mode") for copy in copies.values()}, {2})
        self.assertNotIn("delivery-mode", noted_in(copies[b"none"]))
        self.assertEqual(plain(*noted_in(copies[b"one"])["delivery-mode"]), 1)

    def test_a_body_that_the_broker_takes_no_longer_stays_in_hand_and_the_others_go_on(self):
        self.declare_work_queue()
        big, normal = b"b" * 2000, [b"normal %d" % n for n in range(10)]
        self.wire.publish_all(self.queue, [(encode_properties(delivery_mode=2), body) for body in [big, *normal]])
        app = self.consumer(failing(1))
        with broker_setting("max_message_size", 1000):
            daemon = self.daemon(app)
            eventually(lambda: "unroutable" in self.stalls(daemon), what="the cause unroutable")
            self.wire.publish(self.queue, b"later")
            normal.append(b"later")
            eventually(lambda: self.bodies_of(app, 2) == sorted(normal), what="the normal ones again")
            eventually(lambda: daemon.queue_status(self.queue)["in_hand"] == 1, what="the large one alone in hand")
            self.assertEqual([request.attempt for request in app.requests if request.body == big], [1])
            self.assertLessEqual(daemon.log().count("publish_channel_closed"), 2)  # once among others, once alone
            self.assertNotIn("link_down", daemon.log())
            self.assertEqual(daemon.stop(timeout=15), 0)  # it does not wait for what can't be
        self.assertEqual([message.body for message in self.wire.get_all(self.queue)], [big])

    def stalls(self, daemon):
        return [stall["cause"] for stall in daemon.queue_status(self.queue)["stalls"]]

    def bodies_of(self, app, attempt):
        return sorted(request.body for request in list(app.requests) if request.attempt == attempt)

    def test_frames_of_the_smallest_size_carry_every_attempt(self):
        for size in (4096, 8192):
            with self.subTest(size), broker_setting("frame_max", size):
                self.queue = f"{size}.{self.queue}"
                body = bytes(range(256)) * 100
                copy, requests, _ = self.park(encode_properties(message_id="m", headers=[text("own", "1")]), body)
                self.assertEqual([request.body for request in requests], [body] * 3)
                self.assertEqual(copy.headers["retryd-attempts"], 3)
