"""What the demo shows: the figures of one moment, and what is remembered of those before."""

from dataclasses import dataclass, field

OUTCOMES = ("success", "transient", "permanent")
CELL_SECONDS = 0.5  # of the history: one column


@dataclass(frozen=True)
class Figures:
    """One moment, as the broker and retryd tell it."""

    passed: float = 0  # seconds since the first order
    state: str = "flowing"  # of the queue, in retryd's words: else what holds it up
    queue: int = 0  # ready in the work queue
    in_hand: int = 0  # taken by retryd, not settled yet
    in_flight: int = 0  # of these at the shop
    rungs: dict = field(default_factory=dict)  # {"1 s": messages in each of its queues}
    lane: int = 0
    outcomes: dict = field(default_factory=dict)  # deliveries by how they ended
    lots: dict = field(default_factory=dict)  # {"parked": messages, "dead-lettered": messages}

    @property
    def delivered(self):
        return sum(self.outcomes.values())

    @property
    def succeeded(self):
        return self.outcomes.get("success", 0)

    @property
    def settled(self):
        return self.succeeded + sum(self.lots.values())

    @property
    def waiting(self):
        return self.queue + self.lane + sum(map(sum, self.rungs.values()))


class History:
    """Outcomes in each half second, and the highest figures so far: so a scale only ever grows."""

    def __init__(self):
        self.marks = []  # the outcomes so far at the end of each cell
        self.most_before = self.most_waiting = 10

    def add(self, figures):
        while len(self.marks) <= int(figures.passed / CELL_SECONDS):
            self.marks.append(self.marks[-1] if self.marks else {})
        self.marks[-1] = figures.outcomes
        self.most_before = max(self.most_before, figures.queue, figures.in_hand)
        self.most_waiting = max(self.most_waiting, figures.lane, *map(sum, figures.rungs.values()), 0)

    def cells(self, outcome):
        """How many there were in each cell that is over; the last one goes on."""
        counts = [mark.get(outcome, 0) for mark in self.marks[:-1]]
        return [count - before for before, count in zip([0, *counts], counts)]

    def a_second(self, outcome):
        return round(sum(self.cells(outcome)[-2:]) / (2 * CELL_SECONDS))

    @property
    def most_in_a_cell(self):
        return max((count for outcome in OUTCOMES for count in self.cells(outcome)), default=0)
