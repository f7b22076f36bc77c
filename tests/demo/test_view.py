"""The picture: what stands in it, and that it fits whatever terminal there is."""

import re
import unittest

from figures import Figures, History
from view import Scene, Style, bar, frame, sparkline

PLAIN, COLOURED, ASCII = Style(False, True), Style(True, True), Style(False, False)
SCENE = Scene(
    total=200, shop="HTTP", bounds={"1 s": (0.8, 1.2), "2 s": (1.6, 2.4), "4 s": (3.2, 4.8)},
    reasons={"parked": "exhausted after 5 attempts, CarrierDown"})
FIGURES = Figures(
    passed=1.25, state="flowing", queue=20, in_hand=16, in_flight=8, lane=2,
    rungs={"1 s": [3, 4, 5, 1], "2 s": [0, 0, 0, 1], "4 s": [0] * 4},
    outcomes={"success": 150, "transient": 88, "permanent": 7}, lots={"parked": 3, "dead-lettered": 7})


def history(*outcomes):
    """One cell for each dict of outcomes so far, and one that goes on."""
    past = History()
    for index, so_far in enumerate([*outcomes, outcomes[-1]]):
        past.add(Figures(passed=0.5 * index + 0.1, outcomes=so_far))
    return past


def picture(figures=FIGURES, past=None, columns=80, rows=24, style=PLAIN):
    past = past or history({"success": 10, "transient": 5}, {"success": 30, "transient": 5})
    past.add(figures)
    return frame(figures, past, SCENE, columns, rows, style)


def without_colour(line):
    return re.sub(r"\x1b\[\d+m", "", line)


class Bars(unittest.TestCase):
    def test_a_bar_is_as_long_as_its_value(self):
        self.assertEqual(bar(5, 10, 8, PLAIN), "████")
        self.assertEqual(bar(10, 10, 8, ASCII), "########")
        self.assertEqual(bar(1, 16, 8, PLAIN), "▌")

    def test_nothing_is_no_bar_and_a_little_is_a_sliver(self):
        self.assertEqual(bar(0, 10, 8, PLAIN), "")
        self.assertEqual(bar(1, 10_000, 8, PLAIN), "▏")
        self.assertEqual(bar(1, 10_000, 8, ASCII), "#")

    def test_no_bar_is_longer_than_its_room(self):
        for style in (PLAIN, ASCII):
            self.assertEqual(len(bar(99, 10, 8, style)), 8)

    def test_a_sparkline_has_a_column_for_each_value(self):
        self.assertEqual(sparkline([0, 1, 4, 8], 8, PLAIN), " ▁▄█")
        self.assertEqual(sparkline([0, 1, 4, 8], 8, ASCII), " .=@")
        self.assertEqual(sparkline([0, 0], 0, PLAIN), "  ")


class Past(unittest.TestCase):
    def test_outcomes_are_counted_in_half_seconds(self):
        past = history({"success": 4}, {"success": 10}, {"success": 10, "permanent": 1})
        self.assertEqual(past.cells("success"), [4, 6, 0])
        self.assertEqual(past.cells("permanent"), [0, 0, 1])
        self.assertEqual(past.a_second("success"), 6)

    def test_a_look_that_came_late_leaves_no_hole(self):
        past = History()
        for passed, count in ((0.1, 4), (1.7, 10)):
            past.add(Figures(passed=passed, outcomes={"success": count}))
        self.assertEqual(len(past.cells("success")), 3)

    def test_a_scale_only_grows(self):
        past = History()
        for depth in (5, 80, 3):
            past.add(Figures(queue=depth, rungs={"1 s": [depth, depth]}))
        self.assertEqual((past.most_before, past.most_waiting), (80, 160))


class Picture(unittest.TestCase):
    def test_every_figure_is_in_it(self):
        text = "\n".join(picture())
        rows = dict(re.findall(r"^  (\w[\w -]*?) +(\d+)\b", text, re.MULTILINE))
        self.assertEqual(rows, {
            "work queue": "20", "in hand": "16", "at the shop": "8", "1 s": "13", "2 s": "1", "4 s": "0", "coming back": "2",
            "success": "30", "transient": "5", "permanent": "0", "succeeded": "150", "parked": "3", "dead-lettered": "7"})
        for words in ("200 orders,  1.2 s", "flowing", "0.8–1.2 s", "160 of 200", "exhausted after 5 attempts, CarrierDown"):
            self.assertIn(words, text)

    def test_it_says_what_holds_the_queue_up(self):
        self.assertIn("consumer-away", "\n".join(picture(Figures(state="consumer-away", lots={"parked": 0, "dead-lettered": 0}))))

    def test_it_fits_terminals_of_all_sizes(self):
        for style in (PLAIN, COLOURED, ASCII):
            for columns, rows in ((80, 23), (80, 24), (200, 60), (40, 24), (20, 10), (1, 1)):
                with self.subTest(columns=columns, rows=rows, style=style):
                    lines = picture(columns=columns, rows=rows, style=style)
                    self.assertLessEqual(len(lines), rows)
                    self.assertLess(max(len(without_colour(line)) for line in lines), max(columns, 2))

    def test_it_is_as_tall_as_the_smallest_usual_terminal(self):
        self.assertEqual(len(picture(rows=50)), 24)

    def test_where_rows_are_few_the_empty_lines_go_first(self):
        lines = picture(rows=19)
        self.assertIn("Ctrl-C", lines[-1])
        self.assertNotIn("", lines)

    def test_colour_changes_no_letter(self):
        self.assertEqual([without_colour(line).rstrip() for line in picture(style=COLOURED)], picture())
        self.assertIn("\x1b[32m", "".join(picture(style=COLOURED)))
        self.assertNotIn("\x1b", "".join(picture()))

    def test_ascii_is_ascii(self):
        self.assertTrue("\n".join(picture(style=ASCII)).isascii())
        self.assertFalse("\n".join(picture()).isascii())


if __name__ == "__main__":
    unittest.main()
