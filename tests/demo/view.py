"""Draws one picture of the demo: figures in, lines out. Knows no terminal, no clock and no broker."""

import math
from dataclasses import dataclass

from figures import OUTCOMES

COLOURS = {"title": "1", "dim": "2", "before": "36", "waits": "33", "success": "32", "transient": "33", "permanent": "31"}
LABEL, NUMBER, WIDEST = 15, 5, 99
BEYOND_RUNG = 20  # columns right of a rung's bar


@dataclass(frozen=True)
class Style:
    colour: bool
    unicode: bool

    @property
    def levels(self):
        return " ▁▂▃▄▅▆▇█" if self.unicode else " .:-=+*#@"

    @property
    def dash(self):
        return "–" if self.unicode else "-"

    @property
    def arrow(self):
        return " → " if self.unicode else " -> "


@dataclass(frozen=True)
class Scene:
    total: int
    shop: str  # how it is reached
    bounds: dict  # of each rung in seconds: {"1 s": (0.8, 1.2)}
    reasons: dict  # {"parked": why the last one lies there}


def bar(value, most, width, style):
    """At least a sliver for whatever is not nothing."""
    eighths = min(math.ceil(8 * width * value / most), 8 * width) if most else 0
    if not style.unicode:
        return "#" * math.ceil(eighths / 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def sparkline(values, most, style):
    return "".join(style.levels[min(math.ceil(8 * value / most), 8)] if most else " " for value in values)


def paint(line, width, style):
    """A line's parts, (colour, text) each, as one string of at most `width` columns."""
    painted = ""
    for colour, text in line:
        text = text[:width]
        width -= len(text)
        painted += f"\x1b[{COLOURS[colour]}m{text}\x1b[0m" if colour and style.colour and text.strip() else text
    return painted.rstrip()


def between(left, right, width, colours=("title", "dim")):
    """One text at each end."""
    return [(colours[0], left), (None, " " * max(2, width - len(left) - len(right))), (colours[1], right)]


def row(label, number, *parts):
    return [(None, f"  {label:{LABEL}}{number:{NUMBER}}  "), *parts]


class Picture:
    def __init__(self, figures, history, scene, width, style):
        self.figures, self.history, self.scene, self.width, self.style = figures, history, scene, width, style
        self.room = max(8, width - LABEL - NUMBER - 4)  # for what comes after a row's number

    def lines(self):
        parts = (self.title(), self.before(), self.waiting(), self.rates(), self.ends())
        lines = [line for part in parts for line in (*part, [])]
        return [*lines, [("dim", " Ctrl-C ends it and leaves nothing behind.")]]

    def title(self):
        return [between(" retryd", f"{self.scene.total} orders, {self.figures.passed:4.1f} s", self.width)]

    def before(self):
        figures, arrow = self.figures, self.style.arrow
        way = f" RabbitMQ{arrow}retryd{arrow}shop ({self.scene.shop})"
        state = "success" if figures.state == "flowing" else "permanent"
        yield between(way, figures.state, self.width, ("title", state))
        for label, number in (("work queue", figures.queue), ("in hand", figures.in_hand), ("at the shop", figures.in_flight)):
            yield row(label, number, ("before", bar(number, self.history.most_before, self.room, self.style)))

    def waiting(self):
        yield [("title", " waiting in the broker for the next attempt")]
        room = max(8, self.room - BEYOND_RUNG)
        for name, depths in self.figures.rungs.items():
            number = sum(depths)
            drawn = bar(number, self.history.most_waiting, room, self.style)
            low, high = self.scene.bounds[name]
            beyond = f"{low:.1f}{self.style.dash}{high:.1f} s  "
            yield row(name, number, ("waits", f"{drawn:{room}}"), ("dim", f"{beyond:>{BEYOND_RUNG - len(depths)}}"),
                      ("waits", sparkline(depths, self.history.most_waiting / 2, self.style)))
        lane = self.figures.lane
        yield row("coming back", lane, ("waits", bar(lane, self.history.most_waiting, room, self.style)))

    def rates(self):
        yield between(" outcomes a second", "in all", self.width)
        room = self.room - NUMBER - 1
        for outcome in OUTCOMES:
            drawn = sparkline(self.history.cells(outcome)[-room:], self.history.most_in_a_cell, self.style)
            in_all = self.figures.outcomes.get(outcome, 0)
            yield row(outcome, self.history.a_second(outcome), (outcome, f"{drawn:{room}}"), ("dim", f"{in_all:{NUMBER + 1}}"))

    def ends(self):
        figures, scene = self.figures, self.scene
        yield between(" where the orders end", f"{figures.settled} of {scene.total}", self.width)
        ends = (("succeeded", figures.succeeded, "success"), ("parked", figures.lots["parked"], "transient"),
                ("dead-lettered", figures.lots["dead-lettered"], "permanent"))
        for label, number, colour in ends:
            drawn = bar(number, scene.total, self.room, self.style)
            yield row(label, number, (colour, drawn), ("dim", "  " + scene.reasons.get(label, "")))


def frame(figures, history, scene, columns, rows, style):
    """The lines of a terminal of that size. Where there are too few rows, the empty lines go first."""
    width = max(1, min(columns - 1, WIDEST))  # a text in the last column would make some terminals wrap
    lines = Picture(figures, history, scene, width, style).lines()
    if len(lines) > rows:
        lines = [line for line in lines if line]
    return [paint(line, width, style) for line in lines[:rows]]
