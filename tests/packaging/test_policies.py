"""The policies in config/: each is good, and the full one leaves no key out."""

import os
import pathlib
import subprocess
import tempfile
import unittest

CONFIG = pathlib.Path(__file__).resolve().parents[2] / "config"
NEEDS_A_SECRET = "usual.yaml"  # names a file in /run/secrets
FOR_A_FAILURE = [
    "under-a-second.yaml", "seconds-to-minutes.yaml", "unknown-length.yaml", "long-outage.yaml", "permanent.yaml", "third-party.yaml"]


def check(*arguments):
    return subprocess.run([os.environ["RETRYD_BIN"], "check", *arguments], capture_output=True, text=True, timeout=30)


class Policies(unittest.TestCase):
    def effective(self, path, queue):
        """{key: (value, origin)} of the keys that take effect."""
        shown = check(str(path), "--print-effective", queue)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        rows = [line for line in shown.stdout.splitlines() if " (later) " not in line]
        return {row.split()[0]: (row.split(maxsplit=1)[1], row.split()[-1]) for row in rows}

    def test_there_is_one_for_each_kind_of_failure(self):
        self.assertLessEqual({"full.yaml", "smallest.yaml", NEEDS_A_SECRET, *FOR_A_FAILURE}, {path.name for path in CONFIG.iterdir()})

    def test_each_is_read_without_a_fault(self):
        for path in sorted(CONFIG.glob("*.yaml")):
            with self.subTest(path.name), tempfile.TemporaryDirectory() as folder:
                secret = pathlib.Path(folder, "amqp")
                secret.write_text("amqp://guest:guest@127.0.0.1:5672/", encoding="utf-8")
                copy = pathlib.Path(folder, path.name)
                copy.write_text(path.read_text(encoding="utf-8").replace("/run/secrets/amqp", str(secret)), encoding="utf-8")
                answer = check(str(copy))
                self.assertEqual(answer.returncode, 0, answer.stderr)

    def test_the_full_one_gives_every_key_that_is_supported(self):
        given = {key for queue in ("orders", "bills", "fx.eur") for key, (_, origin) in self.effective(CONFIG / "full.yaml", queue).items() if origin != "built-in"}
        missing = self.effective(CONFIG / "full.yaml", "orders").keys() - given
        self.assertEqual(missing, set())
        self.assertGreater(len(given), 40)
