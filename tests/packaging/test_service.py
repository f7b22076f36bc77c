"""The systemd units: sound, hardened, and each line that is not set has its reason."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

UNITS = pathlib.Path(__file__).resolve().parents[2] / "systemd"
MOST_EXPOSURE = 2.0


def lines(unit):
    text = (UNITS / unit).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


class Units(unittest.TestCase):
    def test_systemd_finds_nothing_wrong_with_them(self):
        with tempfile.TemporaryDirectory() as folder:
            for unit in UNITS.iterdir():
                text = unit.read_text(encoding="utf-8").replace("/usr/bin/retryd", os.environ["RETRYD_BIN"])
                pathlib.Path(folder, unit.name).write_text(text, encoding="utf-8")
            for name in ("retryd.service", "retryd@orders.service"):
                answer = subprocess.run(
                    ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", f"{folder}/{name}"], capture_output=True, text=True, timeout=60)
                self.assertEqual((answer.returncode, answer.stderr), (0, ""))

    def test_exposure_is_low(self):
        for unit in sorted(UNITS.iterdir()):
            answer = subprocess.run(
                ["systemd-analyze", "security", "--offline=true", "--no-pager", f"--threshold={round(MOST_EXPOSURE * 10)}", str(unit)],
                capture_output=True, text=True, timeout=60)
            exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", answer.stdout)
            self.assertIsNotNone(exposure, answer.stdout + answer.stderr)
            self.assertLess(float(exposure[1]), MOST_EXPOSURE)
            self.assertEqual(answer.returncode, 0)

    def test_the_template_differs_in_its_names_only(self):
        expected = [
            line.replace("/etc/retryd/retryd.yaml", "/etc/retryd/%i.yaml").replace("RuntimeDirectory=retryd", "RuntimeDirectory=retryd-%i")
            for line in lines("retryd.service")]
        self.assertEqual(
            [line for line in lines("retryd@.service") if not line.startswith("Description=")],
            [line for line in expected if not line.startswith("Description=")])

    def test_what_the_daemon_relies_on_is_set(self):
        unit = dict(line.split("=", 1) for line in lines("retryd.service") if "=" in line)
        self.assertEqual(unit["Type"], "notify")
        self.assertTrue(unit["ExecStartPre"].startswith("/usr/bin/retryd check "))
        self.assertEqual(unit["RuntimeDirectory"], "retryd")
        self.assertEqual(unit["Restart"], "on-failure")
        self.assertIn("WatchdogSec", unit)
