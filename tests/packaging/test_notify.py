"""What systemd is told by Type=notify: ready with the admin socket, alive from the main loop, stopping with SIGTERM."""

import os
import pathlib
import secrets
import signal
import socket
import tempfile
import time
import unittest
from unittest import mock

from retryd import Retryd

NO_BROKER = "amqp://guest:guest@127.0.0.1:9/"
POLICY = 'queues: {orders: "unix:/nonexistent/app.sock"}\n'


class NotifyCase(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="retryd-notify-")))

    def listen(self, address):
        """systemd's end: a datagram socket."""
        listener = self.enterContext(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        listener.settimeout(10)
        listener.bind(address)
        return listener

    def start(self, **variables):
        """retryd as a service, not ready yet."""
        self.enterContext(mock.patch.dict(os.environ, variables))
        daemon = Retryd(POLICY, amqp=NO_BROKER)
        self.addCleanup(daemon.end)
        return daemon.start(wait_ready=False)

    def test_ready_means_that_the_admin_socket_answers_broker_or_not(self):
        listener = self.listen(str(self.folder / "notify"))
        daemon = self.start(NOTIFY_SOCKET=str(self.folder / "notify"))
        self.assertEqual(listener.recv(4096), b"READY=1")
        self.assertEqual(daemon.get("/livez")[0], 200)
        self.assertEqual(daemon.get("/readyz")[0], 503)

    def test_an_abstract_socket_is_heard_too(self):
        name = f"retryd-notify-{secrets.token_hex(8)}"
        listener = self.listen(f"\0{name}")
        self.start(NOTIFY_SOCKET=f"@{name}")
        self.assertEqual(listener.recv(4096), b"READY=1")

    def test_stopping_comes_with_sigterm_and_nothing_after_it(self):
        listener = self.listen(str(self.folder / "notify"))
        daemon = self.start(NOTIFY_SOCKET=str(self.folder / "notify"))
        listener.recv(4096)
        self.assertEqual(daemon.stop(), 0)
        self.assertEqual(listener.recv(4096), b"STOPPING=1")
        listener.setblocking(False)
        self.assertRaises(BlockingIOError, listener.recv, 4096)

    def test_the_watchdog_is_fed_twice_in_its_time(self):
        listener = self.listen(str(self.folder / "notify"))
        self.start(NOTIFY_SOCKET=str(self.folder / "notify"), WATCHDOG_USEC="1000000")
        self.assertEqual([listener.recv(4096) for _ in range(2)], [b"READY=1", b"WATCHDOG=1"])
        begin = time.monotonic()
        self.assertEqual([listener.recv(4096) for _ in range(4)], [b"WATCHDOG=1"] * 4)
        self.assertAlmostEqual(time.monotonic() - begin, 2, delta=0.9)

    def test_a_daemon_that_hangs_feeds_no_watchdog(self):
        listener = self.listen(str(self.folder / "notify"))
        daemon = self.start(NOTIFY_SOCKET=str(self.folder / "notify"), WATCHDOG_USEC="400000")
        listener.recv(4096)
        os.kill(daemon.pid, signal.SIGSTOP)
        listener.settimeout(1)
        with self.assertRaises(TimeoutError):
            while True:
                listener.recv(4096)

    def test_a_watchdog_of_another_process_is_not_fed(self):
        listener = self.listen(str(self.folder / "notify"))
        self.start(NOTIFY_SOCKET=str(self.folder / "notify"), WATCHDOG_USEC="200000", WATCHDOG_PID="1")
        self.assertEqual(listener.recv(4096), b"READY=1")
        listener.settimeout(1)
        self.assertRaises(TimeoutError, listener.recv, 4096)

    def test_a_socket_that_nobody_reads_or_that_is_no_socket_does_no_harm(self):
        for address in (str(self.folder / "nobody"), "@" + "x" * 200, "vsock:2:1"):
            with self.subTest(address=address[:20]):
                daemon = self.start(NOTIFY_SOCKET=address, WATCHDOG_USEC="100000")
                deadline = time.monotonic() + 10
                while not daemon.answers("/livez") and time.monotonic() < deadline:
                    time.sleep(0.02)
                self.assertTrue(daemon.answers("/livez"))
                self.assertEqual(daemon.stop(), 0)
