"""What the soak modules share: a figure is measured, printed and held against its bound.

    ./dev soak [MODULE...]          soak_MODULE.py, each with a broker of its own
    ./dev soak --scale 0.1 MODULE   a tenth of the messages, kills or seconds
"""

import os
import sys
import time

from amqp_codec import encode_properties
from amqp_wire import Wire
from integration_case import IntegrationCase
from process_facts import resident_kib

SCALE = float(os.environ.get("RETRYD_SOAK_SCALE", "1"))


def scaled(count, least=1):
    return max(least, round(count * SCALE))


class SoakCase(IntegrationCase):
    def figure(self, name, value, unit=""):
        """One line for each, as it is known."""
        number = f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"
        print(f"\n    {name}: {number} {unit}", end="", file=sys.stderr, flush=True)

    def publish_numbers(self, numbers, batch=1000, **properties):
        """Messages named 0, 1, 2 …, their id after them."""
        messages = [(encode_properties(delivery_mode=2, message_id=f"m-{n}", **properties), b"%d" % n) for n in numbers]
        for begin in range(0, len(messages), batch):
            self.wire.publish_all(self.queue, messages[begin : begin + batch])

    def wait_for_nothing_left(self, timeout=120, lots=()):
        super().wait_for_nothing_left(timeout, lots)

    def reconnect(self):
        """The test's own connection, after the broker was away."""
        self.wire.socket.close()
        self.wire = self.entered(Wire())

    def keep_asking(self, seconds, question, every=0.5):
        """The answers over a time."""
        end = time.monotonic() + seconds
        answers = []
        while time.monotonic() < end:
            answers.append(question())
            time.sleep(every)
        return answers


class Memory:
    """Resident memory over the course of a run: flat when what it grows by after its beginning is next to nothing."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.samples = []

    def sample(self):
        self.samples.append(resident_kib(self.daemon.pid))

    def growth(self, warm_up=0.25):
        """KiB: the highest of the last quarter over the highest of what followed the warm-up."""
        warm = self.samples[int(len(self.samples) * warm_up) :]
        quarter = max(1, len(warm) // 4)
        return max(warm[-quarter:]) - max(warm[:quarter])
