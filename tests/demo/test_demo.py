"""The demo itself, on a terminal and in a pipe: its table adds up, the terminal is given back, and nothing is left behind."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from pseudo_terminal import PseudoTerminal
from screen import ENTER, LEAVE

ROOT = pathlib.Path(__file__).resolve().parents[2]
ADDS_UP = "180 succeeded + 10 parked + 10 dead-lettered = 200 of 200: it adds up, and nothing waits any more."


def processes_with(word):
    """Those whose command or environment has it: [(pid, command)]."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            command, environment = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
        except OSError:
            continue
        if word.encode() in command + environment:
            found.append((int(entry.name), command.replace(b"\0", b" ").decode(errors="replace")))
    return found


class Demo(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="retryd-demo-"))
        self.environment = {**os.environ, "TMPDIR": self.folder, "TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": ""}
        self.command = [f"{ROOT}/tests/tools/private_broker", "with",
                        "/usr/bin/python3", "-B", f"{ROOT}/tests/demo/demo.py", "--retryd", os.environ["RETRYD_BIN"]]

    def terminal(self, *options, columns=80, rows=24):
        return self.enterContext(PseudoTerminal([*self.command, *options], self.environment, columns, rows))

    def wait_for_frames(self, terminal, count):
        self.assertTrue(terminal.read_until(lambda: len(terminal.frames()) >= count, 120, f"{count} pictures"), terminal.text())

    def assert_given_back(self, terminal):
        text = terminal.text()
        self.assertEqual((text.count(ENTER), text.count(LEAVE)), (1, 1))
        self.assertNotIn("\x1b", text[text.index(LEAVE) + len(LEAVE):])

    def assert_nothing_is_left(self):
        deadline = time.monotonic() + 10
        while left := processes_with(self.folder):
            self.assertLess(time.monotonic(), deadline, left)
            time.sleep(0.1)
        self.assertEqual(os.listdir(self.folder), [])


class Played(Demo):
    def test_in_a_pipe_over_the_stream_it_is_plain_lines(self):
        done = subprocess.run([*self.command, "--stream"], env=self.environment, capture_output=True, text=True, timeout=200)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn(ADDS_UP, done.stdout)
        self.assertNotIn("\x1b", done.stdout)
        self.assertGreater(len(re.findall(r"^ +\d+ s +\d+ +\d+ \|", done.stdout, re.MULTILINE)), 5)
        self.assert_nothing_is_left()

    def test_on_a_terminal_it_is_a_live_picture_that_follows_its_size(self):
        terminal = self.terminal()
        self.wait_for_frames(terminal, 20)
        self.assertIn("in the broker for the next attempt", "\n".join(terminal.frames()[-1]))
        terminal.resize(60, 20)
        self.wait_for_frames(terminal, len(terminal.frames()) + 3)
        self.assertLessEqual(len(terminal.frames()[-1]), 20)
        self.assertEqual(terminal.wait(), 0, terminal.text())
        self.assert_given_back(terminal)
        self.assertIn(ADDS_UP, terminal.text().partition(LEAVE)[2])
        self.assertIn("200 of 200", "\n".join(terminal.frames()[-1]))
        self.assert_nothing_is_left()


class Ended(Demo):
    def test_by_ctrl_c_over_http(self):
        self.end_by_ctrl_c()

    def test_by_ctrl_c_over_the_stream(self):
        self.end_by_ctrl_c("--stream")

    def end_by_ctrl_c(self, *options):
        terminal = self.terminal(*options)
        self.wait_for_frames(terminal, 10)
        terminal.type("\x03")
        self.assertEqual(terminal.wait(), 130)
        self.assert_given_back(terminal)
        self.assertIn("nothing is left behind", terminal.text())
        self.assertNotIn("Traceback", terminal.text())
        self.assert_nothing_is_left()

    def test_by_ctrl_c_twice_and_at_once(self):
        terminal = self.terminal("--stream")
        self.wait_for_frames(terminal, 1)
        terminal.type("\x03\x03")
        self.assertEqual(terminal.wait(), 130)
        self.assert_given_back(terminal)
        self.assert_nothing_is_left()

    def test_by_closing_the_window(self):
        terminal = self.terminal("--stream")
        self.wait_for_frames(terminal, 10)
        terminal.hang_up()
        self.assert_nothing_is_left()

    def test_by_sigterm_on_a_terminal_without_colours_and_letters_beyond_ascii(self):
        self.environment.update(NO_COLOR="1", LC_ALL="C")
        terminal = self.terminal()
        self.wait_for_frames(terminal, 10)
        for line in terminal.frames()[-1]:
            self.assertTrue(line.isascii() and "\x1b" not in line, line)
        os.kill(terminal.pid, signal.SIGTERM)
        self.assertEqual(terminal.wait(), 143)
        self.assert_given_back(terminal)
        self.assert_nothing_is_left()

    def test_by_an_error(self):
        terminal = self.terminal("--stream")
        self.wait_for_frames(terminal, 10)
        for pid, command in processes_with(self.folder):
            if command.startswith(os.environ["RETRYD_BIN"]):
                os.kill(pid, signal.SIGKILL)
        self.assertEqual(terminal.wait(), 1)
        self.assert_given_back(terminal)
        self.assertIn("Traceback", terminal.text().partition(LEAVE)[2])
        self.assert_nothing_is_left()


if __name__ == "__main__":
    unittest.main()
