"""Kills, cuts, stalls, blocks and deletes at random while messages flow over HTTP and a stream, and then proves: lost 0, each in
exactly one place, unaltered, and every duplicate explained.

    ./dev chaos [--minutes N] [--seed S] [--log FILE]

A crash, a broken connection or a timeout may make a duplicate, never a loss; a duplicate ends where its message ends, because a
message's number decides its fate. The seed decides what happens when; the machine decides where exactly it hits.
"""

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time

from amqp_codec import quorum
from amqp_wire import Wire
from chaos_deeds import Deeds
from chaos_ledger import Ledger, clock
from chaos_messages import CALLS, POSTS
from chaos_world import HttpApplication, Publisher, Quiet, StreamWorkers, empty_lots, make_user, totals
from proxy import Proxy
from retryd import GUARDS_OFF, Retryd, eventually

QUIET_SECONDS = 240  # a lane's absence keeps the broker's quorum tiers shut up to three minutes
CALM_SECONDS = 5
POLICY = """\
broker: {{uri: "@AMQP@", heartbeat: 2s, connect_timeout: 3s, confirm_timeout: 5s}}
defaults:
  deliver: {{timeout: 5s, concurrency: 16}}
  retry: {{quick: {{tries: 1, delay: 20ms, skip_above: none}}, delays: [200ms, 500ms, 1s], jitter: 20%, spread: 2}}
  hold: {{delays: [1s, 2s]}}
groups:
  both: {{queues: [chaos.posts, chaos.calls], {guards}}}
queues:
  chaos.posts: {{deliver: {{http: "{http}"}}}}
  chaos.calls: {{deliver: {{stream: "unix:{stream}"}}}}
"""


def flows(retryd):
    """Nothing is stalled. What the broker may keep to itself for three minutes after a lane was away is a possibility that it names."""
    return retryd.answers("/flowz") or {cause for queue in (POSTS, CALLS) for cause in retryd.causes(queue)} == {"broker-dead-letter-wait"}


class Chaos:
    """One run: the world, what happens to it, and the ledger."""

    def __init__(self, seed, log=None):
        self.dice = random.Random(seed)
        self.ledger = Ledger()
        self.publisher = Publisher(self.ledger)
        self.stalls = 0
        self.log = log

    def run(self, minutes):
        with tempfile.TemporaryDirectory(prefix="retryd-chaos-") as folder:
            with Wire() as wire:
                for queue in (POSTS, CALLS):
                    wire.declare(queue, quorum())
                url = make_user(wire.url)
            with HttpApplication(self.ledger, f"{folder}/posts.sock") as application, Proxy(url) as proxy, \
                    StreamWorkers(f"unix:{folder}/calls.sock", f"{folder}/calls.log") as workers, \
                    Retryd(POLICY.format(http=application.url, stream=f"{folder}/calls.sock", guards=GUARDS_OFF), amqp=proxy.url) as retryd:
                deeds = Deeds(retryd, proxy, application, workers, self.publisher, self.ledger, self.dice)
                try:
                    self.disturb(deeds, minutes)
                    self.settle(retryd)
                    code = retryd.stop()
                finally:
                    if self.log:
                        shutil.copy(f"{retryd.folder}/log", self.log)
                assert code == 0, f"SIGTERM ended retryd with {code}"
                empty_lots(self.ledger)
                deeds.note_breaks()
                workers.tell(self.ledger)
        return self.judge()

    def disturb(self, deeds, minutes):
        """The chaos; then some seconds in which nothing happens, for which the ledger has no excuse."""
        self.publisher.start()
        end = time.monotonic() + minutes * 60
        while time.monotonic() < end:
            time.sleep(self.dice.uniform(0.3, 3))
            deeds.strike()
        deeds.finish()
        self.settle(deeds.retryd, pausing=self.publisher.turn)
        time.sleep(CALM_SECONDS)
        self.publisher.finish()

    def settle(self, retryd, pausing=None):
        """Waits for quiet. Where it does not come by itself, that is a stall; whether a restart heals it is worth knowing."""
        if pausing:
            with pausing:
                return self.settle(retryd)
        began = time.monotonic()
        try:
            eventually(Quiet(retryd), QUIET_SECONDS, "quiet after the chaos", every=1)
        except AssertionError:
            self.stalls += 1
            print("STALLED:", totals(), retryd.get("/status")[1], retryd.log()[-6000:], sep="\n", flush=True)
            retryd.kill()
            retryd.start()
            eventually(Quiet(retryd), QUIET_SECONDS, "quiet after a restart", every=1)
        print(f"  {clock(began)} {time.monotonic() - began:5.1f} s  until quiet", flush=True)
        try:
            eventually(lambda: flows(retryd), 30, "the end of every stall when all is quiet")
        except AssertionError:
            print(retryd.get("/flowz")[1], flush=True)
            raise

    # --- the sum

    def judge(self):
        verdict = self.ledger.judge()
        lives = self.ledger.lives.values()
        deliveries = sum(len(life.deliveries) for life in lives)
        print(f"  published {len(lives)}, delivered {deliveries} times: " +
              ", ".join(f"{place} {count}" for place, count in sorted(verdict.places.items())))
        explained = ", ".join(f"{kind} {count}" for kind, count in verdict.explained.most_common())
        print(f"  duplicates explained {verdict.explained.total()}" + (f": {explained}" if explained else ""))
        self.print_longest_waits(lives)
        for fault in ("lost", "in a wrong place", "duplicates unexplained", "keys changed", "attempts over the limit", "altered"):
            print(f"  {fault} {len(verdict.faults[fault])}")
            for sentence in verdict.faults[fault][:10]:
                print(f"    {sentence}")
        print(f"  stalls that needed a restart {self.stalls}", flush=True)
        return not any(verdict.faults.values()) and not self.stalls

    @staticmethod
    def print_longest_waits(lives):
        longest = sorted(((*life.longest_wait(), life.number) for life in lives), reverse=True)[:3]
        print("  longest waits for a delivery: " + ", ".join(f"{seconds:.1f} s (until {clock(at)}, message {number})" for seconds, at, number in longest))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--minutes", type=float, default=5)
    arguments.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    arguments.add_argument("--log", metavar="FILE", help="keep retryd's log there")
    chosen = arguments.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(f"chaos for {chosen.minutes:g} min, --seed {chosen.seed}", flush=True)
    if not Chaos(chosen.seed, chosen.log).run(chosen.minutes):
        sys.exit(f"chaos: a promise was broken; --seed {chosen.seed}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("\nstopped; nothing is left behind")
        sys.exit(130)
