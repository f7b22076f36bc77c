"""What becomes of the demo's orders: five kinds of fate. Each order says in its body how the shop will fare with it."""

import json
import random
from dataclasses import dataclass, field

QUICK, DELAYED = 1, 3  # as policy.yaml says
ALWAYS = 99

STOCK_TIMEOUT = {"type": "StockDbTimeout", "message": "no answer from the stock database", "status": 500}
CARRIER_DOWN = {"type": "CarrierDown", "message": "the carrier's gateway does not answer", "status": 500}
UNKNOWN_ARTICLE = {"type": "UnknownArticle", "message": "there is no article 0815", "status": 422}


@dataclass(frozen=True)
class Fate:
    name: str
    messages: int
    deliveries: int  # of each message
    ends: str  # succeeded, parked or dead-lettered
    takes: float = 0.2  # seconds of the shop's work
    failures: int = 0  # so many attempts fail, with this error
    error: dict = field(default=None, compare=False)

    def order(self, number):
        return {"order": number, "fate": self.name, "takes": self.takes, "failures": self.failures, "error": self.error}


FATES = (
    Fate("succeeds", 110, 1, "succeeded"),
    Fate("fails twice, then succeeds", 45, 3, "succeeded", failures=2, error=STOCK_TIMEOUT),
    Fate("slow", 25, 1, "succeeded", takes=0.6),
    Fate("permanent error (422)", 10, 1, "dead-lettered", failures=ALWAYS, error=UNKNOWN_ARTICLE),
    Fate("always fails (500)", 10, 1 + QUICK + DELAYED, "parked", failures=ALWAYS, error=CARRIER_DOWN),
)
TOTAL = sum(fate.messages for fate in FATES)


def orders():
    """The message bodies, their fates mixed, the same each time."""
    fates = [fate for fate in FATES for _ in range(fate.messages)]
    random.Random(7).shuffle(fates)
    return [json.dumps(fate.order(number)).encode() for number, fate in enumerate(fates, 1)]


def fate_of(name):
    return next(fate for fate in FATES if fate.name == name)
