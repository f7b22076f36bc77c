"""A queue that leaves the policy keeps all that lies in its queues, and goes on when it returns."""

from amqp_codec import quorum
from integration_case import IntegrationCase, rabbitmqctl
from retryd import eventually

KEYS = "retry: {quick: none, delays: [4s], jitter: 0%, spread: 1}, hold: {delays: [4s]}"


class QueueThatLeaves(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.other = f"other.{self.queue}"
        for queue in (self.queue, self.other):
            self.declare_work_queue(queue, quorum())
        self.answers = {b"fails": 500, b"waits": 429, b"wrong": 422, b"useless": 500}
        self.app = self.consumer(lambda request: self.answers[request.body])

    def policy(self, *queues):
        deliver = f'deliver: {{http: "{self.app.url}", slow_start: none}}'
        lines = "".join(f'  "{queue}": {{classify: [{{error_type: X, as: drop}}], {KEYS}}}\n' for queue in queues)
        return f"defaults: {{{deliver}}}\nqueues:\n{lines}"

    def names(self):
        return {name for name in rabbitmqctl("list_queues", "--no-table-headers", "name").splitlines() if self.token in name}

    def depths(self, *kinds):
        return [self.wire.depth(self.own(kind)) for kind in kinds]

    def test_nothing_is_deleted_and_what_waits_comes_to_the_lane_and_waits_there(self):
        daemon = self.retryd(self.policy(self.queue, self.other))
        for body in (b"useless", b"wrong"):
            self.send(body)
        self.wait_for_depth(self.own("parked"), 1, 30)
        for body in (b"fails", b"waits"):
            self.send(body)
        eventually(lambda: self.depths("delay.4000ms", "hold.4000ms", "dlq", "parked") == [1, 1, 1, 1], what="one in each place")
        self.assertEqual(daemon.stop(), 0)
        before = self.names()

        daemon.write_policy(self.policy(self.other))
        daemon.start()
        eventually(lambda: self.depths("delay.4000ms", "hold.4000ms", "lane") == [0, 0, 2], what="both in the lane")
        self.assertEqual(self.names(), before)
        self.assertEqual(self.depths("dlq", "parked"), [1, 1])
        self.assertEqual([view["name"] for view in daemon.status()["queues"]], [self.other])
        self.assertEqual(daemon.stop(), 0)

        self.answers = dict.fromkeys(self.answers, 200)
        daemon.write_policy(self.policy(self.queue, self.other))
        seen = len(self.app.requests)
        daemon.start()
        self.wait_for_nothing_left(lots=("parked", "dlq"))
        self.assertEqual({(request.body, request.attempt) for request in self.app.requests[seen:]}, {(b"fails", 2), (b"waits", 1)})
        self.assertEqual(self.depths("dlq", "parked"), [1, 1])


class LimitThatIsLifted(IntegrationCase):
    def test_a_delay_queue_that_goes_on_refusing_when_its_limit_has_gone_is_served_over_a_new_link(self):
        """RabbitMQ 3.10 tells a channel that it may publish again when a full queue gets shorter, but not when its limit goes."""
        self.declare_work_queue(arguments=quorum())
        app = self.consumer(lambda request: 200 if request.seen else 500)
        daemon = self.retryd(f'queues: {{"@QUEUE@": {{deliver: {{http: "{app.url}"}}, retry: {{quick: none, delays: [10s], spread: 1}}}}}}')
        limit = f"limit-{self.token}"
        definition = '{"max-length": 3, "overflow": "reject-publish"}'
        rabbitmqctl("set_policy", "--apply-to", "queues", limit, f"^retryd[.]{self.queue}[.]delay", definition)
        for number in range(40):
            self.send(b"%d" % number)
        self.wait_for_cause(daemon, "unroutable", 30)
        rabbitmqctl("clear_policy", limit)
        self.wait_for_nothing_left(90)
        self.wait_for_flow(daemon)
        self.assertEqual(sorted(request.attempt for request in app.requests), [1] * 40 + [2] * 40)
