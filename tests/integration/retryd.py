"""A retryd under test: started with a policy text, asked over its admin socket, ended by SIGTERM or SIGKILL.

In the policy text @AMQP@ stands for the broker's URI and @DIR@ for the daemon's own folder; `broker:` is written for you when
the text has none.
"""

import ctypes
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time


# Keys of the policy, for what is about something else than them: exact counts of what fails would trip them.
GUARDS_OFF = "breaker: none, budgets: none, storm: none"
WITHOUT_GUARDS = f"{GUARDS_OFF}, retry: {{quick: {{skip_above: none}}}}"  # where nothing else is said of quick retries


def with_defaults(policy, keys):
    """The policy with more keys in its defaults, which it has on one line, or none."""
    start = "defaults: {"
    return policy.replace(start, f"{start}{keys}, ", 1) if start in policy else f"{start}{keys}}}\n{policy}"


class UnixHttp(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=10)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def die_with_parent():
    """In a child, before exec: SIGKILL when the test that started it is gone, however it ended."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def eventually(condition, timeout=15, what="the condition", every=0.02):
    """Asks until the answer is true, and returns it."""
    deadline = time.monotonic() + timeout
    while not (answer := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come true within {timeout} s")
        time.sleep(every)
    return answer


class Retryd:
    def __init__(self, policy, amqp=None, arguments=(), wrapper=()):
        self.folder = tempfile.mkdtemp(prefix="retryd-")
        self.admin = f"{self.folder}/admin.sock"
        self.arguments = arguments
        self.wrapper = wrapper  # a command that runs it: ("unshare", "--pid", …)
        self.amqp = amqp or os.environ["RETRYD_TEST_AMQP"]
        self.process = None
        self.write_policy(policy)

    def write_policy(self, policy):
        if not policy.startswith("broker:") and "\nbroker:" not in policy:
            policy = 'broker: "@AMQP@"\n' + policy
        with open(f"{self.folder}/policy.yaml", "w", encoding="utf-8") as file:
            file.write(policy.replace("@AMQP@", self.amqp).replace("@DIR@", self.folder))

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.end()

    # --- its life

    def start(self, wait_ready=True):
        command = [*self.wrapper, os.environ["RETRYD_BIN"], "run", "--config", f"{self.folder}/policy.yaml", *self.arguments]
        environment = {**os.environ, "RUNTIME_DIRECTORY": self.folder}
        with open(f"{self.folder}/log", "ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, preexec_fn=die_with_parent)
        if wait_ready:
            self.wait_ready()
        return self

    def wait_ready(self, timeout=20):
        def ready():
            if self.process.poll() is not None:
                raise AssertionError(f"retryd ended with {self.process.returncode}:\n{self.log()}")
            return self.answers("/readyz")

        try:
            eventually(ready, timeout, "/readyz")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.log()}") from None

    def stop(self, timeout=40):
        """SIGTERM; returns the exit code. Nothing when it was not running."""
        return self.signal(signal.SIGTERM, timeout)

    def kill(self):
        return self.signal(signal.SIGKILL, 10)

    def signal(self, number, timeout):
        if self.process is None:
            return None
        process, self.process = self.process, None
        process.send_signal(number)
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError(f"retryd did not end within {timeout} s:\n{self.log()}") from None

    def end(self):
        """At the end of a test: nothing of it is left."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def pid(self):
        return self.process.pid

    def log(self):
        with open(f"{self.folder}/log", encoding="utf-8", errors="replace") as file:
            return file.read()

    def situation(self, lines=40):
        """For a test that failed: how it is, and the end of its log."""
        state = "ended by the test" if self.process is None else {None: "running"}.get(code := self.process.poll(), f"died with {code}")
        try:
            status = self.get("/status")[1]
        except (OSError, http.client.HTTPException) as error:
            status = f"no status: {error}"
        end_of_log = self.log().splitlines()[-lines:]
        return "\n".join([f"--- retryd, {state}", status, f"--- the last {len(end_of_log)} lines of its log", *end_of_log])

    # --- asking it

    def get(self, path):
        """(status, body text)."""
        connection = UnixHttp(self.admin)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def answers(self, path):
        try:
            return self.get(path)[0] == 200
        except OSError:
            return False

    def status(self):
        return json.loads(self.get("/status")[1])

    def queue_status(self, queue):
        return next(view for view in self.status()["queues"] if view["name"] == queue)

    def causes(self, queue):
        """What holds the queue up now."""
        return [stall["cause"] for stall in self.queue_status(queue)["stalls"]]

    def metrics(self):
        """{'retryd_deliveries_total{queue="w",outcome="success"}': 3.0, …}"""
        lines = self.get("/metrics")[1].splitlines()
        pairs = (line.rpartition(" ") for line in lines if line and not line.startswith("#"))
        return {name: float(value) for name, _, value in pairs}

    def deliveries(self, queue):
        """How often each outcome came: {"success": 3, …}, only what came at all."""
        name = re.compile(r'retryd_deliveries_total\{queue="%s",outcome="(.*)"\}' % re.escape(queue))
        found = ((name.fullmatch(series), value) for series, value in self.metrics().items())
        return {match[1]: int(value) for match, value in found if match and value}

    def cpu_seconds(self):
        with open(f"/proc/{self.pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
