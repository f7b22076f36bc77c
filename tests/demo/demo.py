"""200 orders through retryd, as it happens. Started by ./dev demo, with a private broker in RETRYD_TEST_AMQP."""

import argparse
import contextlib
import os
import pathlib
import signal
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration"))

from amqp_codec import encode_properties, text  # noqa: E402
from amqp_wire import Wire  # noqa: E402
from fates import TOTAL, orders  # noqa: E402
from gauges import QUEUE, Gauges, own  # noqa: E402
from reporters import reporter, say  # noqa: E402
from retryd import Retryd, eventually  # noqa: E402
from shops import HttpShop, StreamShop  # noqa: E402
from table import table  # noqa: E402

WAVE, WAVE_SECONDS = 100, 6.5  # orders come in two waves, so far apart
PATIENCE_SECONDS = 90
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(Exception):
    """Somebody wants the demo to end."""


def stop(number, _frame):
    """A second signal is not heard: what is being removed shall be removed."""
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    raise Stopped(number)


def publish():
    """All orders, from a connection of its own."""
    with Wire() as wire:
        for number, body in enumerate(orders(), 1):
            properties = encode_properties(
                content_type="application/json", delivery_mode=2, message_id=f"order-{number}", headers=[text("tenant", "demo")])
            wire.publish(QUEUE, body, properties)
            if number == WAVE:
                time.sleep(WAVE_SECONDS)


def watch(gauges, show):
    """Until every order has found its end. Returns the last figures."""
    while True:
        figures, news = gauges.read()
        show.show(figures, news)
        if figures.settled >= TOTAL and figures.waiting == 0:
            return figures
        if figures.passed > PATIENCE_SECONDS:
            raise AssertionError(f"only {figures.settled} of {TOTAL} orders have found their end")
        time.sleep(show.every)


def play(wire, retryd, shop):
    """The story. True when it ends as it must."""
    gauges = Gauges(wire, retryd)
    publisher = threading.Thread(target=publish, daemon=True)
    publisher.start()
    with reporter(TOTAL, shop.title) as show:
        figures = watch(gauges, show)
    publisher.join()
    lines, right = table(shop, gauges.lots, figures.outcomes)
    say()
    say("\n".join(lines))
    gauges.hand_back()
    code = retryd.stop()
    say(f"  retryd drained and ended with {code}.")
    say()
    say(f"{own('parked')} and {own('dlq')} are plain queues. On a broker of yours, look at")
    say("them with its own tools: rabbitmqctl list_queues, or \"Get messages\" on the management page.")
    return right and code == 0


def run(make_shop):
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="shop-"))
        shop = make_shop(folder)
        say(f"{TOTAL} orders go into the queue {QUEUE}; retryd hands them to a shop that fails in its own ways:")
        say(f"{shop.clerks}.")
        say("Policy: tests/demo/policy.yaml (one quick try, then 1 s, 2 s, 4 s in the broker; then the parking lot).")
        say()
        wire = stack.enter_context(Wire())
        wire.declare(QUEUE, [text("x-queue-type", "quorum")])
        policy = (HERE / "policy.yaml").read_text(encoding="utf-8").replace("@CONSUMER@", shop.deliver)
        retryd = stack.enter_context(Retryd(policy))
        stack.callback(shop.close)
        shop.open(retryd)
        return 0 if play(wire, retryd, shop) else 1


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--retryd", required=True, help="the program")
    arguments.add_argument("--stream", action="store_true", help="processes that dial retryd, instead of an HTTP server")
    options = arguments.parse_args()
    os.environ["RETRYD_BIN"] = options.retryd
    tempfile.tempdir = os.environ["RETRYD_TEST_BROKER_DIR"]  # goes with the broker, should this process be killed
    for number in SIGNALS:
        signal.signal(number, stop)
    try:
        return run(StreamShop if options.stream else HttpShop)
    except Stopped as stopped:
        say("\nstopped; nothing is left behind")
        return 128 + stopped.args[0]


if __name__ == "__main__":
    sys.exit(main())
