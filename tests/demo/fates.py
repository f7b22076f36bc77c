"""What becomes of the demo's orders: five kinds of fate, and a shop that deals them out."""

import json
import random
from dataclasses import dataclass
from typing import Callable

from consumer import Answer


def fails(error_type, message, status=500):
    return Answer(status, {"Retryd-Error-Type": error_type, "Retryd-Error-Message": message})


def refuses(title, detail):
    problem = {"type": "about:blank", "title": title, "status": 422, "detail": detail}
    return Answer(422, {"Content-Type": "application/problem+json"}, json.dumps(problem).encode())


@dataclass(frozen=True)
class Fate:
    name: str
    messages: int
    deliveries: int  # of each message
    ends: str  # succeeded, parked or dead-lettered
    reply: Callable  # from how often the order has come before


QUICK, DELAYED = 1, 3  # as policy.yaml says

FATES = (
    Fate("succeeds", 110, 1, "succeeded", lambda seen: 200),
    Fate("fails twice, then succeeds", 45, 3, "succeeded",
         lambda seen: 200 if seen >= 2 else fails("StockDbTimeout", "no answer from the stock database")),
    Fate("slow", 25, 1, "succeeded", lambda seen: Answer(200, wait=0.6)),
    Fate("permanent error (422)", 10, 1, "dead-lettered", lambda seen: refuses("UnknownArticle", "there is no article 0815")),
    Fate("always fails (500)", 10, 1 + QUICK + DELAYED, "parked",
         lambda seen: fails("CarrierDown", "the carrier's gateway does not answer")),
)
TOTAL = sum(fate.messages for fate in FATES)


def orders():
    """The message bodies, their fates mixed, the same each time."""
    fates = [fate.name for fate in FATES for _ in range(fate.messages)]
    random.Random(7).shuffle(fates)
    return [json.dumps({"order": number, "fate": name}).encode() for number, name in enumerate(fates, 1)]


def fate_of(body):
    name = json.loads(body)["fate"]
    return next(fate for fate in FATES if fate.name == name)


class Shop:
    """The consumer application: counts what it was handed and what it finished."""

    def __init__(self):
        self.delivered = dict.fromkeys(FATES, 0)
        self.succeeded = dict.fromkeys(FATES, 0)

    def reply(self, request):
        fate = fate_of(request.body)
        self.delivered[fate] += 1
        answer = fate.reply(request.seen)
        if answer == 200 or getattr(answer, "status", 0) == 200:
            self.succeeded[fate] += 1
        return answer
