"""What is reported: one row for each figure, with what it should be."""

import dataclasses
import json
import statistics


@dataclasses.dataclass
class Row:
    what: str
    figure: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None
    samples: list = dataclasses.field(default_factory=list)
    note: str = ""

    @property
    def reached(self):
        """None where there is no target."""
        if self.at_least is not None:
            return self.figure >= self.at_least
        return None if self.at_most is None else self.figure <= self.at_most

    @property
    def target(self):
        if self.at_least is not None:
            return f"≥ {number(self.at_least)}"
        return "" if self.at_most is None else f"≤ {number(self.at_most)}"


def median_row(what, samples, unit, **more):
    return Row(what, statistics.median(samples), unit, samples=list(samples), **more)


def number(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


VERDICTS = {None: "", True: "yes", False: "NO"}


def table(rows):
    cells = [("", "figure", "target", "reached", "beside")]
    cells += [(row.what, f"{number(row.figure)} {row.unit}", row.target, VERDICTS[row.reached], row.note) for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(4)]
    lines = [f"{a:{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}  {d:^{widths[3]}}  {e}".rstrip() for a, b, c, d, e in cells]
    return "\n".join(lines)


def as_json(rows, **facts):
    def entry(row):
        return dataclasses.asdict(row) | {"reached": row.reached}

    return json.dumps(facts | {"rows": [entry(row) for row in rows]})
