"""What the tests of restarts have in common: a consumer that is a process, with a retryd beside it as in one pod, steady load, and the
consumers' journal of what they were handed."""

import collections
import pathlib
import signal
import subprocess
import threading

from amqp_codec import encode_properties
from amqp_wire import Wire
from integration_case import IntegrationCase
from retryd import die_with_parent, eventually

HERE = pathlib.Path(__file__).resolve().parent


class Load(threading.Thread):
    """Publishes messages named 0, 1, 2 … until it is stopped: `backlog` at once, then a batch ten times a second."""

    def __init__(self, queue, backlog=0, batch=15):
        super().__init__(daemon=True)
        self.queue, self.backlog, self.batch = queue, backlog, batch
        self.count = 0
        self.over = threading.Event()
        self.start()

    def run(self):
        with Wire() as wire:
            self.publish(wire, self.backlog)
            while not self.over.wait(0.1):
                self.publish(wire, self.batch)

    def publish(self, wire, count):
        names = range(self.count, self.count + count)
        wire.publish_all(self.queue, [(encode_properties(delivery_mode=2, message_id=f"m-{n}"), b"%d" % n) for n in names])
        self.count += count

    def stop(self):
        """How many there are."""
        self.over.set()
        self.join()
        return self.count


class Journal:
    """What the consumers of a test have written down."""

    def __init__(self, path):
        self.path = path

    def clear(self):
        self.path.unlink(missing_ok=True)

    def lines(self, word):
        text = self.path.read_text() if self.path.exists() else ""
        return [line.split()[1:] for line in text.splitlines() if line.startswith(word)]

    def begun(self):
        """[(pid, name, attempt)]"""
        return [(int(pid), int(name), int(attempt)) for pid, name, attempt in self.lines("begin")]

    def ended(self):
        """{(pid, name)}"""
        return {(int(pid), int(name)) for pid, name in self.lines("end")}

    def unended(self):
        """{pid: {name}}: what each was still at."""
        ended = self.ended()
        left = collections.defaultdict(set)
        for pid, name, _ in self.begun():
            if (pid, name) not in ended:
                left[pid].add(name)
        return left


class Pod:
    """A consumer and the retryd beside it. kind: http (behind a gate) or stream."""

    def __init__(self, case, kind, seconds=0.02, manners="polite", concurrency=8):
        self.case, self.seconds, self.manners = case, seconds, manners
        path = case.folder / f"{len(case.pods)}.sock"
        self.address = f"{'http' if kind == 'http' else 'unix'}:{path}"
        target = f'http: "unix:{path}", ready: {{path: /healthz, every: 100ms}}' if kind == "http" else f'stream: "unix:{path}"'
        self.worker = self.start_worker()
        self.daemon = case.retryd(f'queues: {{"@QUEUE@": {{deliver: {{{target}, concurrency: {concurrency}}}}}}}')

    def start_worker(self):
        command = ["/usr/bin/python3", "-B", HERE / "restart_worker.py", self.address, self.case.journal.path, str(self.seconds), self.manners]
        self.worker = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
        self.case.addCleanup(self.end, self.worker)
        return self.worker

    @staticmethod
    def end(process):
        process.kill()
        process.wait()

    def stop_worker(self, number=signal.SIGTERM):
        """Its exit code."""
        self.worker.send_signal(number)
        return self.worker.wait(30)

    def deliveries(self):
        return self.daemon.deliveries(self.case.queue)

    def in_flight(self):
        return self.daemon.queue_status(self.case.queue)["in_flight"]


class RestartCase(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue()
        self.journal = Journal(self.folder / "journal")
        self.pods = []

    def pod(self, kind, **more):
        self.pods.append(Pod(self, kind, **more))
        return self.pods[-1]

    def wait_for_progress(self, pids, count):
        """So many messages were finished by these processes."""
        eventually(lambda: sum(pid in pids for pid, _ in self.journal.ended()) >= count, 30, f"{count} messages finished by {pids}", 0.05)

    def assert_nothing_lies_in_a_lot(self):
        self.assertEqual([self.wire.depth(self.own(lot)) for lot in ("parked", "dlq")], [0, 0])

    def assert_each_came_once_on_its_first_attempt(self, count):
        begun = collections.Counter(name for _, name, _ in self.journal.begun())
        self.assertEqual({name: times for name, times in begun.items() if times > 1}, {})
        self.assertEqual(set(begun), set(range(count)))
        self.assertEqual({attempt for _, _, attempt in self.journal.begun()}, {1})
        self.assertEqual(self.journal.unended(), {})
        self.assert_nothing_lies_in_a_lot()
