"""The base of the integration tests: one wire client and queue names of its own for each test, everything removed afterwards.

A test that fails shows, below its traceback, what its daemons and its queues were like at that moment.
"""

import contextlib
import os
import pathlib
import re
import secrets
import subprocess
import tempfile
import time
import unittest

from amqp_codec import encode_properties
from amqp_wire import Wire
from consumer import Consumer
from frame_proxy import FrameProxy
from proxy import Proxy
from retryd import WITHOUT_GUARDS, Retryd, eventually, with_defaults

PRIVATE_BROKER = pathlib.Path(__file__).resolve().parents[1] / "tools" / "private_broker"
LOTS = ("parked", "dlq")


def rabbitmqctl(*arguments):
    command = [PRIVATE_BROKER, "ctl", os.environ["RETRYD_TEST_BROKER_DIR"], "--quiet", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class IntegrationCase(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.token = secrets.token_hex(4)
        cls.addClassCleanup(cls.delete_queues)

    @classmethod
    def delete_queues(cls):
        """Every queue with the token in its name: retryd itself deletes none."""
        names = rabbitmqctl("list_queues", "--no-table-headers", "name").splitlines()
        with Wire() as wire:
            for name in names:
                if cls.token in name:
                    wire.delete(name)

    def setUp(self):
        name = re.sub(r"\W+", "-", self._testMethodName.removeprefix("test_"))[:40]
        self.queue = f"{name}.{self.token}"
        self.wire = self.entered(Wire())
        self.daemons = []
        folder = self.entered(tempfile.TemporaryDirectory(prefix="retryd-test-"))
        self.folder = pathlib.Path(folder)

    def _callTestMethod(self, method):  # the one place between setUp and the cleanups
        with self.explaining():
            method()

    @contextlib.contextmanager
    def subTest(self, *arguments, **parameters):
        with super().subTest(*arguments, **parameters), self.explaining():
            yield

    @contextlib.contextmanager
    def explaining(self):
        """What fails in here is told with the situation, which is gone by the time that it is printed."""
        try:
            yield
        except Exception as error:
            if not getattr(error, "__notes__", None):
                error.add_note(self.situation())
            raise

    def situation(self):
        asked = ("name", "type", "messages_ready", "messages_unacknowledged", "consumers")
        try:
            table = rabbitmqctl("list_queues", *asked).splitlines()
        except subprocess.CalledProcessError as error:
            table = [f"{self.queue}: no list: {error.stderr}"]
        idle = re.compile(r"\t0\t0\t0$")
        queues = [line for line in table if self.queue in line or (self.token in line and not idle.search(line))]
        return "\n".join(["", *(daemon.situation() for daemon in self.daemons), "--- queues: " + ", ".join(asked), *queues, ""])

    def entered(self, context):
        return self.enterContext(context)

    # --- the parts of a test

    def declare_work_queue(self, queue=None, arguments=()):
        self.wire.declare(queue or self.queue, arguments)

    def consumer(self, reply=lambda request: 200, tcp=False):
        """A running consumer, on a Unix socket unless it shall be TCP."""
        path = None if tcp else str(self.folder / f"app-{secrets.token_hex(2)}.sock")
        return self.entered(Consumer(reply, path))

    def retryd(self, policy, amqp=None, arguments=(), wait_ready=True, wrapper=(), guards=False):
        """A running daemon. In `policy`, @QUEUE@ stands for self.queue. It has no slow start unless the policy speaks of one, and
        the built-in breaker, budgets and storm guard only with `guards`."""
        if "slow_start" not in policy:
            policy = with_defaults(policy, "deliver: {slow_start: none}")
        if not guards:
            policy = with_defaults(policy, WITHOUT_GUARDS)
        daemon = Retryd(policy.replace("@QUEUE@", self.queue), amqp, arguments, wrapper)
        self.addCleanup(daemon.end)
        self.daemons.append(daemon)
        return daemon.start(wait_ready)

    def serve(self, reply, keys="", queue=None, concurrency=4):
        """A running consumer and a running daemon between it and the queue. `keys`: more keys of the queue, on one line."""
        app = self.consumer(reply)
        deliver = f'deliver: {{http: "{app.url}", concurrency: {concurrency}}}'
        return app, self.retryd(f'queues: {{"{queue or self.queue}": {{{deliver}, {keys}}}}}')

    def send(self, body, queue=None, **properties):
        """One persistent message into the work queue."""
        self.wire.publish(queue or self.queue, body, encode_properties(**{"delivery_mode": 2, **properties}))

    def proxy(self, url=None, context=None):
        return self.entered(Proxy(url or os.environ["RETRYD_TEST_AMQP"], context))

    def frame_proxy(self):
        return self.entered(FrameProxy(os.environ["RETRYD_TEST_AMQP"]))

    # --- what it asks

    def own(self, kind, queue=None):
        """The name of one of retryd's queues: own("parked"), own("delay.800ms")."""
        return f"retryd.{queue or self.queue}.{kind}"

    def wait_for_depth(self, queue, messages, timeout=15):
        eventually(lambda: self.wire.depth(queue) == messages, timeout, f"{messages} messages in {queue}")

    def wait_for_lot(self, lot, timeout=15):
        """The first message of the parking lot or the dead letters, taken out of it."""
        return eventually(lambda: self.wire.get(self.own(lot)), timeout, f"a message in {lot}")

    def wait_for_cause(self, daemon, cause, timeout=15):
        eventually(lambda: cause in daemon.causes(self.queue), timeout, f"the cause {cause}")

    def wait_for_flow(self, daemon, timeout=20):
        eventually(lambda: daemon.answers("/flowz"), timeout, "/flowz 200")

    def wait_for_requests(self, app, count, timeout=20):
        eventually(lambda: len(app.requests) >= count, timeout, f"{count} requests at the consumer")

    def wait_for_nothing_left(self, timeout=20, lots=()):
        """Every queue of this test is empty, but for the lots named, and no daemon has anything in hand."""
        kept = {self.own(lot) for lot in lots}
        eventually(lambda: self.nothing_left(kept) and self.nothing_left(kept), timeout, "no message in any queue", every=0.1)

    def nothing_left(self, kept):
        """What is on its way from one place to the next while they are asked shows in the figures."""
        before = self.in_hands()
        names = [name for name in rabbitmqctl("list_queues", "--no-table-headers", "name").splitlines() if self.queue in name]
        waiting = [name for name in sorted(names, key=lambda name: "lane" in name or name == self.queue) if self.wire.depth(name)]
        return before == self.in_hands() and not any(held for held, _ in before) and set(waiting) <= kept

    def in_hands(self):
        """What each running daemon holds of this test's queue, and what it has had answered."""
        running = [daemon for daemon in self.daemons if daemon.process]
        return [(daemon.queue_status(self.queue)["in_hand"], daemon.deliveries(self.queue)) for daemon in running]

    # --- what it asserts

    def assert_no_busy_loop(self, daemon):
        """A state that lasts costs next to nothing: over some seconds less than a fifth of a core."""
        begin, used = time.monotonic(), daemon.cpu_seconds()
        time.sleep(2)
        self.assertLess((daemon.cpu_seconds() - used) / (time.monotonic() - begin), 0.2)
