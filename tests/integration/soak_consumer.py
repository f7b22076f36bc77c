"""A consumer that is gone for a minute, that closes idle connections just when the next message comes, or that answers just when its time
is up."""

import asyncio
import time

from amqp_codec import quorum
from consumer import Answer
from soak_case import SoakCase, scaled

MINUTE = scaled(60, 5)


class Absence(SoakCase):
    def test_ten_thousand_messages_outlive_a_minute_without_their_consumer(self):
        count = scaled(10_000, 500)
        self.declare_work_queue(arguments=quorum())
        self.publish_numbers(range(count))
        app = self.consumer(lambda request: Answer(200, wait=0.01))
        keys = "retry: {quick: {tries: 1, delay: 50ms}, delays: [1s], max: 1}"
        daemon = self.retryd(f'queues: {{"@QUEUE@": {{deliver: {{http: "{app.url}", concurrency: 16}}, {keys}}}}}')
        self.wait_for_requests(app, count // 10)
        app.stop()
        self.wait_for_cause(daemon, "consumer-away")
        used = daemon.cpu_seconds()
        self.assertEqual(set(self.keep_asking(MINUTE, lambda: daemon.get("/livez")[0])), {200})
        self.figure("processor time while it was away", (daemon.cpu_seconds() - used) / MINUTE * 100, "% of one core")
        self.assertLess((daemon.cpu_seconds() - used) / MINUTE, 0.2)
        app.start()
        back = time.monotonic()
        self.wait_for_requests(app, count, 600)
        self.wait_for_nothing_left()
        first = next(request.at for request in app.requests if request.at > back)
        self.figure("seconds from its return to the first message", first - back)
        deliveries = daemon.deliveries(self.queue)
        self.figure("messages", count)
        self.figure("lost with its connections", deliveries.get("lost", 0))
        self.assertEqual(deliveries["success"], count)
        self.assertEqual({int(request.body) for request in app.requests}, set(range(count)))
        self.assertEqual([self.wire.depth(self.own(lot)) for lot in ("parked", "dlq")], [0, 0])
        # Sixteen died with the consumer; of those, one may have been alone at the end.
        self.assertLessEqual(sum(request.attempt > 1 for request in app.requests), 1)


class IdleConnections(SoakCase):
    def check(self, idle, count, every):
        """The consumer closes a connection that was idle for so long; a message comes as often."""
        self.declare_work_queue()
        app = self.consumer()

        def close_when_idle():
            for connection in list(app.connections):
                asyncio.get_running_loop().call_later(idle, connection.transport.close)

        app.reply = lambda request: Answer(200, after=close_when_idle)
        daemon = self.retryd(f'queues: {{"@QUEUE@": {{deliver: {{http: "{app.url}", concurrency: 1}}}}}}')
        for n in range(count):
            begin = time.monotonic()
            self.send(b"%d" % n)
            self.wait_for_requests(app, n + 1)
            time.sleep(max(0, begin + every - time.monotonic()))
        self.wait_for_nothing_left()
        deliveries = daemon.deliveries(self.queue)
        self.figure("messages", count)
        self.figure("connections", app.connects)
        self.figure("lost", deliveries.get("lost", 0))
        self.assertEqual(deliveries["success"], count)
        self.assertEqual({int(request.body) for request in app.requests}, set(range(count)))
        return deliveries

    def test_closed_after_five_seconds_with_a_message_every_five_seconds(self):
        deliveries = self.check(idle=5, count=scaled(36, 3), every=5)
        self.assertEqual(set(deliveries), {"success"})  # no connection is used again after so long

    def test_closed_after_a_tenth_of_a_second_with_a_message_as_often(self):
        """Here the next message does meet the end of its connection: what may have been read counts as lost, once."""
        deliveries = self.check(idle=0.1, count=scaled(1000, 50), every=0.1)
        self.assertLess(deliveries.get("lost", 0), scaled(1000, 50) / 20)


class Timeouts(SoakCase):
    def test_ten_thousand_answers_at_the_moment_of_their_timeout_settle_once_each(self):
        count = scaled(10_000, 500)
        self.declare_work_queue(arguments=quorum())
        app = self.consumer(lambda request: Answer(200, wait=0.485 + int(request.body) % 31 / 1000) if request.seen == 0 else 200)
        keys = "retry: {quick: none, delays: [100ms], max: 5, jitter: 0%, spread: 1}"
        daemon = self.retryd(f'queues: {{"@QUEUE@": {{deliver: {{http: "{app.url}", timeout: 500ms, concurrency: 50}}, {keys}}}}}')
        self.publish_numbers(range(count))
        self.wait_for_nothing_left(900)
        outcomes = daemon.deliveries(self.queue)
        for outcome, times in outcomes.items():
            self.figure(outcome, times)
        self.assertEqual(outcomes["success"], count)
        self.assertEqual(set(outcomes), {"success", "timeout"})
        for trouble in ("channel_closed", "link_down"):
            self.assertNotIn(trouble, daemon.log())
