"""Work queues that somebody else holds, or that are of a kind that retryd would not have chosen: named, waited for, and served."""

import amqp_codec as codec
from amqp_codec import encode_table, short_string
from amqp_wire import Wire
from integration_case import IntegrationCase
from retryd import eventually

RETRY = "retry: {quick: none, delays: [200ms], jitter: 0%, spread: 1}"


class OddQueues(IntegrationCase):
    def fail_once(self):
        return self.serve(lambda request: 200 if request.seen else 500, RETRY)

    def wait_for_trouble(self, daemon, words):
        """It is held up, says so with the broker's words, and asks again slowly."""
        eventually(lambda: daemon.queue_status(self.queue)["stalls"], what="a cause")
        eventually(lambda: words in daemon.get("/flowz")[1], what=words)
        self.assert_no_busy_loop(daemon)
        self.assertNotIn("link_down", daemon.log())

    def assert_serves(self, app, daemon, count=1):
        self.send(b"m")
        self.wait_for_requests(app, 2 * count)
        self.wait_for_nothing_left()
        self.wait_for_flow(daemon)
        self.assertEqual([request.attempt for request in app.requests], [1, 2] * count)

    def test_a_queue_that_belongs_to_another_connection_is_waited_for(self):
        with Wire() as owner:
            owner.declare(self.queue, exclusive=True)
            app, daemon = self.fail_once()
            self.wait_for_trouble(daemon, "RESOURCE_LOCKED")
        self.declare_work_queue()
        self.assert_serves(app, daemon)

    def test_a_queue_that_another_consumer_has_for_itself_is_waited_for(self):
        self.declare_work_queue()
        with Wire() as other:
            exclusive = b"\0\0" + short_string(self.queue) + short_string("") + bytes([4]) + encode_table([])
            other.call(60, 20, exclusive, 21)
            app, daemon = self.fail_once()
            self.wait_for_trouble(daemon, "exclusive use")
        self.assert_serves(app, daemon)

    def test_a_queue_with_a_single_active_consumer_is_served_by_one_daemon_and_then_by_the_other(self):
        self.declare_work_queue(arguments=[codec.boolean("x-single-active-consumer", True), *codec.quorum()])
        first_app, first = self.fail_once()
        eventually(lambda: first.queue_status(self.queue)["subscribed_work"], what="its subscription")
        second_app, second = self.fail_once()
        self.assert_serves(first_app, first)
        self.assertEqual(second_app.requests, [])
        self.assertEqual(first.stop(), 0)
        self.assert_serves(second_app, second)

    def test_a_lazy_queue_with_priorities_and_a_queue_that_expires_are_served(self):
        for arguments in ([codec.text("x-queue-mode", "lazy"), codec.number("x-max-priority", 5)], [codec.number("x-expires", 60000)]):
            with self.subTest(arguments):
                self.queue += "-"
                self.declare_work_queue(arguments=arguments)
                app, daemon = self.fail_once()
                self.assert_serves(app, daemon)
                self.assertEqual(daemon.stop(), 0)

    def test_a_queue_that_is_not_durable_is_served(self):
        self.wire.declare(self.queue, durable=False)
        app, daemon = self.fail_once()
        self.assert_serves(app, daemon)
