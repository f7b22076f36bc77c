"""When the view is live, what it may draw with, and how the terminal is given back."""

import io
import os
import unittest

from screen import ENTER, LEAVE, Screen, can_be_live, style_for


class Choice(unittest.TestCase):
    def test_it_is_live_only_on_a_terminal_that_can_move_its_cursor(self):
        self.assertTrue(can_be_live({"TERM": "xterm"}, True))
        for environment, terminal in (({"TERM": "xterm"}, False), ({"TERM": "dumb"}, True), ({"TERM": ""}, True), ({}, True)):
            self.assertFalse(can_be_live(environment, terminal))

    def test_no_color_is_respected(self):
        self.assertFalse(style_for({"NO_COLOR": "1"}).colour)
        self.assertTrue(style_for({"NO_COLOR": ""}).colour)
        self.assertTrue(style_for({}).colour)

    def test_blocks_are_drawn_where_the_locale_has_them_and_they_are_one_column_wide(self):
        for locale in ("C.UTF-8", "de_DE.utf8"):
            self.assertTrue(style_for({"LANG": locale}).unicode, locale)
        for locale in ("C", "en_US.ISO-8859-1", "ja_JP.UTF-8"):
            self.assertFalse(style_for({"LANG": locale}).unicode, locale)
        self.assertFalse(style_for({}).unicode)
        self.assertFalse(style_for({"LANG": "C.UTF-8", "TERM": "linux"}).unicode)

    def test_the_stronger_variable_says_the_locale(self):
        self.assertFalse(style_for({"LC_ALL": "C", "LANG": "C.UTF-8"}).unicode)
        self.assertTrue(style_for({"LC_ALL": "", "LC_CTYPE": "C.UTF-8", "LANG": "C"}).unicode)


class Drawing(unittest.TestCase):
    def test_the_terminal_is_given_back_after_an_exception(self):
        output = io.StringIO()
        with self.assertRaises(ZeroDivisionError), Screen(output):
            1 / 0
        self.assertEqual(output.getvalue(), ENTER + LEAVE)

    def test_each_line_is_ended_where_it_ends_and_the_rest_is_cleared(self):
        output = io.StringIO()
        Screen(output).draw(["one", "two"])
        self.assertEqual(output.getvalue(), "\x1b[Hone\x1b[K\ntwo\x1b[K\x1b[J")

    def test_a_picture_is_one_write(self):
        reading, writing = os.pipe()
        with open(writing, "w", encoding="utf-8") as output:
            Screen(output).draw(["x" * 60] * 24)
            self.assertGreater(len(os.read(reading, 1 << 16)), 24 * 60)
        os.close(reading)


if __name__ == "__main__":
    unittest.main()
