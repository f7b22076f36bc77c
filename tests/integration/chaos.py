"""Kills, cuts and restarts everything at random while messages flow, and then counts: lost 0, each in exactly one place.

    ./dev chaos [--minutes N] [--seed S]

A crash may make a duplicate, never a loss; a duplicate ends where its message ends, because a message's number decides its fate.
The seed decides what happens when; the machine decides where exactly it hits.
"""

import argparse
import collections
import random
import signal
import sys
import tempfile
import threading
import time

from amqp_codec import encode_properties, text
from amqp_wire import ChannelClosed, ConnectionClosed, Nacked, Wire
from consumer import CLOSE, Answer, Consumer
from integration_case import rabbitmqctl
from proxy import Proxy
from retryd import Retryd, eventually

QUEUE = "chaos"
PER_SECOND = 150
CALM_SECONDS = 120  # how long everything may take to settle when the chaos is over
POLICY = """\
broker: {{uri: "@AMQP@", heartbeat: 2s, connect_timeout: 3s, confirm_timeout: 5s}}
queues:
  chaos:
    deliver: {{http: "{consumer}", timeout: 3s, concurrency: 16}}
    retry: {{quick: {{tries: 1, delay: 20ms}}, delays: [200ms, 500ms, 1s], jitter: 20%, spread: 4}}
    hold: {{delays: [1s, 2s]}}
"""


def fate(number):
    """Where message `number` must end, whatever happens on the way."""
    return {17: "dlq", 18: "parked", 19: "parked"}.get(number % 20, "succeeded")


class Application:
    """The consumer's side: fails as the message's number says, and remembers what it finished."""

    def __init__(self):
        self.succeeded = collections.Counter()

    def reply(self, request):
        number = int(request.body)
        if fate(number) == "dlq":
            return 422
        if fate(number) == "parked":
            return 500
        if number % 20 in (12, 13, 14, 15) and request.seen < 2:
            return 503
        if number % 200 == 16 and request.seen == 0:
            return CLOSE
        self.succeeded[number] += 1
        return Answer(200, wait=0.3 if number % 20 == 11 else 0)


class Publisher(threading.Thread):
    """Publishes numbers until it is stopped; one that was not confirmed is published again."""

    def __init__(self):
        super().__init__(daemon=True)
        self.ended = threading.Event()
        self.published = 0  # confirmed ones: 1..published

    def run(self):
        wire = None
        while not self.ended.is_set():
            try:
                wire = wire or Wire()
                body = str(self.published + 1).encode()
                wire.publish(QUEUE, body, encode_properties(delivery_mode=2, message_id=b"m-" + body))
                self.published += 1
            except (OSError, ConnectionClosed, ChannelClosed, Nacked):
                wire = None
                time.sleep(0.5)
            time.sleep(1 / PER_SECOND)

    def stop(self):
        self.ended.set()
        self.join()


class Chaos:
    """The things that go wrong. Each leaves the world mended, if not in order."""

    def __init__(self, retryd, proxy, consumer, dice):
        self.retryd, self.proxy, self.consumer, self.dice = retryd, proxy, consumer, dice
        self.happened = collections.Counter()
        self.deeds = {  # and how often, against each other
            self.kill_retryd: 5, self.cut_connections: 3, self.cut_inside_a_frame: 5, self.stall: 2, self.half_open: 2,
            self.close_by_the_broker: 3, self.kill_consumer: 3, self.restart_broker: 2, self.drain_and_start: 2,
        }

    def strike(self):
        assert self.retryd.process.poll() is None, f"retryd ended by itself:\n{self.retryd.log()[-3000:]}"
        (deed,) = self.dice.choices(list(self.deeds), list(self.deeds.values()))
        self.happened[deed.__name__.replace("_", " ")] += 1
        deed()

    def kill_retryd(self):
        self.retryd.kill()
        self.retryd.start(wait_ready=False)

    def drain_and_start(self):
        code = self.retryd.stop()
        assert code == 0, f"SIGTERM ended retryd with {code}:\n{self.retryd.log()[-3000:]}"
        self.retryd.start(wait_ready=False)

    def cut_connections(self):
        self.proxy.cut()

    def cut_inside_a_frame(self):
        self.proxy.cut_after(self.dice.choice(("up", "down")), self.dice.randrange(1, 20000))

    def stall(self):
        way = self.dice.choice(("up", "down"))
        self.proxy.stall(way)
        time.sleep(self.dice.uniform(0.5, 6))
        self.proxy.resume(way)

    def half_open(self):
        self.proxy.half_open()

    def close_by_the_broker(self):
        rabbitmqctl("close_all_connections", "chaos")

    def kill_consumer(self):
        self.consumer.stop()
        time.sleep(self.dice.uniform(0, 2))
        self.consumer.start()

    def restart_broker(self):
        rabbitmqctl("stop_app")
        rabbitmqctl("start_app")


