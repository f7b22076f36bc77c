"""200 orders through retryd, as it happens. Started by ./dev demo, with a private broker in RETRYD_TEST_AMQP."""

import argparse
import collections
import json
import os
import pathlib
import signal
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration"))

from amqp_codec import encode_properties, text  # noqa: E402
from amqp_wire import Wire  # noqa: E402
from consumer import Consumer  # noqa: E402
from fates import FATES, TOTAL, Shop, fate_of, orders  # noqa: E402
from retryd import Retryd, eventually  # noqa: E402

QUEUE = "shop.orders"
RUNGS = {"1 s": (800, 933, 1067, 1200), "2 s": (1600, 1867, 2133, 2400), "4 s": (3200, 3733, 4267, 4800)}
PUBLISH_SECONDS = 6
PATIENCE_SECONDS = 90

HEADING = """\
                              |  waiting in the broker                |  for good
   time  delivered  succeeded |  queue   1 s   2 s   4 s  coming back |  parked  dead-lettered"""


def own(kind):
    return f"retryd.{QUEUE}.{kind}"


def say(line=""):
    print(line, flush=True)


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


class Waiting:
    """How many messages wait in each queue. A delay queue is there only after its first message."""

    def __init__(self, wire):
        self.wire = wire

    def row(self):
        return [self.of(QUEUE), *(self.rung(name) for name in RUNGS), self.of(own("lane"))]

    def rung(self, name):
        return sum(self.of(own(f"delay.{delay}ms")) for delay in RUNGS[name])

    def of(self, queue):
        return self.wire.depth(queue) or 0


def publish():
    """All orders, spread over some seconds, from a connection of its own."""
    with Wire() as wire:
        for number, body in enumerate(orders(), 1):
            properties = encode_properties(
                content_type="application/json", delivery_mode=2, message_id=f"order-{number}", headers=[text("tenant", "demo")])
            wire.publish(QUEUE, body, properties)
            time.sleep(PUBLISH_SECONDS / TOTAL)


def watch(waiting, shop, lots):
    """A line each second, and one for what was set aside in it, until every order has found its end."""
    say(HEADING)
    began = time.monotonic()
    settled = 0
    while settled < TOTAL:
        time.sleep(1)
        new = {lot: lot.newcomers() for lot in lots}
        succeeded, set_aside = sum(shop.succeeded.values()), [len(lot.messages) for lot in lots]
        settled = succeeded + sum(set_aside)
        passed = time.monotonic() - began
        say("{:5.0f} s {:10} {:10} | {:6} {:5} {:5} {:5} {:12} | {:7} {:14}".format(
            passed, sum(shop.delivered.values()), succeeded, *waiting.row(), *set_aside))
        for lot, messages in new.items():
            explain(lot, messages)
        if passed > PATIENCE_SECONDS:
            raise AssertionError(f"only {settled} of {TOTAL} orders have found their end")


def explain(lot, messages):
    """Why they lie where they lie: their own headers tell it."""
    causes = collections.defaultdict(list)
    for message in messages:
        headers = message.headers
        cause = f"{headers['retryd-reason']}, attempts {headers['retryd-attempts']}, {headers['retryd-error-type']}"
        causes[cause].append(json.loads(message.body)["order"])
    for cause, numbers in causes.items():
        named = ", ".join(map(str, numbers[:6])) + (", \u2026" if len(numbers) > 6 else "")
        say(f"          {lot.ends}: {cause}: order{'s' * (len(numbers) > 1)} {named}")


def table(shop, lots):
    """Prints it; true when every number is what it must be."""
    in_parked, in_dead = (collections.Counter(fate_of(message.body) for message in lot.messages) for lot in lots)
    line = "  {:28} {:>8} {:>10} {:>10} {:>8} {:>14}".format
    say(line("fate", "messages", "delivered", "succeeded", "parked", "dead-lettered"))
    sums = [0] * 5
    right = True
    for fate in FATES:
        numbers = [fate.messages, shop.delivered[fate], shop.succeeded[fate], in_parked[fate], in_dead[fate]]
        say(line(fate.name, *numbers))
        ends = {"succeeded": numbers[2], "parked": numbers[3], "dead-lettered": numbers[4]}
        right &= ends.pop(fate.ends) == fate.messages and not any(ends.values())
        right &= numbers[1] == fate.messages * fate.deliveries
        sums = [total + number for total, number in zip(sums, numbers)]
    say(line("total", *sums))
    say()
    say(f"  {sums[2]} succeeded + {sums[3]} parked + {sums[4]} dead-lettered = {sum(sums[2:])} of {TOTAL}: "
        + ("it adds up, and nothing waits any more." if right else "IT DOES NOT ADD UP."))
    return right


def play(wire, retryd, shop):
    waiting, lots = Waiting(wire), [Lot("parked", "parked"), Lot("dlq", "dead-lettered")]
    publisher = threading.Thread(target=publish, daemon=True)
    publisher.start()
    watch(waiting, shop, lots)
    publisher.join()
    eventually(lambda: sum(waiting.row()) == 0, 10, "empty queues")
    say()
    right = table(shop, lots)
    for lot in lots:
        lot.hand_back()
    code = retryd.stop()
    say(f"  retryd drained and ended with {code}.")
    say()
    say(f"{own('parked')} and {own('dlq')} are plain queues. On a broker of yours, look at")
    say("them with its own tools: rabbitmqctl list_queues, or \"Get messages\" on the management page.")
    return right and code == 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--retryd", required=True)
    os.environ["RETRYD_BIN"] = arguments.parse_args().retryd
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    say(f"{TOTAL} orders go into the queue {QUEUE}; retryd hands them to a shop that fails in its own ways.")
    say("Policy: tests/demo/policy.yaml (one quick try, then 1 s, 2 s, 4 s; then the parking lot).")
    say()
    shop = Shop()
    policy = (HERE / "policy.yaml").read_text(encoding="utf-8")
    with Wire() as wire:
        wire.declare(QUEUE, [text("x-queue-type", "quorum")])
        retryd = Retryd(policy)
        with Consumer(shop.reply, f"{retryd.folder}/shop.sock"), retryd:
            return 0 if play(wire, retryd, shop) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        say("\nstopped; nothing is left behind")
        sys.exit(130)
