"""What the benchmark makes of its measurements: order, ratios, verdicts, and both ways to print them."""

import json
import unittest

from report import Row, as_json, median_row, table
from rounds import interleave, percentile, ratios


class Rounds(unittest.TestCase):
    def test_variants_take_turns(self):
        order = []
        results = interleave({name: lambda name=name: order.append(name) or len(order) for name in "ABC"}, 2)
        self.assertEqual("ABCABC", "".join(order))
        self.assertEqual({"A": [1, 4], "B": [2, 5], "C": [3, 6]}, results)

    def test_ratios_are_of_the_same_round(self):
        self.assertEqual([0.5, 2.0], ratios([{"rate": 1}, {"rate": 8}], [{"rate": 2}, {"rate": 4}], "rate"))

    def test_percentiles(self):
        spans = list(range(1000, 0, -1))
        self.assertEqual([501, 991, 1000], [percentile(spans, share) for share in (0.5, 0.99, 1)])


class Report(unittest.TestCase):
    def test_a_target_is_reached_or_not(self):
        verdicts = [Row("", 2, "", **target).reached for target in ({"at_least": 2}, {"at_least": 3}, {"at_most": 2}, {"at_most": 1}, {})]
        self.assertEqual([True, False, True, False, None], verdicts)

    def test_the_table_says_what_is_not_reached(self):
        lines = table([median_row("rate", [0.4, 0.5, 0.7], "×", at_least=0.6), Row("CPU", 12.25, "µs", note="of five")]).splitlines()
        self.assertEqual(["rate 0.50 × ≥ 0.60 NO", "CPU 12.2 µs of five"], [" ".join(line.split()) for line in lines[1:]])

    def test_json_is_one_object_with_every_row(self):
        entry = json.loads(as_json([median_row("rate", [1, 3], "×", at_most=1)], quick=True))
        self.assertTrue(entry["quick"])
        self.assertEqual([("rate", 2, [1, 3], False)], [(row["what"], row["figure"], row["samples"], row["reached"]) for row in entry["rows"]])


if __name__ == "__main__":
    unittest.main()
