"""The base of the integration tests: one wire client and queue names of its own for each test, everything removed afterwards."""

import os
import pathlib
import re
import secrets
import subprocess
import tempfile
import unittest

from amqp_wire import Wire
from consumer import Consumer
from proxy import Proxy
from retryd import Retryd, eventually

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
        names = rabbitmqctl("list_queues", "--no-table-headers", "name").split()
        with Wire() as wire:
            for name in names:
                if cls.token in name:
                    wire.delete(name)

    def setUp(self):
        name = re.sub(r"\W+", "-", self._testMethodName.removeprefix("test_"))[:40]
        self.queue = f"{name}.{self.token}"
        self.wire = self.entered(Wire())
        folder = self.entered(tempfile.TemporaryDirectory(prefix="retryd-test-"))
        self.folder = pathlib.Path(folder)

    def entered(self, context):
        return self.enterContext(context)

    # --- the parts of a test

    def declare_work_queue(self, queue=None, arguments=()):
        self.wire.declare(queue or self.queue, arguments)

    def consumer(self, reply=lambda request: 200, tcp=False):
        """A running consumer, on a Unix socket unless it shall be TCP."""
        path = None if tcp else str(self.folder / f"app-{secrets.token_hex(2)}.sock")
        return self.entered(Consumer(reply, path))

    def retryd(self, policy, amqp=None, arguments=()):
        """A running daemon. In `policy`, @QUEUE@ stands for self.queue."""
        return self.entered(Retryd(policy.replace("@QUEUE@", self.queue), amqp, arguments))

    def proxy(self):
        return self.entered(Proxy(os.environ["RETRYD_TEST_AMQP"]))

    # --- what it asks

    def own(self, kind, queue=None):
        """The name of one of retryd's queues: own("parked"), own("delay.800ms")."""
        return f"retryd.{queue or self.queue}.{kind}"

    def wait_for_depth(self, queue, messages, timeout=15):
        eventually(lambda: self.wire.depth(queue) == messages, timeout, f"{messages} messages in {queue}")

    def wait_for_lot(self, lot, timeout=15):
        """The first message of the parking lot or the dead letters, taken out of it."""
        return eventually(lambda: self.wire.get(self.own(lot)), timeout, f"a message in {lot}")
