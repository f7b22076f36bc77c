"""The policies in config/: each is good, and the full one leaves no key out."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from authority import self_signed  # noqa: E402

CONFIG = pathlib.Path(__file__).resolve().parents[2] / "config"
SECRETS = {"amqp": "amqp://guest:guest@127.0.0.1:5672/", "retryd-token": "0123456789abcdef0123456789abcdef"}  # in /run/secrets
FOR_A_FAILURE = [
    "under-a-second.yaml", "seconds-to-minutes.yaml", "unknown-length.yaml", "long-outage.yaml", "permanent.yaml", "third-party.yaml"]


def check(*arguments):
    return subprocess.run([os.environ["RETRYD_BIN"], "check", *arguments], capture_output=True, text=True, timeout=30)


class Policies(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="retryd-policies-")))
        for name, secret in SECRETS.items():
            (self.folder / name).write_text(secret, encoding="utf-8")
        for name in ("broker-ca", "retryd"):
            self_signed(self.folder / name, name)

    def policy(self, name):
        """A copy of it that has its secrets."""
        copy = self.folder / name
        copy.write_text((CONFIG / name).read_text(encoding="utf-8").replace("/run/secrets", str(self.folder)), encoding="utf-8")
        return str(copy)

    def effective(self, path, queue):
        """{key: origin} of the keys that take effect."""
        shown = check(path, "--print-effective", queue)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        rows = [line.split() for line in shown.stdout.splitlines() if " (later) " not in line]
        return {row[0]: row[-1] for row in rows}

    def test_there_is_one_for_each_kind_of_failure(self):
        self.assertLessEqual({"full.yaml", "smallest.yaml", "usual.yaml", *FOR_A_FAILURE}, {path.name for path in CONFIG.iterdir()})

    def test_each_is_read_without_a_fault(self):
        for path in sorted(CONFIG.glob("*.yaml")):
            with self.subTest(path.name):
                answer = check(self.policy(path.name))
                self.assertEqual(answer.returncode, 0, answer.stderr)

    def test_the_full_one_gives_every_key_that_is_supported(self):
        queues = [self.effective(self.policy("full.yaml"), queue) for queue in ("orders", "mails", "fx.eur")]
        given = {key for values in queues for key, origin in values.items() if origin != "built-in"}
        self.assertGreater(len(given), 40)
        self.assertEqual(queues[0].keys() - given, set(), "in the policy file, but not in config/full.yaml")
