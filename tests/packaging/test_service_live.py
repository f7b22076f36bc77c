"""The unit under the systemd of this machine: started, watched, stopped. As root, where systemd is PID 1.

The unit is the shipped one, but for its name, its paths and its user, which the test must not leave on the machine.
"""

import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import unittest

from retryd import eventually

ROOT = pathlib.Path(__file__).resolve().parents[2]
POLICY = "broker: amqp://guest:guest@127.0.0.1:9/\nqueues: {orders: \"http://127.0.0.1:8080/orders\"}\n"


def systemctl(*arguments):
    return subprocess.run(["systemctl", *arguments], capture_output=True, text=True, timeout=60)


class Live(unittest.TestCase):
    def setUp(self):
        self.name = f"retryd-test-{secrets.token_hex(4)}"
        self.folder = pathlib.Path("/var/lib", self.name)  # not in /home or /tmp, which the service does not see
        self.unit = pathlib.Path("/run/systemd/system", f"{self.name}.service")
        self.addCleanup(self.remove)
        self.folder.mkdir(mode=0o755)
        for variable, program in (("RETRYD_BIN", "retryd"), ("RETRYCTL_BIN", "retryctl")):
            shutil.copy(os.environ[variable], self.folder / program)
        self.write_policy(POLICY)
        text = (ROOT / "systemd/retryd.service").read_text(encoding="utf-8")
        for shipped, here in (
                ("/usr/bin/", f"{self.folder}/"), ("/etc/retryd/", f"{self.folder}/"), ("RuntimeDirectory=retryd", f"RuntimeDirectory={self.name}"),
                ("User=retryd\nGroup=retryd\n", f"User={self.name}\nDynamicUser=yes\n"), ("RestartSec=5s", "RestartSec=100ms"),
                ("WatchdogSec=30s", "WatchdogSec=2s")):
            self.assertIn(shipped, text)
            text = text.replace(shipped, here)
        self.unit.write_text(text, encoding="utf-8")
        self.assertEqual(systemctl("daemon-reload").returncode, 0)

    def remove(self):
        systemctl("kill", "--signal=KILL", self.name)
        systemctl("stop", self.name)
        self.unit.unlink(missing_ok=True)
        systemctl("daemon-reload")
        systemctl("reset-failed", self.name)
        shutil.rmtree(self.folder, ignore_errors=True)

    def write_policy(self, text):
        (self.folder / "retryd.yaml").write_text(text, encoding="utf-8")

    def shown(self, name):
        return systemctl("show", "--value", f"--property={name}", self.name).stdout.strip()

    def start(self):
        answer = systemctl("start", self.name)
        self.assertEqual(answer.returncode, 0, answer.stderr + subprocess.run(
            ["journalctl", "--no-pager", "--lines=30", f"--unit={self.name}"], capture_output=True, text=True).stdout)

    def retryctl_answers(self):
        command = [self.folder / "retryctl", "status", "--admin", f"/run/{self.name}/admin.sock"]
        return subprocess.run(command, capture_output=True, timeout=30).returncode == 0

    def test_it_starts_without_a_broker_answers_and_stops_cleanly(self):
        self.start()
        self.assertEqual(self.shown("ActiveState"), "active")
        self.assertTrue(self.retryctl_answers())
        self.assertEqual(systemctl("stop", self.name).returncode, 0)
        self.assertEqual([self.shown(name) for name in ("ActiveState", "Result", "ExecMainStatus")], ["inactive", "success", "0"])
        self.assertFalse(pathlib.Path("/run", self.name).exists())

    def test_it_lives_longer_than_the_watchdog_and_is_started_again_when_it_is_killed(self):
        self.start()
        first = self.shown("MainPID")
        with self.assertRaises(AssertionError):
            eventually(lambda: self.shown("MainPID") != first, timeout=5)
        os.kill(int(first), signal.SIGKILL)
        eventually(lambda: self.shown("MainPID") not in (first, "0") and self.retryctl_answers(), timeout=20)

    def test_it_is_started_again_when_it_hangs(self):
        self.start()
        first = self.shown("MainPID")
        os.kill(int(first), signal.SIGSTOP)
        eventually(lambda: self.shown("MainPID") not in (first, "0") and self.retryctl_answers(), timeout=30)

    def test_a_faulty_policy_fails_the_start_and_starts_by_itself_when_it_is_put_right(self):
        self.write_policy("broker: 5\n")
        self.assertNotEqual(systemctl("start", self.name).returncode, 0)
        self.write_policy(POLICY)
        eventually(lambda: self.shown("ActiveState") == "active", timeout=20)
