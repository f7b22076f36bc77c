"""The guard can fail: shown a program that says what a message costs, it refuses too much, and a bound that guards nothing."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from bounds import BOUNDS, LOOSE

GUARD = pathlib.Path(__file__).with_name("guard.py")
TODAY = BOUNDS["allocations"]


class Guard(unittest.TestCase):
    def judge(self, share):
        """What it says of a program that costs this share of what is allowed: (exit code, text)."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program")
            cases = "".join(f"'{way}') echo {share * bound};; " for way, bound in TODAY.items())
            program.write_text(f'#!/bin/sh\ncase "$*" in {cases}esac\n', encoding="utf-8")
            program.chmod(0o755)
            done = subprocess.run([sys.executable, "-B", GUARD, "allocations", program], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def test_what_is_allowed_passes(self):
        code, text = self.judge(0.99)
        self.assertEqual((0, len(TODAY)), (code, text.count("at most")))

    def test_too_much_fails(self):
        code, text = self.judge(1.01)
        self.assertEqual((1, len(TODAY)), (code, text.count("TOO MUCH")))

    def test_a_bound_that_guards_nothing_fails(self):
        code, text = self.judge(LOOSE["allocations"] - 0.01)
        self.assertEqual((1, len(TODAY)), (code, text.count("LOOSE")))


if __name__ == "__main__":
    unittest.main()
