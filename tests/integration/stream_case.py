"""What the tests of the stream have in common: a daemon with a stream, peers by hand, and worker processes."""

import os
import pathlib
import shutil
import signal
import subprocess

from integration_case import IntegrationCase
from retryd import die_with_parent, eventually
from stream_peer import StreamPeer

HERE = pathlib.Path(__file__).resolve().parent
NODE = shutil.which("node")


class StreamCase(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.path = str(self.folder / "orders.sock")
        self.log = self.folder / "handed"
        self.workers = []

    def serve_stream(self, keys="", deliver="concurrency: 16", **more):
        """A running daemon whose consumers come to self.path."""
        policy = f'queues: {{"{self.queue}": {{deliver: {{stream: "unix:{self.path}", {deliver}}}, {keys}}}}}'
        daemon = self.retryd(policy, **more)
        eventually(lambda: os.path.exists(self.path), what="the stream's socket")
        return daemon

    def peer(self, credit=None):
        return self.entered(StreamPeer(self.path, credit))

    def worker(self, *command):
        """A consumer process; the Python client unless another command is given."""
        command = command or ("/usr/bin/python3", "-B", str(HERE / "stream_worker.py"))
        process = subprocess.Popen(
            [*command, f"unix:{self.path}", str(self.log)], stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
        self.addCleanup(self.end_worker, process)
        self.workers.append(process)
        return process

    @staticmethod
    def end_worker(process):
        process.kill()
        process.wait()

    def stop_workers(self):
        """SIGTERM to all; their exit codes."""
        for process in self.workers:
            process.send_signal(signal.SIGTERM)
        return [process.wait(20) for process in self.workers]

    def wait_for_sessions(self, daemon, count):
        expected = f"{count} session" + ("" if count == 1 else "s")
        eventually(lambda: f", {expected}, " in daemon.queue_status(self.queue)["consumer"], what=expected)

    def handed(self):
        """[(pid, name, attempt)] of every message that a worker process was handed."""
        if not self.log.exists():
            return []
        lines = (line.split() for line in self.log.read_text().splitlines())
        return [(int(pid), name, int(attempt)) for pid, name, attempt in lines]

    def wait_for_handed(self, count, timeout=20):
        eventually(lambda: len(self.handed()) >= count, timeout, f"{count} messages handed over")
