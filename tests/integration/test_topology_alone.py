"""What the broker does by itself with what expires while the return lane is away, with its patience shortened."""

from integration_case import IntegrationCase, rabbitmqctl
from retryd import eventually

PATIENCE = "dead_letter_worker_publisher_confirm_timeout"  # three minutes where nobody says otherwise
RETRY = "retry: {quick: none, delays: [1s], jitter: 0%, spread: 1}"


class LaneAway(IntegrationCase):
    def setUp(self):
        super().setUp()
        usual = int(rabbitmqctl("eval", f"{{ok, Usual}} = application:get_env(rabbit, {PATIENCE}), Usual."))
        self.addCleanup(self.set_patience, usual)
        self.set_patience(1000)

    def set_patience(self, milliseconds):
        rabbitmqctl("eval", f"application:set_env(rabbit, {PATIENCE}, {milliseconds}).")

    def test_what_expires_while_the_lane_is_away_comes_back_after_its_return(self):
        self.declare_work_queue()
        app, daemon = self.serve(lambda request: 200 if request.seen else 500, RETRY)
        bodies = [b"%d" % number for number in range(10)]
        for body in bodies:
            self.send(body)
        tier = self.own("delay.1000ms")
        self.wait_for_requests(app, 10)
        eventually(lambda: daemon.queue_status(self.queue)["in_hand"] == 0, what="all copied")
        daemon.kill()
        self.wire.delete(self.own("lane"))
        self.wait_for_depth(tier, 0)
        self.assertEqual(len(app.requests), 10, "what has expired is not in the tier's count, and went nowhere")
        daemon.start()
        self.wait_for_requests(app, 20, 60)
        self.assertEqual(sorted(request.body for request in app.requests if request.seen), bodies)
        self.assertEqual({request.attempt for request in app.requests if request.seen}, {2})
        self.wait_for_nothing_left()
