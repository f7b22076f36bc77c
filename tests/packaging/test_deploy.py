"""What deploy/ offers to copy: its policies are good, its consumer answers as it says, its paths and times agree."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import textwrap
import unittest

from retryd import UnixHttp, die_with_parent, eventually

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
URI = "amqp://app:secret@rabbitmq:5672/"


def text_of(name):
    return (DEPLOY / name).read_text(encoding="utf-8")


def policy_in_configmap():
    block = re.search(r"^  retryd\.yaml: \|\n((?:    .*\n|\n)+)", text_of("kubernetes.yaml"), re.MULTILINE)[1]
    return textwrap.dedent(block)


class Deploy(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="retryd-deploy-")))

    def assert_good(self, policy):
        path = self.folder / "retryd.yaml"
        path.write_text(policy, encoding="utf-8")
        answer = subprocess.run(
            [os.environ["RETRYD_BIN"], "check", str(path)], capture_output=True, text=True, timeout=30, env={**os.environ, "AMQP_URI": URI})
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout

    def test_the_policy_of_the_composition_is_good(self):
        self.assert_good(text_of("compose/retryd.yaml"))
        self.assertIn(URI, text_of("compose.yaml"))

    def test_the_policy_of_the_sidecar_is_good(self):
        secret = self.folder / "uri"
        secret.write_text(URI, encoding="utf-8")
        policy = policy_in_configmap()
        self.assertIn("/etc/retryd/amqp/uri", policy)
        self.assert_good(policy.replace("/etc/retryd/amqp/uri", str(secret)))

    def test_the_grace_of_the_pod_covers_the_drain(self):
        seconds = lambda pattern: int(re.search(pattern, text_of("kubernetes.yaml"))[1])
        timeout, drain = seconds(r"timeout: (\d+)s"), seconds(r"drain, --wait, (\d+)s")
        self.assertGreater(drain, timeout + 2 + 5)  # 5 s where the broker is silent
        self.assertGreater(seconds(r"terminationGracePeriodSeconds: (\d+)"), drain + 10)

    def test_retryctl_knows_the_preStop_command(self):
        command = re.search(r"preStop: \{exec: \{command: \[/usr/bin/retryctl, (.*?)\]", text_of("kubernetes.yaml"))[1].split(", ")
        answer = subprocess.run(
            [os.environ["RETRYCTL_BIN"], *command, "--admin", str(self.folder / "nobody")], capture_output=True, text=True, timeout=30)
        self.assertEqual(answer.returncode, 1, answer.stderr)  # nobody is there; 2 would be wrong usage

    def test_the_consumer_answers_as_it_says_and_ends_by_sigterm(self):
        address = str(self.folder / "app.sock")
        consumer = subprocess.Popen(
            ["/usr/bin/python3", str(DEPLOY / "compose/consumer.py"), address], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=die_with_parent)
        self.addCleanup(consumer.kill)
        eventually(lambda: self.accepts(address), what="the socket")
        answers = {body: self.post(address, body) for body in ('{"id": 1}', '{"id":', "{}", "[]")}
        self.assertEqual(answers, {'{"id": 1}': 204, '{"id":': 422, "{}": 422, "[]": 500})
        consumer.send_signal(signal.SIGTERM)
        output, errors = consumer.communicate(timeout=20)
        self.assertEqual((consumer.returncode, errors), (0, ""))
        self.assertIn("order 1\n", output)

    @staticmethod
    def accepts(address):
        with socket.socket(socket.AF_UNIX) as knock:
            return knock.connect_ex(address) == 0

    @staticmethod
    def post(address, body):
        connection = UnixHttp(address)
        try:
            connection.request("POST", "/orders", body, {"Retryd-Attempt": "1"})
            return connection.getresponse().status
        finally:
            connection.close()
