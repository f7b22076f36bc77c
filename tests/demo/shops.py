"""The demo's shop, in two forms: an HTTP server in this process, or processes that dial retryd's stream. Both count, for each
fate, what they were handed and what they finished."""

import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess

from consumer import Answer, Consumer
from gauges import QUEUE
from retryd import die_with_parent, eventually

HERE = pathlib.Path(__file__).resolve().parent
NODE = shutil.which("node")


class HttpShop:
    title = "HTTP on a Unix socket"
    clerks = "an HTTP server on a Unix socket"

    def __init__(self, folder):
        self.address = f"{folder}/shop.sock"
        self.deliver = f'http: "unix:{self.address}", path: /orders'
        self.delivered, self.succeeded = collections.Counter(), collections.Counter()
        self.consumer = Consumer(self.reply, self.address)

    def open(self, _retryd):
        self.consumer.start()

    def close(self):
        self.consumer.end()

    def reply(self, request):
        order = json.loads(request.body)
        self.delivered[order["fate"]] += 1
        if request.seen < order["failures"]:
            return refusal(order["error"], order["takes"])
        self.succeeded[order["fate"]] += 1
        return Answer(200, wait=order["takes"])


def refusal(error, wait):
    """A server error with retryd's headers, or a problem as RFC 9457 writes it."""
    if error["status"] >= 500:
        headers = {"Retryd-Error-Type": error["type"], "Retryd-Error-Message": error["message"]}
        return Answer(error["status"], headers, wait=wait)
    problem = {"type": "about:blank", "title": error["type"], "status": error["status"], "detail": error["message"]}
    return Answer(error["status"], {"Content-Type": "application/problem+json"}, json.dumps(problem).encode(), wait=wait)


class StreamShop:
    """Two Python processes on the client file, and one of Node where there is Node."""

    def __init__(self, folder):
        self.folder, self.address, self.journal = folder, f"{folder}/shop.sock", f"{folder}/journal"
        self.deliver = f'stream: "unix:{self.address}"'
        python = ["/usr/bin/python3", "-B", str(HERE / "clerk.py")]
        self.commands = [python, python, *([[NODE, str(HERE / "clerk.mjs")]] if NODE else [])]
        self.title = "stream: 2 Python" + (", 1 Node" if NODE else "")
        self.clerks = "two Python processes" + (" and one of Node" if NODE else "") + " on its stream"
        self.processes = []

    def open(self, retryd):
        """Returns when every clerk is at work."""
        with open(f"{self.folder}/clerks.log", "ab") as log:
            for command in self.commands:
                self.processes.append(subprocess.Popen(
                    [*command, f"unix:{self.address}", self.journal], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    preexec_fn=die_with_parent))
        expected = f", {len(self.commands)} sessions, "
        eventually(lambda: expected in retryd.queue_status(QUEUE)["consumer"], 20, "a session of each clerk")

    def close(self):
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def entries(self):
        """A line of the journal for each message: what became of it, and its fate."""
        if not os.path.exists(self.journal):
            return []
        with open(self.journal, encoding="utf-8") as file:
            return [tuple(line.rstrip("\n").split("\t")) for line in file]

    @property
    def delivered(self):
        return collections.Counter(fate for _, fate in self.entries())

    @property
    def succeeded(self):
        return collections.Counter(fate for word, fate in self.entries() if word == "done")
