"""./dev bench: compares retryd with bare programs and with peers. README.md beside this says how to read it."""

import argparse
import importlib
import os
import sys
import time

import peers
from report import as_json, table
from world import World

NAMES = ["success", "fails-once", "latency", "lateness", "large-body", "start", "memory", "growth", "micro"]


class Scale:
    """How much of everything."""

    def __init__(self, quick):
        self.quick = quick
        self.rounds = 1 if quick else 5

    def messages(self, count):
        return count // 12 if self.quick else count


def comparison(name):
    return importlib.import_module("compare_" + name.replace("-", "_"))


def arguments():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES) + "; all of them unless some are named")
    parser.add_argument("--quick", action="store_true", help="a twelfth of the messages, one round: a look, no measurement")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output, and nothing else there")
    chosen = parser.parse_args()
    strangers = [name for name in chosen.names if name not in NAMES]
    if strangers:
        parser.error(f"no comparison {', '.join(strangers)}; there are: {', '.join(NAMES)}")
    return chosen


def measure(names, scale):
    rows, world = [], World()
    try:
        for name in names:
            began = time.monotonic()
            rows += comparison(name).run(world, scale)
            print(f"bench: {name}, {time.monotonic() - began:.0f} s", file=sys.stderr)
    finally:
        world.close()
    return rows


def main():
    chosen = arguments()
    rows = measure(chosen.names or NAMES, Scale(chosen.quick))
    facts = {"quick": chosen.quick, "cores": os.cpu_count(), "left_out": peers.notes}
    if chosen.json:
        print(as_json(rows, **facts))
        return
    print(table(rows))
    for note in peers.notes:
        print(note)


main()
