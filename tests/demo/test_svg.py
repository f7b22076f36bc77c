"""The picture for the README."""

import unittest
from xml.etree import ElementTree

from svg import CELL, MARGIN, svg

SPACE = "{http://www.w3.org/2000/svg}"


class Picture(unittest.TestCase):
    def drawn(self, *lines):
        root = ElementTree.fromstring("\n".join(svg(lines, "a <title>")))
        group = root.find(f"{SPACE}g")
        return group.findall(f"{SPACE}text")[1:], group.findall(f"{SPACE}rect")[1:]

    def test_letters_are_text_in_their_columns(self):
        texts, _ = self.drawn("  queue   12", "a & b")
        self.assertEqual([text.text for text in texts], ["queue", "12", "a & b"])
        self.assertEqual([float(text.get("x")) for text in texts], [round(MARGIN + column * CELL, 1) for column in (2, 10, 0)])

    def test_a_bar_is_a_rectangle_and_its_end_another(self):
        _, bars = self.drawn("\x1b[33m████▌\x1b[0m")
        self.assertEqual([float(bar.get("width")) for bar in bars], [round(4 * CELL, 1), round(CELL / 2, 1)])

    def test_colours_are_kept(self):
        texts, bars = self.drawn("\x1b[1mtitle\x1b[0m plain \x1b[32m▁\x1b[0m")
        self.assertEqual(len({texts[0].get("fill"), texts[1].get("fill"), bars[0].get("fill")}), 3)


if __name__ == "__main__":
    unittest.main()
