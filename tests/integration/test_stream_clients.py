"""The client files, as a project would use them: exceptions become outcomes, one is killed, all are stopped."""

import signal
import time
import unittest

from retryd import eventually
from stream_case import HERE, NODE, StreamCase

PLAIN = "retry: {quick: none, delays: [100ms, 200ms, 400ms]}"


class Clients:
    """The same for each client file."""

    command = ()
    odd = {}  # what a handler may also throw, by the message's body, and the error type that it is known by

    def setUp(self):
        super().setUp()
        self.declare_work_queue()

    def start(self, keys=PLAIN, **more):
        daemon = self.serve_stream(keys, **more)
        self.worker(*self.command)
        self.wait_for_sessions(daemon, 1)
        return daemon

    def test_exceptions_become_outcomes(self):
        daemon = self.start("retry: {quick: none, delays: none}")
        for word in ("success", "drop", "permanent", "always"):
            self.send(word.encode())
        self.send(b"throttled")
        for lot, error, text in (("parked", "DbTimeout", "no answer"), ("dlq", "Permanent", "no such article")):
            message = self.wait_for_lot(lot)
            self.assertEqual((message.headers["retryd-error-type"], message.headers["retryd-error-message"]), (error, text))
        self.wait_for_depth(self.own("hold.1800000ms"), 1)
        held = self.wire.get(self.own("hold.1800000ms"))
        self.assertEqual((held.headers["retryd-error-type"], held.headers["retryd-dependency"]), ("Throttled", "payments"))
        self.assertEqual(daemon.deliveries(self.queue), {"success": 1, "drop": 1, "permanent": 1, "transient": 1, "throttled": 1})

    def test_whatever_a_handler_throws_is_answered(self):
        daemon = self.start("retry: {quick: none, delays: none}", deliver="concurrency: 16, slow_start: none")
        for word in 5 * list(self.odd):  # more than there are workers
            self.send(word.encode())
        self.wait_for_depth(self.own("parked"), 5 * len(self.odd))
        parked = [self.wire.get(self.own("parked")) for _ in range(5 * len(self.odd))]
        told = {(message.body.decode(), message.headers["retryd-error-type"]) for message in parked}
        self.assertEqual(told, set(self.odd.items()))
        self.assertEqual(daemon.deliveries(self.queue), {"transient": 5 * len(self.odd)})

    def test_a_text_as_the_time_of_throttled(self):
        self.start()
        self.send(b"in a while")
        self.wait_for_depth(self.own("hold.1800000ms"), 1)

    def test_extend_from_a_handler_that_takes_long(self):
        daemon = self.start(deliver="timeout: 1s")
        self.send(b"extend", headers=[("seconds", "S", b"\0\0\0\x032.0")])
        eventually(lambda: daemon.deliveries(self.queue), what="an answer")
        self.assertEqual(daemon.deliveries(self.queue), {"success": 1})

    def test_it_finishes_what_it_has_at_sigterm(self):
        daemon = self.start()
        self.send(b"sleep", headers=[("seconds", "S", b"\0\0\0\x031.5")])
        self.wait_for_handed(1)
        self.assertEqual(self.stop_workers(), [0])
        self.wait_for_nothing_left()
        self.assertEqual(daemon.deliveries(self.queue), {"success": 1})

    def test_both_are_told_to_stop_at_once_and_nothing_is_lost_or_charged(self):
        daemon = self.start()
        for n in range(15):  # the slow start is over after them
            self.send(b"%08d" % (20 * n))
        self.wait_for_nothing_left()
        for _ in range(5):
            self.send(b"sleep", headers=[("seconds", "S", b"\0\0\0\x031.5")])
        self.wait_for_handed(20)
        daemon.process.terminate()
        self.assertEqual(self.stop_workers(), [0])
        self.assertEqual(daemon.process.wait(10), 0)
        self.assertEqual([self.wire.depth(name) for name in (self.queue, self.own("lane"), self.own("parked"))], [0, 0, 0])

    def test_a_process_that_dies_at_the_end_costs_no_attempt(self):
        daemon = self.start()
        for n in range(15):  # the slow start is over after them
            self.send(b"%08d" % (20 * n))
        self.wait_for_nothing_left()
        for _ in range(5):
            self.send(b"sleep", headers=[("seconds", "S", b"\0\0\0\x031.5")])
        self.wait_for_handed(20)
        daemon.process.terminate()
        eventually(lambda: "draining" in daemon.log(), what="the drain")
        self.workers[0].kill()
        self.assertEqual(daemon.process.wait(10), 0)
        daemon.start()
        self.worker(*self.command)
        self.wait_for_handed(25, timeout=30)
        self.wait_for_nothing_left()
        self.assertEqual([attempt for _, name, attempt in self.handed() if name == "sleep"], [1] * 10)

    def test_it_comes_back_when_retryd_does(self):
        daemon = self.start()
        self.send(b"success")
        self.wait_for_handed(1)
        self.wait_for_nothing_left()
        self.assertEqual(daemon.stop(), 0)
        daemon.start()
        self.wait_for_sessions(daemon, 1)
        self.send(b"success")
        self.wait_for_handed(2)
        self.wait_for_nothing_left()

    def test_a_killed_process_among_others_harms_nobody(self):
        daemon = self.start()
        other = self.worker(*self.command)
        self.wait_for_sessions(daemon, 2)
        for n in range(40):  # the slow start is over after them
            self.send(b"%08d" % (20 * n))
        self.wait_for_handed(40)
        self.wait_for_nothing_left()
        for _ in range(16):
            self.send(b"sleep", headers=[("seconds", "S", b"\0\0\0\x032.0")])
        self.wait_for_handed(56)
        other.send_signal(signal.SIGKILL)
        self.wait_for_nothing_left(timeout=30)
        deliveries = daemon.deliveries(self.queue)
        self.assertEqual(deliveries["success"], 56)
        self.assertIn(deliveries["lost"], range(6, 11))
        self.assertEqual(set(deliveries), {"success", "lost"})
        self.assertEqual({attempt for _, name, attempt in self.handed() if name == "sleep"}, {1})  # nobody is charged

    def test_pings_are_answered_while_nothing_happens(self):
        daemon = self.start()
        before = daemon.log().count("consumer_away")
        time.sleep(17)  # a ping is due after 5 s, the end of a session that does not answer it 10 s later
        self.wait_for_sessions(daemon, 1)
        self.send(b"success")
        self.wait_for_handed(1)
        self.assertEqual(daemon.log().count("consumer_away"), before)


class PythonClient(Clients, StreamCase):
    odd = {
        "exits": "SystemExit", "interrupted": "KeyboardInterrupt", "cancelled": "CancelledError", "speechless": "Speechless",
        "later": "TypeError"}


if NODE:

    class NodeClient(Clients, StreamCase):
        command = (NODE, str(HERE / "stream_worker.mjs"))
        odd = {"nothing": "undefined", "null": "object", "text": "String", "speechless": "object", "at once": "RangeError"}


if __name__ == "__main__":
    unittest.main()
