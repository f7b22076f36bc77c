"""A network that garbles, freezes inside a message, or is late with a confirm: the connection is given up and made anew, nothing is
lost or altered, and no socket stays behind."""

import os
import random
import signal
import time

from amqp_codec import encode_properties, quorum
from consumer import Answer
from integration_case import IntegrationCase, rabbitmqctl
from process_facts import ESTABLISHED, tcp_states
from retryd import eventually

POLICY = """
broker: {uri: "@AMQP@", heartbeat: %s, connect_timeout: 3s, confirm_timeout: 2s}
queues:
  "@QUEUE@":
    deliver: {http: "%s", timeout: 20s, concurrency: 4, ready: %s}
    retry: {quick: none, delays: [300ms], jitter: 0%%, spread: 1}
"""


def fails_once(request):
    return 503 if request.seen == 0 and int(request.body[:4]) % 2 else 200


class LinkFaults(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue(arguments=quorum())
        self.network = self.proxy()
        self.bodies = set()

    def start(self, reply=fails_once, heartbeat="2s", ready="none"):
        app = self.consumer(reply)
        return app, self.retryd(POLICY % (heartbeat, app.url, ready), self.network.url)

    def publish(self, count, size=4):
        bodies = [b"%04d" % n + os.urandom(size - 4) for n in range(len(self.bodies), len(self.bodies) + count)]
        messages = [(encode_properties(delivery_mode=2, message_id=b"id-" + body[:4]), body) for body in bodies]
        self.wire.publish_all(self.queue, messages)
        self.bodies.update(bodies)

    def downs(self, daemon):
        return daemon.log().count('"link_down"')

    def assert_all_arrived_unaltered(self, app, daemon, timeout=60):
        self.wait_for_nothing_left(timeout)
        self.wait_for_flow(daemon, timeout)
        self.assertEqual({request.body for request in app.requests}, self.bodies)
        keys = {(request.body[:4], request.headers["idempotency-key"]) for request in app.requests}
        self.assertEqual(keys, {(body[:4], f"id-{body[:4].decode()}") for body in self.bodies})
        self.assertLessEqual({request.attempt for request in app.requests}, {1, 2})

    def test_a_network_that_freezes_inside_a_message_is_given_up_and_leaves_no_socket_behind(self):
        app, daemon = self.start()
        for _ in range(3):
            downs, passed = self.downs(daemon), self.network.passed("down")
            self.publish(8, size=1 << 19)
            eventually(lambda: self.network.passed("down") > passed + 100_000, what="the first message, in part")
            self.network.stall("down")
            eventually(lambda: self.downs(daemon) >= downs + 2, 60, "the end of both connections")
            self.network.resume("down")
            self.wait_for_flow(daemon, 60)
        self.assert_all_arrived_unaltered(app, daemon)
        eventually(lambda: tcp_states(daemon.pid) == [ESTABLISHED] * 2, 30, "two connections and no remains of others")

    def test_what_came_in_one_breath_with_the_end_of_its_connection_does_not_slow_the_next(self):
        """Deliveries are taken within milliseconds, not when a timer looks."""
        user = f"user-{self.token}"
        rabbitmqctl("add_user", user, "secret")
        self.addCleanup(rabbitmqctl, "delete_user", user)
        rabbitmqctl("set_permissions", user, ".*", ".*", ".*")
        self.network = self.proxy(os.environ["RETRYD_TEST_AMQP"].replace("guest:guest", f"{user}:secret"))
        app, daemon = self.start(lambda request: 200, heartbeat="20s")
        for _ in range(8):
            downs = self.downs(daemon)
            os.kill(daemon.pid, signal.SIGSTOP)
            self.publish(10, size=10_000)  # they lie unread in the socket, and the broker's word that it closes behind them
            time.sleep(0.2)
            rabbitmqctl("eval", f'rabbit_networking:close_all_user_connections(<<"{user}">>, <<"enough">>).')
            os.kill(daemon.pid, signal.SIGCONT)
            eventually(lambda: self.downs(daemon) > downs, 30, "the end of the connection")
            self.wait_for_nothing_left(60)
        began = time.monotonic()
        for _ in range(20):
            self.publish(1)
            eventually(lambda: self.bodies == {request.body for request in app.requests}, every=0.01)
        self.assertLess(time.monotonic() - began, 20)  # a timer would look every two seconds
        self.assert_all_arrived_unaltered(app, daemon)

    def test_garbled_bytes_end_their_connection_and_alter_no_message(self):
        garbage = [b"\0" * 20, b"\x01\0\1\xff\xff\xff\xffmore than four gibibytes", b"\x01\0\1\0\0\0\2\0\x3c!", b"\xce" * 64,
                   b"\x03\0\1\0\0\0\1x\xce", b"\x02\0\1\0\0\0\4long\xce", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"AMQP\0\0\x09\1",
                   random.Random(20261130).randbytes(200)]
        app, daemon = self.start()
        for way, kinds in (("down", garbage), ("up", garbage[:2])):  # what goes up is for the broker to refuse
            for bytes_between in kinds:
                with self.subTest(way=way, garbage=bytes_between[:12]):
                    downs = self.downs(daemon)
                    self.network.spoil(way, lambda data, first=bytes_between: first + data)
                    self.publish(20)
                    eventually(lambda: self.network.has_spoiled(way), what="the garbage on its way")
                    eventually(lambda: self.downs(daemon) > downs, 60, "the end of the connection")
                    self.wait_for_flow(daemon, 60)
        self.assert_all_arrived_unaltered(app, daemon)
        self.assertEqual(daemon.stop(), 0)

    def test_confirms_that_come_at_the_moment_of_their_timeout_settle_each_message_once(self):
        app, daemon = self.start(heartbeat="20s")
        for late in (1.9, 2.0, 2.05, 2.1, 2.2):
            failures = daemon.deliveries(self.queue).get("transient", 0)
            self.publish(20)
            eventually(lambda: daemon.deliveries(self.queue).get("transient", 0) > failures, what="a failure")
            self.network.stall("down")
            time.sleep(late)
            self.network.resume("down")
            self.wait_for_flow(daemon, 60)
        self.assert_all_arrived_unaltered(app, daemon)
        self.assertNotIn("channel_closed", daemon.log())

    def test_subscriptions_that_end_and_begin_at_speed_are_never_mixed_up(self):
        questions = []

        def reply(request):
            if request.method == "GET":
                questions.append(request.at)
                return 503 if len(questions) % 2 else 200
            return Answer(200, wait=0.02)

        app, daemon = self.start(reply, ready="{path: /healthz, every: 100ms}")
        eventually(lambda: len(questions) > 5, what="the first questions")
        self.publish(400)
        self.assertGreater(len(questions), 5)
        self.wait_for_nothing_left(120)
        handed = [request for request in app.requests if request.method == "POST"]
        self.assertEqual(sorted(request.body for request in handed), sorted(self.bodies))
        self.assertEqual({request.attempt for request in handed}, {1})
        self.assertGreater(len(questions), 20)  # each turns the answer, and so begins or ends the subscriptions
        for trouble in ("link_down", "channel_closed"):
            self.assertNotIn(trouble, daemon.log())


class OneQueueOfTwo(IntegrationCase):
    def test_a_target_that_can_never_be_made_holds_up_its_own_queue_and_no_other(self):
        good = f"good.{self.queue}"
        for queue in (self.queue, good):
            self.declare_work_queue(queue, quorum())
        app = self.consumer(lambda request: 500 if request.headers["retryd-queue"] == self.queue or not request.seen else 200)
        retry = "retry: {quick: none, delays: [200ms], jitter: 0%, spread: 1}"
        daemon = self.retryd(f"""
defaults: {{deliver: {{http: "{app.url}", slow_start: none}}}}
queues:
  "@QUEUE@": {{retry: {{quick: none, delays: none}}, to: {{exhausted: {{queue: amq.reserved}}}}}}
  "{good}": {{{retry}}}
""")
        for number in range(30):
            self.send(b"bad %d" % number)
            self.send(b"good %d" % number, queue=good)
        eventually(lambda: daemon.deliveries(good) == {"transient": 30, "success": 30}, 30, "all of the good ones")
        self.wait_for_cause(daemon, "unroutable")
        eventually(lambda: daemon.queue_status(self.queue)["in_hand"] == 30, what="all of the bad ones in hand")
        self.assertEqual(daemon.causes(good), [])
        self.assertEqual(daemon.queue_status(good)["in_hand"], 0)
        self.send(b"good 30", queue=good)
        eventually(lambda: daemon.deliveries(good).get("success") == 31, what="one more of the good ones")
        self.assertNotIn("link_down", daemon.log())
        self.assertLessEqual(daemon.log().count('"declare_failed"'), 6)  # one in ten seconds, the rest summed up
        self.assertEqual(daemon.stop(), 0)
        self.wait_for_depth(self.queue, 30)
