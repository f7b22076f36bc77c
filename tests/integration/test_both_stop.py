"""The end of a pod: consumer and retryd get SIGTERM together, in any order; and retryd as the first process of its container."""

import os
import pathlib
import signal
import subprocess
import time

from amqp_codec import encode_properties
from consumer import HANG
from restart_case import RestartCase
from retryd import eventually

MESSAGES = 20
AT_ONCE = 4


class BothStop(RestartCase):
    """Twenty messages, four at the consumer, when both are told to stop."""

    def stop_both(self, kind, manners, order):
        """`order`: "consumer first", "retryd first" or "together"."""
        pod = self.pod(kind, seconds=0.5, manners=manners, concurrency=AT_ONCE)
        properties = encode_properties(delivery_mode=2)
        self.wire.publish_all(self.queue, [(properties, b"%d" % n) for n in range(MESSAGES)])
        eventually(lambda: len(self.journal.begun()) >= AT_ONCE, what="a full load")
        processes = [pod.worker, pod.daemon.process]
        for process in reversed(processes) if order == "retryd first" else processes:
            process.send_signal(signal.SIGTERM)
            if order != "together":
                time.sleep(0.05)
        self.assertEqual(pod.worker.wait(30), 0)
        process, pod.daemon.process = pod.daemon.process, None
        self.assertEqual(process.wait(30), 0, pod.daemon.log())
        self.assert_nothing_lies_in_a_lot()
        return pod

    def go_on(self, pod):
        pod.start_worker()
        pod.daemon.start()
        self.wait_for_nothing_left()
        self.assertEqual({name for _, name in self.journal.ended()}, set(range(MESSAGES)))
        self.assertEqual({attempt for _, _, attempt in self.journal.begun()}, {1})
        self.assert_nothing_lies_in_a_lot()

    def check_finishing(self, kind):
        for order in ("consumer first", "retryd first", "together"):
            with self.subTest(order):
                self.journal.clear()
                pod = self.stop_both(kind, "polite", order)
                done = len(self.journal.ended())
                self.wait_for_depth(self.queue, MESSAGES - done)
                self.go_on(pod)
                self.assert_each_came_once_on_its_first_attempt(MESSAGES)
                pod.stop_worker()
                pod.daemon.stop()

    def test_a_consumer_over_http_that_finishes_its_work(self):
        self.check_finishing("http")

    def test_a_consumer_on_the_stream_that_finishes_its_work(self):
        self.check_finishing("stream")

    def test_a_consumer_that_ends_at_once(self):
        """What it had comes again, uncounted; what meets a closed door is handed back."""
        for order in ("consumer first", "retryd first", "together"):
            with self.subTest(order):
                self.journal.clear()
                pod = self.stop_both("http", "rude", order)
                at_the_kill = self.journal.unended()[pod.worker.pid]
                self.go_on(pod)
                begun = [name for _, name, _ in self.journal.begun()]
                again = {name for name in begun if begun.count(name) > 1}
                self.assertLessEqual(again, at_the_kill)
                self.assertLessEqual(len(again), AT_ONCE)
                pod.stop_worker(signal.SIGKILL)
                pod.daemon.stop()


class FirstProcess(RestartCase):
    """As PID 1 of its own namespace, as in a container without an init."""

    def start(self, app, arguments=()):
        rights = () if os.getuid() == 0 else ("--user", "--map-root-user")
        wrapper = ("unshare", *rights, "--pid", "--fork", "--kill-child")
        policy = f'queues: {{"@QUEUE@": {{deliver: {{http: "{app.url}", concurrency: 2, timeout: 1m}}}}}}'
        daemon = self.retryd(policy, arguments=arguments, wrapper=wrapper)
        pid = int(pathlib.Path(f"/proc/{daemon.pid}/task/{daemon.pid}/children").read_text())
        self.assertEqual(self.status_of(pid)["NSpid"].split()[-1], "1")
        return daemon, pid

    @staticmethod
    def status_of(pid):
        lines = pathlib.Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
        return dict(line.split(":\t", 1) for line in lines if ":\t" in line)

    def exit_code(self, daemon):
        process, daemon.process = daemon.process, None
        return process.wait(20)  # unshare passes on how its child ended

    def publish(self, *bodies):
        self.wire.publish_all(self.queue, [(encode_properties(delivery_mode=2), body) for body in bodies])

    def test_a_signal_drains_it_and_it_ends_with_0(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number.name):
                app = self.consumer()
                daemon, pid = self.start(app)
                self.publish(b"one", b"two")
                self.wait_for_requests(app, 2)
                os.kill(pid, signal.SIGHUP)
                eventually(lambda: "reload_not_supported" in daemon.log(), what="the answer to SIGHUP")
                os.kill(pid, number)
                self.assertEqual(self.exit_code(daemon), 0)
                self.assertIn('"stopped"', daemon.log())
                self.assertEqual(self.wire.depth(self.queue), 0)

    def test_a_second_sigterm_ends_it_at_once(self):
        app = self.consumer(lambda request: HANG)
        daemon, pid = self.start(app)
        self.publish(b"one", b"two", b"three")
        self.wait_for_requests(app, 2)
        os.kill(pid, signal.SIGTERM)
        eventually(lambda: daemon.status()["draining"], what="draining")
        os.kill(pid, signal.SIGTERM)
        self.assertEqual(self.exit_code(daemon), 0)
        self.wait_for_depth(self.queue, 3)

    def test_orphans_that_it_inherits_stay_no_zombies(self):
        """What a health check or `exec` leaves behind becomes a child of PID 1."""
        daemon, pid = self.start(self.consumer())
        marker = str(self.folder / "orphan")
        command = f"(touch {marker}; sleep 0.2; rm {marker}) & exit"
        subprocess.run(["nsenter", f"--target={pid}", "--pid", "--user", "--preserve-credentials", "/bin/sh", "-c", command]
                       if os.getuid() else ["nsenter", f"--target={pid}", "--pid", "/bin/sh", "-c", command], check=True, timeout=20)
        eventually(lambda: self.children(pid) or not os.path.exists(marker), what="the orphan")
        eventually(lambda: not self.children(pid), what="no child, not even a zombie")
        self.assertTrue(daemon.answers("/livez"))

    @staticmethod
    def children(pid):
        return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
