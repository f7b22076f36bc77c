"""README.md: every policy, consumer and command in it is taken out of it and tried."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "integration"))

import broker_tools  # noqa: E402
from amqp_codec import encode_properties  # noqa: E402
from amqp_wire import Wire  # noqa: E402
from retryd import Retryd, die_with_parent, eventually  # noqa: E402

PYTHON = ["/usr/bin/python3", "-B"]
QUORUM = [("x-queue-type", "S", b"\0\0\0\6quorum")]
WORDS = (b'"fine"', b"{bad", b'"later"')  # what a consumer of the README makes of them: success, permanent, first transient
OUTCOMES = {"success": 2, "permanent": 1, "transient": 1}
QUEUES = ("orders", *(f"retryd.orders.{kind}" for kind in ("lane", "parked", "dlq")))

HANDLE_IN_PYTHON = """\
import json
handled = []

def handle(body):
    handled.append(body)
    print(body, flush=True)
    if json.loads(body) == "later" and handled.count(body) == 1:
        raise RuntimeError("not now")

"""
HANDLE_IN_NODE = """\
const handled = [];
async function handle(body) {
  const word = JSON.parse(body);
  handled.push(word);
  if (word === 'later' && handled.filter(seen => seen === word).length === 1) throw new RangeError('not now');
}
"""


def snippets(language):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def snippet(language, word):
    """The one that has the word in it."""
    found = [text for text in snippets(language) if word in text]
    assert len(found) == 1, f"{len(found)} snippets in {language} with {word}"
    return found[0]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Words(unittest.TestCase):
    def test_every_policy_is_good_and_has_at_most_four_lines(self):
        self.assertEqual(len(snippets("yaml")), 2)
        for policy in snippets("yaml"):
            with self.subTest(policy):
                self.assertLessEqual(policy.count("\n"), 4)
                with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
                    file.write(policy)
                    file.flush()
                    command = [os.environ["RETRYD_BIN"], "check", file.name]
                    done = subprocess.run(command, text=True, capture_output=True, timeout=30)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_file_that_it_leads_to_is_there(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        links = re.findall(r"\]\(([^)#]+)\)", text)
        self.assertGreater(len(links), 15)
        for link in links:
            self.assertTrue((ROOT / link).exists(), link)

    def test_no_snippet_is_left_out_here(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        languages = re.findall(r"^```(\w+)\n", text, re.MULTILINE)
        self.assertEqual(languages, ["python", "python", "yaml", "yaml", "python", "js", "sh", "sh"])


class OnABroker(unittest.TestCase):
    """The queue `orders`, and all that the README says of it, on a broker of its own."""

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="retryd-readme-"))
        self.port = free_port()
        self.wire = self.enterContext(Wire())
        self.wire.declare("orders", QUORUM)
        self.addCleanup(self.delete_queues)

    def delete_queues(self):
        with Wire() as wire:
            for queue in QUEUES:
                wire.delete(queue)

    def placed(self, text):
        """The text, with this test's ports and folder instead of the README's."""
        broker = os.environ["RETRYD_TEST_AMQP"].rpartition("@")[2].rstrip("/")
        return text.replace("127.0.0.1:5672", broker).replace("8080", str(self.port)).replace("/run/retryd", self.folder)

    def start(self, command, name, text):
        """A program with that text, which is ended with the test."""
        path = pathlib.Path(self.folder, name)
        path.write_text(self.placed(text), encoding="utf-8")
        with open(f"{self.folder}/output", "ab") as output:
            process = subprocess.Popen(
                [*command, str(path)], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                preexec_fn=die_with_parent)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start_stream_consumer(self, name, text):
        shutil.copy(ROOT / "docs/clients/python/retryd_consumer.py", self.folder)
        return self.start(PYTHON, name, text)

    def output(self):
        return pathlib.Path(self.folder, "output").read_text(encoding="utf-8")

    def retryd(self, policy):
        return self.enterContext(Retryd(self.placed(policy)))

    def send(self, *bodies):
        for body in bodies:
            self.wire.publish("orders", body, encode_properties(delivery_mode=2, message_id=body.decode()))

    def assert_consumes(self, policy):
        """The three words end where they must."""
        daemon = self.retryd(policy)
        self.send(*WORDS)
        eventually(lambda: daemon.deliveries("orders") == OUTCOMES, 30, "the three words' outcomes")
        eventually(lambda: self.wire.depth("retryd.orders.dlq"), 30, "the dead letter")
        dead = self.wire.get("retryd.orders.dlq")
        self.assertEqual((dead.body, dead.headers["retryd-reason"]), (b"{bad", "permanent"))
        self.assertEqual([self.wire.depth(queue) for queue in QUEUES], [0, 0, 0, 0])


class Examples(OnABroker):
    def test_the_http_consumer(self):
        self.start(PYTHON, "app.py", HANDLE_IN_PYTHON + snippet("python", "BaseHTTPRequestHandler"))
        self.assert_consumes(snippet("yaml", "http:"))

    def test_the_stream_consumer_in_python(self):
        self.start_stream_consumer("app.py", HANDLE_IN_PYTHON + snippet("python", "retryd_consumer"))
        self.assert_consumes(snippet("yaml", "stream:"))

    def test_the_brokers_own_tools_show_what_is_parked_and_bring_it_back(self):
        self.park(b'{"order": 1}')
        broker_tools.start_management(os.environ["RETRYD_TEST_BROKER_DIR"], self.port)
        broker_tools.install(self.folder, os.environ["RETRYD_TEST_BROKER_DIR"], self.port)
        shown = self.run_commands(snippet("sh", "rabbitmqadmin"))
        self.assertRegex(shown, r"retryd\.orders\.parked\s+1")
        for words in ('"retryd-reason": "exhausted"', '"retryd-attempts": 1', '"retryd-error-message": "out of paper"'):
            self.assertIn(words, shown)
        self.run_commands(snippet("sh", "shovel"))
        eventually(lambda: self.wire.depth("orders") == 1, 30, "the message in the work queue")
        self.assertEqual(self.wire.depth("retryd.orders.parked"), 0)
        self.assert_begins_anew()

    def park(self, body):
        """One message, by a policy without retries and a consumer that fails."""
        failing = 'def handle(body):\n    raise OSError("out of paper")\n\n'
        consumer = self.start_stream_consumer("failing.py", failing + snippet("python", "retryd_consumer"))
        policy = snippet("yaml", "stream:").replace("deliver:", "retry: {quick: none, delays: none}, deliver:")
        with Retryd(self.placed(policy)) as daemon:
            self.send(body)
            eventually(lambda: self.wire.depth("retryd.orders.parked") == 1, 30, "a parked message")
            daemon.stop()
        consumer.kill()
        consumer.wait()

    def assert_begins_anew(self):
        """What was brought back has all its attempts."""
        told = "print('attempt', message.attempt, message.body.decode(), flush=True)"
        self.start_stream_consumer("again.py", snippet("python", "retryd_consumer").replace("handle(message.body)", told))
        self.retryd(snippet("yaml", "stream:"))
        eventually(lambda: 'attempt 1 {"order": 1}' in self.output(), 30, "a first attempt")

    def run_commands(self, text):
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
        done = subprocess.run(["bash", "-e", "-c", text], env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class Before(OnABroker):
    """Registered where pika is."""

    def test_the_consumer_that_requeues_spins(self):
        self.start(PYTHON, "app.py", HANDLE_IN_PYTHON + snippet("python", "import pika"))
        self.send(b'"fine"', b"{bad")
        eventually(lambda: self.output().count("{bad") > 200, 30, "two hundred tries")
        self.assertEqual(self.output().count("fine"), 1)


class Node(OnABroker):
    """Registered where Node is."""

    def test_the_stream_consumer_in_node(self):
        shutil.copy(ROOT / "docs/clients/node/retryd-consumer.mjs", self.folder)
        self.start([shutil.which("node")], "app.mjs", HANDLE_IN_NODE + snippet("js", "retryd-consumer"))
        self.assert_consumes(snippet("yaml", "stream:"))


if __name__ == "__main__":
    unittest.main()