def depths():
    lines = rabbitmqctl("list_queues", "--no-table-headers", "name", "messages").splitlines()
    return {name: int(messages) for name, messages in (line.rsplit("\t", 1) for line in lines)}


class Calm:
    """Says when nothing moves any more. The broker's figure of a quorum queue can be five seconds old, so that one look
    proves nothing: everything must be empty at each look for longer than that."""

    seconds = 7

    def __init__(self, lots):
        self.lots = lots
        self.since = None

    def __call__(self):
        if any(messages for name, messages in depths().items() if name not in self.lots):
            self.since = None
        elif self.since is None:
            self.since = time.monotonic()
        return self.since is not None and time.monotonic() - self.since > self.seconds


def count(application, published):
    """Prints it; true when nothing is lost and nothing lies in a second place."""
    places = collections.defaultdict(collections.Counter)
    for number, times in application.succeeded.items():
        places[number]["succeeded"] += times
    with Wire() as wire:
        for lot in ("parked", "dlq"):
            for message in wire.get_all(f"retryd.{QUEUE}.{lot}"):
                places[int(message.body)][lot] += 1
    numbers = range(1, published + 1)
    lost = [number for number in numbers if not places[number]]
    astray = [number for number in numbers if places[number] and set(places[number]) != {fate(number)}]
    repeated = sum(sum(places[number].values()) - 1 for number in numbers if places[number])
    for place in ("succeeded", "parked", "dlq"):
        print(f"  {place:10} {sum(1 for number in numbers if place in places[number]):7}")
    print(f"  {'published':10} {published:7}   lost {len(lost)}, in a wrong place {len(astray)}, repeated {repeated}")
    for title, some in (("lost", lost), ("in a wrong place", astray)):
        for number in some[:10]:
            print(f"  {title}: {number} {dict(places[number])}")
    return not lost and not astray


def run(minutes, seed):
    dice = random.Random(seed)
    application = Application()
    lots = {f"retryd.{QUEUE}.parked", f"retryd.{QUEUE}.dlq"}
    with Wire() as wire:
        wire.declare(QUEUE, [text("x-queue-type", "quorum")])
        broker = wire.url
    with tempfile.TemporaryDirectory(prefix="retryd-chaos-") as folder, \
            Consumer(application.reply, f"{folder}/app.sock") as consumer, Proxy(broker) as proxy, \
            Retryd(POLICY.format(consumer=consumer.url), amqp=proxy.url) as retryd:
        chaos = Chaos(retryd, proxy, consumer, dice)
        publisher = Publisher()
        publisher.start()
        end = time.monotonic() + minutes * 60
        while time.monotonic() < end:
            time.sleep(dice.uniform(0.5, 4))
            chaos.strike()
        publisher.stop()
        print("what happened: " + ", ".join(f"{deed} {times}" for deed, times in sorted(chaos.happened.items())))
        proxy.cut_after("up", 1 << 60)  # a cut that has not come yet does not come any more
        proxy.cut_after("down", 1 << 60)
        try:
            eventually(Calm(lots), CALM_SECONDS, "empty queues after the chaos", every=1)
        except AssertionError:
            print(depths(), retryd.get("/status")[1], retryd.log()[-6000:], sep="\n")
            raise
        code = retryd.stop()
        return count(application, publisher.published) and code == 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--minutes", type=float, default=5)
    arguments.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    chosen = arguments.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(f"chaos for {chosen.minutes:g} min, --seed {chosen.seed}", flush=True)
    if not run(chosen.minutes, chosen.seed):
        sys.exit(f"chaos: not every message is where it must be; --seed {chosen.seed}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("\nstopped; nothing is left behind")
        sys.exit(130)
