"""Twenty daemons and one broker that goes away for a minute: they come back by and by, not all at once."""

import collections
import time

from amqp_codec import quorum
from consumer import Answer
from soak_case import SoakCase, scaled

DAEMONS = 20


class Fleet(SoakCase):
    def test_twenty_daemons_come_back_spread_over_their_backoff(self):
        self.declare_work_queue(arguments=quorum())
        app = self.consumer(lambda request: Answer(200, wait=0.01))
        network = self.proxy()
        policy = f'queues: {{"@QUEUE@": {{deliver: {{http: "{app.url}", concurrency: 2}}, prefetch: 4}}}}'
        daemons = [self.retryd(policy, network.url) for _ in range(DAEMONS)]
        network.refuse()
        network.cut()
        seconds = scaled(60, 10)
        tries = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            tries.append(network.connects)
            time.sleep(0.1)
        last = [later - earlier for earlier, later in zip(tries[len(tries) // 2 :], tries[len(tries) // 2 + 1 :])]
        self.figure("tries to connect in all", tries[-1] - tries[0])
        self.figure("most in a tenth of a second, second half", max(last))
        # Forty links, each at most once in 2.5 s on average: under two in a tenth of a second, were they perfectly even.
        self.assertLess(max(last), DAEMONS)
        self.assertLess(tries[-1] - tries[0], 2 * DAEMONS * (10 + seconds / 2))
        self.publish_numbers(range(2000))
        begin = time.monotonic()
        network.accept()
        self.wait_for_requests(app, 2000, 60)
        self.wait_for_nothing_left()
        for daemon in daemons:
            self.wait_for_flow(daemon, 60)
        self.figure("seconds until the first message", app.requests[0].at - begin)
        self.figure("seconds until all daemons flow", time.monotonic() - begin)
        self.assertEqual(collections.Counter(int(request.body) for request in app.requests), dict.fromkeys(range(2000), 1))
