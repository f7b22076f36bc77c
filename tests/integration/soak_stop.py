"""Stopped a hundred times at random under load: no message is lost, none comes twice, no attempt is spent."""

import collections
import random
import signal
import time

from amqp_codec import quorum
from consumer import Answer
from restart_case import Load
from retryd import eventually
from soak_case import SoakCase, scaled


class Stops(SoakCase):
    def run_with(self, stop, times):
        self.declare_work_queue(arguments=quorum())
        app = self.consumer(lambda request: Answer(503 if request.seen == 0 and int(request.body) % 10 == 0 else 200, wait=0.01))
        keys = "retry: {quick: none, delays: [200ms], max: 3, jitter: 0%, spread: 1}"
        daemon = self.retryd(f'queues: {{"@QUEUE@": {{deliver: {{http: "{app.url}", concurrency: 8}}, {keys}}}}}')
        chance = random.Random(154)
        load = Load(self.queue)
        spans = []
        for _ in range(times):
            eventually(lambda: daemon.answers("/livez"), what="/livez")  # before, there is nothing that could be stopped in order
            time.sleep(chance.uniform(0, 0.6))
            begin = time.monotonic()
            self.assertEqual(stop(daemon), 0)
            spans.append(time.monotonic() - begin)
            daemon.start(wait_ready=False)
        count = load.stop()
        daemon.wait_ready()
        self.wait_for_nothing_left()
        self.figure("stops", times)
        self.figure("messages", count)
        self.figure("longest stop", max(spans) * 1000, "ms")
        delivered = collections.Counter(int(request.body) for request in app.requests)
        self.assertEqual(set(delivered), set(range(count)))
        self.assertEqual([self.wire.depth(self.own(lot)) for lot in ("parked", "dlq")], [0, 0])
        repeated = sum(delivered.values()) - count - len(range(0, count, 10))
        self.figure("delivered once more than needed", repeated)
        return app, repeated

    def assert_no_attempt_spent(self, app):
        self.assertEqual({request.attempt for request in app.requests if int(request.body) % 10}, {1})
        self.assertEqual({request.attempt for request in app.requests if not int(request.body) % 10}, {1, 2})

    def test_sigterm_a_hundred_times(self):
        app, repeated = self.run_with(lambda daemon: daemon.stop(), scaled(100, 5))
        self.assertEqual(repeated, 0)
        self.assert_no_attempt_spent(app)

    def test_sigint_and_a_second_sigterm_at_random(self):
        chance = random.Random(155)

        def stop(daemon):
            if chance.random() < 0.5:
                return daemon.signal(signal.SIGINT, 40)
            daemon.process.send_signal(signal.SIGTERM)
            time.sleep(chance.uniform(0, 0.01))
            return daemon.stop()

        app, _ = self.run_with(stop, scaled(50, 5))
        self.assert_no_attempt_spent(app)
