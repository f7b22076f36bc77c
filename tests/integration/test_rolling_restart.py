"""A consumer that is restarted ten times under load. With a drain first, with `ready` or with `leave`: each message comes once and none
is charged. Without any of them: what was in the hands of a killed process comes again, and nothing else does."""

import collections
import os
import signal
import subprocess

from restart_case import Load, RestartCase
from retryd import eventually

TIMES = 10


class Prepared(RestartCase):
    """Nothing comes twice, nothing is charged."""

    def check_pods_with_the_drain_hook(self, kind):
        """Two pods on one queue; in turn each is drained, stopped and started, both of its processes."""
        for _ in range(2):
            self.pod(kind)
        load = Load(self.queue)
        for turn in range(TIMES):
            pod = self.pods[turn % 2]
            self.wait_for_progress({pod.worker.pid}, 20)
            self.assertEqual(self.retryctl(pod, "drain").returncode, 0)
            self.assertEqual(set(pod.deliveries()), {"success"})
            self.assertEqual(pod.stop_worker(), 0)
            self.assertEqual(pod.daemon.stop(), 0, pod.daemon.log())
            pod.daemon.start(wait_ready=False)
            pod.start_worker()
        self.finish(load)
        for pod in self.pods:
            self.assertLessEqual(set(pod.deliveries()), {"success"})

    def finish(self, load):
        count = load.stop()
        for pod in self.pods:
            pod.daemon.wait_ready()
        self.wait_for_nothing_left(60)
        self.assert_each_came_once_on_its_first_attempt(count)

    @staticmethod
    def retryctl(pod, command):
        return subprocess.run([os.environ["RETRYCTL_BIN"], "--admin", pod.daemon.admin, command], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)

    def test_pods_with_the_drain_hook_over_http(self):
        self.check_pods_with_the_drain_hook("http")

    def test_pods_with_the_drain_hook_over_the_stream(self):
        self.check_pods_with_the_drain_hook("stream")

    def test_a_consumer_whose_page_says_that_it_goes(self):
        """Over HTTP, retryd stays: the page answers 503, nothing more comes, the consumer ends."""
        pod = self.pod("http")
        load = Load(self.queue)
        for _ in range(TIMES):
            self.wait_for_progress({pod.worker.pid}, 20)
            self.assertEqual(pod.stop_worker(), 0)
            pod.start_worker()
        self.finish(load)
        self.assertEqual(set(pod.deliveries()), {"success"})

    def test_stream_clients_that_leave_one_after_the_other(self):
        """Four processes on one stream, retryd stays: each leaves, finishes and is started again, and the others do its work."""
        pod = self.pod("stream", concurrency=32)
        workers = [pod.worker, *(pod.start_worker() for _ in range(3))]
        load = Load(self.queue)
        for turn in range(TIMES):
            pod.worker = workers[turn % 4]
            self.wait_for_progress({pod.worker.pid}, 20)
            self.assertEqual(pod.stop_worker(), 0)
            workers[turn % 4] = pod.start_worker()
        self.finish(load)
        self.assertEqual(pod.deliveries(), {"success": load.count})


class Unprepared(RestartCase):
    """Killed without a word: every duplicate was in the hands of a process when that was killed, and nothing is lost."""

    def check_kills(self, kind):
        pod = self.pod(kind, seconds=0.05)
        load = Load(self.queue, backlog=500)
        killed = []
        for _ in range(TIMES):
            self.wait_for_progress({pod.worker.pid}, 20)
            self.wait_for_what_was_lost(killed)
            eventually(lambda: pod.in_flight() > 1, what="several messages at the consumer", every=0.001)
            pod.stop_worker(signal.SIGKILL)
            killed.append(pod.worker.pid)
            pod.start_worker()
        count = load.stop()
        self.wait_for_nothing_left(60)
        self.check(kind, pod, killed, count)

    def wait_for_what_was_lost(self, killed):
        """So that no message meets two kills: one that does so again and again is suspected of killing."""
        def all_done():
            done = {name for _, name in self.journal.ended()}
            return all(self.journal.unended()[pid] <= done for pid in killed)

        eventually(all_done, 30, "what was lost is done", every=0.1)

    def check(self, kind, pod, killed, count):
        begun = self.journal.begun()
        self.assertEqual({name for _, name, _ in begun}, set(range(count)))
        self.assertEqual({name for _, name in self.journal.ended()}, set(range(count)))
        self.assert_nothing_lies_in_a_lot()
        self.assertEqual({attempt for _, _, attempt in begun}, {1})  # none was alone, so none is charged
        takers = collections.defaultdict(list)
        for pid, name, _ in begun:
            takers[name].append(pid)
        again = {name: pids[:-1] for name, pids in takers.items() if len(pids) > 1}
        self.assertLessEqual({pid for pids in again.values() for pid in pids}, set(killed))
        self.check_in_hand_at_the_kill(kind, again)
        deliveries = pod.deliveries()
        self.assertEqual(deliveries["success"], count)
        self.assertGreaterEqual(deliveries["lost"], len(begun) - count)  # more: what a dying process did not read
        self.assertLessEqual(set(deliveries), {"success", "lost", "unavailable"})

    def check_in_hand_at_the_kill(self, kind, again):
        unended = self.journal.unended()
        for pid in {pid for pids in again.values() for pid in pids}:
            names = {name for name, pids in again.items() if pid in pids}
            if kind == "http":
                self.assertLessEqual(names, unended[pid])
            else:  # the answer goes out after the end was written
                self.assertLessEqual(len(names), 8)

    def test_over_http(self):
        self.check_kills("http")

    def test_over_the_stream(self):
        self.check_kills("stream")
