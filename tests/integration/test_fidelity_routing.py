"""A retry reaches the queue that failed and no other."""

from amqp_codec import array, encode_properties, text
from consumer import Answer
from fidelity_case import FidelityCase, always_fails, failing, original_headers
from retryd import Retryd


class Routing(FidelityCase):
    def exchange(self, kind):
        name = f"ex.{self.queue}"
        self.wire.declare_exchange(name, kind)
        self.addCleanup(self.wire.delete_exchange, name)
        return name

    def neighbour(self, name):
        """A queue that no retry must reach."""
        queue = f"{name}.{self.queue}"
        self.wire.declare(queue)
        return queue

    def test_sender_selected_keys_are_routed_once_and_shown_every_time(self):
        self.declare_work_queue()
        other = f"other.{self.queue}"
        header = array("CC", [text("", other)])
        self.wire.publish(self.queue, b"body", encode_properties(headers=[header, text("own", "1")]))
        self.wire.declare(other)
        app = self.consumer(always_fails)
        daemon = self.daemon(app)
        copy = self.wait_for_lot("parked")
        self.assertEqual([request.headers["amqp-header-cc"] for request in app.requests], [f'["{other}"]'] * 3)
        self.assertEqual(self.wire.depth(other), 0)
        self.assertEqual(original_headers(copy), sorted([header, text("own", "1")]))
        self.assertNotIn("CC", copy.headers)
        self.wait_until_settled(daemon)

    def test_a_retry_of_a_direct_exchange_reaches_only_the_queue_that_failed(self):
        exchange, neighbour = self.exchange("direct"), self.neighbour("w2")
        self.declare_work_queue()
        for queue in (self.queue, neighbour):
            self.wire.bind(queue, exchange, "orange")
        app = self.consumer(failing(1))
        daemon = self.daemon(app)
        self.wire.publish("orange", b"body", exchange=exchange)
        self.wait_for_requests(app, 2)
        for request in app.requests:
            self.assertEqual((request.headers["retryd-exchange"], request.headers["retryd-routing-key"]), (exchange, "orange"))
        self.wait_until_settled(daemon)
        self.assertEqual(self.wire.depth(neighbour), 1)

    def test_a_retry_of_a_fanout_reaches_only_the_queue_that_failed(self):
        exchange, audit = self.exchange("fanout"), self.neighbour("audit")
        self.declare_work_queue()
        for queue in (self.queue, audit):
            self.wire.bind(queue, exchange)
        app = self.consumer(failing(3))
        daemon = self.daemon(app, "[100ms, 150ms, 200ms]")
        self.wire.publish("", b"body", exchange=exchange)
        self.wait_for_requests(app, 4)
        self.wait_until_settled(daemon)
        self.assertEqual(self.wire.depth(audit), 1)

    def test_a_retry_of_headers_and_topic_exchanges_reaches_only_the_queue_that_failed(self):
        for kind, key, arguments in (("topic", "#", []), ("headers", "", [text("x-match", "all"), text("own", "1")])):
            with self.subTest(kind):
                self.queue = f"{kind}.{self.queue}"
                exchange, neighbour = self.exchange(kind), self.neighbour("w2")
                self.declare_work_queue()
                for queue in (self.queue, neighbour):
                    self.wire.bind(queue, exchange, key, arguments)
                app = self.consumer(failing(2))
                daemon = self.daemon(app)
                self.wire.publish("a.b", b"body", encode_properties(headers=[text("own", "1")]), exchange)
                self.wait_for_requests(app, 3)
                self.assertEqual({request.headers["retryd-routing-key"] for request in app.requests}, {"a.b"})
                self.wait_until_settled(daemon)
                self.assertEqual(self.wire.depth(neighbour), 1)

    def test_the_longest_routing_key_is_kept_and_shown(self):
        exchange, key = self.exchange("topic"), "k" * 255
        self.declare_work_queue()
        self.wire.bind(self.queue, exchange, "#")
        app = self.consumer(always_fails)
        self.daemon(app)
        self.wire.publish(key, b"body", exchange=exchange)
        copy = self.wait_for_lot("parked")
        self.assertEqual({request.headers["retryd-routing-key"] for request in app.requests}, {key})
        self.assertEqual((copy.headers["retryd-exchange"], copy.headers["retryd-routing-key"]), (exchange, key))

    def test_a_routing_key_that_is_not_utf_8_is_kept_and_shown_escaped(self):
        exchange = self.exchange("topic")
        self.declare_work_queue()
        self.wire.bind(self.queue, exchange, "#")
        app = self.consumer(always_fails)
        daemon = self.daemon(app)
        self.wire.publish(b"k\xff\r\n", b"body", exchange=exchange)
        copy = self.wait_for_lot("parked")
        self.assertEqual([request.headers["retryd-routing-key"] for request in app.requests], ["k%FF%0D%0A"] * 3)
        self.assertIn(text("retryd-routing-key", b"k\xff\r\n"), copy.table)
        self.wait_until_settled(daemon)
        self.assertTrue(self.events(daemon))

    def test_the_longest_names_and_errors_leave_our_headers_small(self):
        exchange = ("e" * 255)[: -len(self.token)] + self.token
        self.wire.declare_exchange(exchange, "topic")
        self.addCleanup(self.wire.delete_exchange, exchange)
        self.declare_work_queue()
        self.wire.bind(self.queue, exchange, "#")
        long = {f"Retryd-{name}": f"{name} " + "x" * 7000 for name in ("Error-Type", "Error-Message", "Dependency", "App-Version")}
        app = self.consumer(lambda request: Answer(503, long))
        daemon = self.daemon(app, f"[{', '.join(['50ms'] * 12)}]")
        sent = encode_properties(message_id="m" * 255, reply_to="amq.rabbitmq.reply-to." + "r" * 233, expiration="6000000")
        self.wire.publish("k" * 255, b"body", sent, exchange)
        copy = self.wait_for_lot("parked")
        self.assertEqual(len(app.requests), 13)
        self.assertEqual(copy.headers["retryd-attempts"], 13)
        ours = sum(len(name) + len(raw) + 2 for name, _, raw in copy.table if name.startswith(b"retryd-"))
        self.assertTrue(2048 < ours < 4096, ours)
        self.assertTrue(1 <= len(copy.headers["retryd-history"]) <= 10)
        self.wait_until_settled(daemon)

    def test_whatever_the_consumer_states_ends_in_a_copy_that_the_broker_takes(self):
        wild = {name: "\xff\xfe\x01" + "x" * 9000 for name in
                ("Retryd-Error-Type", "Retryd-Error-Message", "Retryd-Dependency", "Retryd-App-Version")}
        problem = b'{"type": "%s", "title": "NaN", "detail": "\\u0000\\ud800%s", "dependency": "%s"}' % (b"t" * 9000, b"d" * 9000, b"e" * 9000)
        answers = {
            b"wild": Answer(503, wild), b"problem": Answer(500, {"Content-Type": "application/problem+json"}, problem),
            b"page": Answer(422, {"Content-Type": "text/html"}, b"<html>\0\xff\r\n</html>" * 1000),
            b"numbers": Answer(500, {"Content-Type": "application/problem+json"}, b'{"type": NaN, "detail": Infinity, "dependency": 1e999}'),
        }
        self.declare_work_queue()
        app = self.consumer(lambda request: answers[request.body])
        daemon = self.daemon(app, more="hold: {delays: [200ms]}")  # the replies that break off may count as lost together
        for body in answers:
            self.wire.publish(self.queue, body)
        copies = [self.wait_for_lot("parked") for _ in range(3)] + [self.wait_for_lot("dlq")]
        self.assertEqual({copy.body for copy in copies}, set(answers))
        for copy in copies:
            self.assertLess(len(copy.properties), 4096 + 1024)  # ours, and the broker's own of the hop
            for name in ("retryd-error-type", "retryd-dependency", "retryd-app-version"):
                self.assertLessEqual(len(copy.headers.get(name, "")), 128)
        self.wait_until_settled(daemon)
        self.assert_quiet_links(daemon)
        self.assertTrue(self.events(daemon))

    def test_names_too_long_for_the_broker_are_refused_at_the_start(self):
        faults = {
            "its names": f'queues: {{"{"q" * 250}": "http://127.0.0.1:1/"}}',
            "a target": f'queues: {{w: {{deliver: {{http: "http://127.0.0.1:1/"}}, to: {{exhausted: {{queue: "{"q" * 256}"}}}}}}}}',
            "a prefix": f'names: {{prefix: "{"p" * 250}."}}\nqueues: {{w: "http://127.0.0.1:1/"}}',
        }
        for what, policy in faults.items():
            with self.subTest(what):
                daemon = Retryd(policy)
                self.addCleanup(daemon.end)
                daemon.start(wait_ready=False)
                self.assertEqual(daemon.process.wait(10), 1)
                self.assertIn("255", daemon.log())
