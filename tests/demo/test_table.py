"""The table at the end: it says that it adds up only when it does."""

import collections
import unittest
from types import SimpleNamespace

from fates import FATES, TOTAL, orders
from table import table


def lot(ends, fates):
    return SimpleNamespace(ends=ends, fates=lambda: collections.Counter(fates))


class Table(unittest.TestCase):
    def setUp(self):
        self.delivered = collections.Counter({fate.name: fate.messages * fate.deliveries for fate in FATES})
        self.ends = {end: collections.Counter({fate.name: fate.messages for fate in FATES if fate.ends == end})
                     for end in ("succeeded", "parked", "dead-lettered")}
        self.outcomes = {"success": 180, "transient": 140, "permanent": 10, "lost": 0}

    def table(self):
        shop = SimpleNamespace(delivered=self.delivered, succeeded=self.ends["succeeded"])
        lots = [lot(end, self.ends[end]) for end in ("parked", "dead-lettered")]
        lines, right = table(shop, lots, self.outcomes)
        return "\n".join(lines), right

    def assert_wrong(self):
        text, right = self.table()
        self.assertFalse(right)
        self.assertIn("IT DOES NOT ADD UP", text)

    def test_it_adds_up(self):
        text, right = self.table()
        self.assertTrue(right)
        self.assertIn(f"180 succeeded + 10 parked + 10 dead-lettered = {TOTAL} of 200: it adds up", text)
        self.assertIn("330 deliveries: 180 success, 140 transient, 10 permanent.", text)

    def test_a_message_that_is_missing_is_seen(self):
        self.ends["parked"]["always fails (500)"] -= 1
        self.assert_wrong()

    def test_a_message_in_two_places_is_seen(self):
        self.ends["dead-lettered"]["succeeds"] = 1
        self.assert_wrong()

    def test_a_delivery_too_many_is_seen(self):
        self.delivered["slow"] += 1
        self.assert_wrong()

    def test_two_counts_that_differ_are_seen(self):
        self.outcomes["success"] += 1
        self.assert_wrong()

    def test_the_orders_are_always_the_same(self):
        self.assertEqual(len(orders()), TOTAL)
        self.assertEqual(orders(), orders())


if __name__ == "__main__":
    unittest.main()
