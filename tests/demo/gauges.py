"""Reads the demo's figures from those who know: queue depths from the broker, everything else from retryd's admin socket."""

import collections
import json
import time

from amqp_wire import Wire
from figures import Figures

QUEUE = "shop.orders"
RUNGS = {"1 s": (800, 933, 1067, 1200), "2 s": (1600, 1867, 2133, 2400), "4 s": (3200, 3733, 4267, 4800)}  # policy.yaml
BOUNDS = {name: (delays[0] / 1000, delays[-1] / 1000) for name, delays in RUNGS.items()}


def own(kind):
    return f"retryd.{QUEUE}.{kind}"


class Lot:
    """Reads each message once, as it comes in, and keeps it in hand; hand_back() puts all of them where they were."""

    def __init__(self, name, ends):
        self.name, self.ends = name, ends  # the queue's, and what is said of a message in it
        self.wire = Wire()
        self.messages = []

    def newcomers(self):
        new = []
        while (message := self.wire.get(own(self.name), ack=False)) is not None:
            new.append(message)
        self.messages += new
        return new

    def hand_back(self):
        self.wire.close()  # what was not acked is the queue's again

    def fates(self):
        return collections.Counter(json.loads(message.body)["fate"] for message in self.messages)


def reason_of(message):
    """Why a message lies where it lies: its own headers tell it."""
    headers = message.headers
    attempts = headers["retryd-attempts"]
    return f"{headers['retryd-reason']} after {attempts} attempt{'s' * (attempts != 1)}, {headers['retryd-error-type']}"


class Gauges:
    def __init__(self, wire, retryd):
        self.wire, self.retryd = wire, retryd
        self.lots = [Lot("parked", "parked"), Lot("dlq", "dead-lettered")]
        self.began = time.monotonic()

    def read(self):
        """The figures of this moment, and what has come into the lots since the last one: [(lot, messages)]."""
        news = [(lot, lot.newcomers()) for lot in self.lots]
        status = self.retryd.queue_status(QUEUE)
        figures = Figures(
            passed=time.monotonic() - self.began,
            state=status["state"],
            queue=self.depth(QUEUE),
            in_hand=status["in_hand"],
            in_flight=status["in_flight"],
            rungs={name: [self.depth(own(f"delay.{delay}ms")) for delay in delays] for name, delays in RUNGS.items()},
            lane=self.depth(own("lane")),
            outcomes=status["deliveries"],
            lots={lot.ends: len(lot.messages) for lot in self.lots})
        return figures, [(lot, messages) for lot, messages in news if messages]

    def depth(self, queue):
        """A delay queue is there only after its first message."""
        return self.wire.depth(queue) or 0

    def hand_back(self):
        for lot in self.lots:
            lot.hand_back()
