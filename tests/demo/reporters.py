"""The two ways to show what happens: a live picture on a terminal, a line each second everywhere else."""

import collections
import json
import os
import sys
import time

from figures import History
from gauges import BOUNDS, reason_of
from screen import Screen, can_be_live, style_for
from view import Scene, frame

HEADING = """\
                              |  waiting in the broker                |  for good
   time  delivered  succeeded |  queue   1 s   2 s   4 s  coming back |  parked  dead-lettered"""


def say(line=""):
    print(line, flush=True)


class Lines:
    every = 1

    def __enter__(self):
        say(HEADING)
        return self

    def __exit__(self, *_):
        pass

    def show(self, figures, news):
        waiting = [figures.queue, *map(sum, figures.rungs.values()), figures.lane]
        say("{:5.0f} s {:10} {:10} | {:6} {:5} {:5} {:5} {:12} | {:7} {:14}".format(
            figures.passed, figures.delivered, figures.succeeded, *waiting, *figures.lots.values()))
        for lot, messages in news:
            orders = collections.defaultdict(list)
            for message in messages:
                orders[reason_of(message)].append(json.loads(message.body)["order"])
            for reason, numbers in orders.items():
                named = ", ".join(map(str, numbers[:6])) + ", ..." * (len(numbers) > 6)
                say(f"          {lot.ends}: {reason}: order{'s' * (len(numbers) > 1)} {named}")


class Live:
    every = 0.125
    last_look = 1.5  # seconds for the last picture, before the terminal is given back

    def __init__(self, total, shop):
        self.screen, self.style = Screen(), style_for(os.environ)
        self.history, self.reasons = History(), {}
        self.scene = Scene(total, shop, BOUNDS, self.reasons)

    def __enter__(self):
        self.screen.__enter__()
        return self

    def __exit__(self, kind, *rest):
        if kind is None:
            time.sleep(self.last_look)
        self.screen.__exit__(kind, *rest)

    def show(self, figures, news):
        self.history.add(figures)
        self.reasons.update({lot.ends: reason_of(messages[-1]) for lot, messages in news})
        self.screen.draw(frame(figures, self.history, self.scene, *self.screen.size(), self.style))


def reporter(total, shop):
    return Live(total, shop) if can_be_live(os.environ, sys.stdout.isatty()) else Lines()
