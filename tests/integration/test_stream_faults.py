"""What a consumer on the stream can do wrong: it is told, its session ends, and nobody else notices."""

import collections
import os
import random
import signal
import struct
import threading
import time

from process_facts import resident_kib
from retryd import eventually
from stream_case import StreamCase
from stream_peer import StreamPeer, frame

PLAIN = "retry: {quick: none, delays: [100ms], jitter: 0%, spread: 1}"
HELLO = {"op": "hello", "protocol": 1, "credit": 1}


class Faults(StreamCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue()

    def test_whoever_breaks_the_protocol_is_told_and_its_message_comes_again(self):
        daemon = self.serve_stream(PLAIN)
        cases = [
            (struct.pack(">II", 0xFFFFFFFF, 0), "frame_too_large"),
            (struct.pack(">II", 0x80000000, 0), "frame_too_large"),
            (b"\xff" * 9 + b"\x01", "frame_too_large"),  # -1 as a varint
            (struct.pack(">II", 0, 0), "bad_json"),
            (frame(b"{"), "bad_json"),
            (frame({"op": "explode"}), "unknown_op"),
            (frame({"op": "reply", "id": 99, "outcome": "success"}), "unknown_id"),
            (frame(HELLO), "second_hello"),
            (frame({"op": "reply", "id": 1, "outcome": "success"}, b"body"), "unexpected_body"),
        ]
        before = resident_kib(daemon.pid)
        for number, (garbage, code) in enumerate(cases):
            with self.subTest(code=code, garbage=garbage):
                peer = self.peer(credit=1)
                self.send(b"%d" % number)
                self.assertEqual(peer.message()["attempt"], 1)
                peer.send_raw(garbage)
                error = peer.read()
                self.assertEqual((error["op"], error["code"]), ("error", code))
                self.assertIsNone(peer.read())
                if code == "frame_too_large":
                    self.assertIn("frame too large", error["message"])
                other = self.peer(credit=1)
                again = other.message()
                self.assertEqual((other.body, again["attempt"], again["last_error"]), (b"%d" % number, 2, "retryd.Lost"))
                other.reply(again)
                self.wait_for_nothing_left()
                other.socket.close()
        self.assertLess(resident_kib(daemon.pid) - before, 4096)
        self.assertEqual(daemon.deliveries(self.queue), {"lost": len(cases), "success": len(cases)})

    def test_whoever_does_not_say_hello(self):
        self.serve_stream()
        silent, rude = self.peer(), self.peer()
        rude.say(op="credit", n=1)
        self.assertEqual(rude.read()["code"], "no_hello")
        begin = time.monotonic()
        self.assertEqual(silent.read()["code"], "no_hello")
        self.assertTrue(4 < time.monotonic() - begin < 7)
        self.assertIsNone(silent.read())

    def test_whoever_does_not_answer_a_ping(self):
        daemon = self.serve_stream()
        peer = self.peer(credit=1)
        begin = time.monotonic()
        self.assertEqual(peer.read(), {"op": "ping"})
        self.assertTrue(4 < time.monotonic() - begin < 7)
        self.assertEqual(peer.read()["code"], "no_pong")
        self.assertTrue(14 < time.monotonic() - begin < 18)
        self.assertIsNone(peer.read())
        self.wait_for_cause(daemon, "consumer-away")

    def test_a_crowd_of_random_callers_does_not_disturb_the_one_that_works(self):
        daemon = self.serve_stream()
        worker = self.worker()
        self.wait_for_sessions(daemon, 1)
        chance = random.Random(20261130)
        for n in range(300):
            self.send(b"%08d" % (20 * n))
            with StreamPeer(self.path) as peer:
                garbage = chance.randbytes(chance.randrange(200))
                try:
                    peer.send_raw(frame(HELLO) * chance.randrange(2) + frame(garbage) * chance.randrange(2) + garbage)
                except BrokenPipeError:
                    pass  # it was told already
        self.wait_for_handed(300)
        self.wait_for_nothing_left(timeout=30)
        self.assertIsNone(worker.poll())
        self.assertEqual(daemon.deliveries(self.queue)["success"], 300)
        self.wait_for_sessions(daemon, 1)

    def test_answers_that_cross_the_timeout_settle_once_each(self):
        daemon = self.serve_stream("retry: {quick: none, delays: [50ms], jitter: 0%, spread: 1, max: 1}",
                                   deliver="timeout: 50ms, concurrency: 200")
        peer = self.peer(credit=200)
        messages, stop = 2000, threading.Event()
        answers = collections.Counter()
        timers = []

        def answer(message):
            if not stop.is_set():
                peer.reply(message)

        def serve():
            while not stop.is_set():
                message = peer.message()
                answers[peer.body] += 1
                wait = 0.045 + 0.010 * (message["id"] % 11) / 10  # 45 to 55 ms
                timer = threading.Timer(wait if message["attempt"] == 1 else 0, answer, [message])
                timers.append(timer)
                timer.start()

        thread = threading.Thread(target=self.ignoring_the_end(serve), daemon=True)
        thread.start()
        for n in range(messages):
            self.send(b"%06d" % n)
        eventually(lambda: len(answers) == messages, 60, "every message")
        self.wait_for_nothing_left(timeout=30, lots=["parked"])
        deliveries = daemon.deliveries(self.queue)
        self.assertEqual(set(deliveries), {"success", "timeout"})
        self.assertEqual(deliveries["success"] + self.wire.depth(self.own("parked")), messages)
        self.assertEqual(sum(deliveries.values()), sum(answers.values()))
        self.assertNotIn("channel_closed", daemon.log())
        stop.set()
        peer.socket.shutdown(2)
        thread.join(10)

    @staticmethod
    def ignoring_the_end(serve):
        def run():
            try:
                serve()
            except (OSError, TypeError):
                pass  # the session is over
        return run

    def test_a_frozen_process_is_found_out_and_the_others_do_its_work(self):
        daemon = self.serve_stream("retry: {quick: none}", deliver="timeout: 3s")
        frozen = self.worker()
        self.wait_for_sessions(daemon, 1)
        frozen.send_signal(signal.SIGSTOP)
        self.send(b"%08d" % 0)
        eventually(lambda: daemon.deliveries(self.queue).get("timeout"), what="a timeout")
        worker = self.worker()
        self.wait_for_sessions(daemon, 2)
        for n in range(1, 40):
            self.send(b"%08d" % (20 * n))
        self.wait_for_nothing_left(timeout=40)
        self.assertLessEqual(daemon.deliveries(self.queue)["timeout"], 12)  # a fair share of the 39 would be 20
        self.wait_for_sessions(daemon, 1)
        frozen.send_signal(signal.SIGCONT)
        self.wait_for_sessions(daemon, 2)
        self.assertIsNone(worker.poll())

    def test_it_costs_nothing_while_nothing_happens(self):
        daemon = self.serve_stream()
        for _ in range(20):
            self.peer(credit=1)
        self.assert_no_busy_loop(daemon)
        self.assertLess(len(os.listdir(f"/proc/{daemon.pid}/fd")), 60)
