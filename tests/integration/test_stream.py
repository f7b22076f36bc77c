"""The stream: what a consumer that dials retryd's socket sees, may do, and is told."""

import json
import os
import stat
import time

from retryd import eventually
from stream_case import StreamCase

PLAIN = "retry: {quick: none, delays: [100ms], jitter: 0%, spread: 1}"


class Stream(StreamCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue()

    def test_a_message_and_all_that_is_said_of_it(self):
        daemon = self.serve_stream(deliver="timeout: 7s")
        peer = self.peer(credit=1)
        self.assertEqual(peer.welcome, {"op": "welcome", "protocol": 1, "queue": self.queue, "max_header": 1048576,
                                        "max_body": 64 * 1024 * 1024, "timeout_ms": 7000})
        headers = [("n", "I", b"\0\0\0\7"), ("t", "T", b"\0\0\0\0\0\0\0\5"), ("b", "x", b"\0\0\0\2\xff\xfe")]
        self.send(b"\0body", message_id="m-1", content_type="text/plain", priority=3, headers=headers)
        message = peer.message()
        self.assertEqual(peer.body, b"\0body")
        deadline = message.pop("deadline")
        self.assertRegex(deadline, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertEqual(message, {
            "op": "message", "id": 1, "queue": self.queue, "attempt": 1, "max_attempts": 9, "redelivered": False,
            "exchange": "", "routing_key": self.queue, "idempotency_key": "m-1",
            "properties": {"content_type": "text/plain", "delivery_mode": 2, "priority": 3, "message_id": "m-1"},
            "headers": {"n": 7, "t": {"$timestamp": 5}, "b": {"$bytes": "//4="}}})
        peer.reply(message)
        self.wait_for_nothing_left()
        self.assertEqual(daemon.deliveries(self.queue), {"success": 1})

    def test_every_outcome_and_what_is_told_at_the_next_attempt(self):
        daemon = self.serve_stream(PLAIN)
        peer = self.peer(credit=10)
        self.send(b"x")
        peer.reply(peer.message(), "transient", error={"type": "DbTimeout", "message": "no answer"}, dependency="payments")
        again = peer.message()
        self.assertEqual((again["attempt"], again["last_error"], again["id"]), (2, "DbTimeout", 2))
        self.assertIn("first_failed", again)
        peer.reply(again, "permanent", error={"type": "Bad", "message": "never"})
        dead = self.wait_for_lot("dlq")
        self.assertEqual((dead.headers["retryd-error-type"], dead.headers["retryd-error-message"]), ("Bad", "never"))
        for outcome in ("drop", "success", "who-knows"):
            self.send(outcome.encode())
            peer.reply(peer.message(), outcome)
        peer.reply(peer.message())
        self.send(b"later")
        peer.reply(peer.message(), "throttled", retry_after_ms=3_600_000)
        self.wait_for_depth(self.own("hold.1800000ms"), 1)
        self.assertEqual(daemon.deliveries(self.queue),
                         {"transient": 2, "permanent": 1, "drop": 1, "success": 2, "throttled": 1})

    def warm_peer(self, credit):
        """A session whose queue's slow start is over: it has answered a few messages."""
        peer = self.peer(credit=1)
        for n in range(15):
            self.send(b"warm %d" % n)
            peer.reply(peer.message())
        peer.say(op="credit", n=credit - 1)
        return peer

    def test_credit_adds_and_each_message_takes_one(self):
        self.serve_stream()
        peer = self.warm_peer(credit=1)
        peer.say(op="credit", n=1)
        for n in range(5):
            self.send(b"%d" % n)
        first = [peer.message(), peer.message()]
        self.assertTrue(peer.silent_for(0.3))
        peer.reply(first[0], credit=0)
        self.assertTrue(peer.silent_for(0.3))
        peer.reply(first[1], credit=1)
        self.assertEqual(peer.message()["id"], 18)
        peer.say(op="credit", n=1)
        self.assertEqual(peer.message()["id"], 19)

    def test_without_credit_nothing_comes(self):
        daemon = self.serve_stream()
        peer = self.peer(credit=0)
        self.send(b"x")
        self.assertTrue(peer.silent_for(0.5))
        self.assertIn(", 1 session, credit 0", daemon.queue_status(self.queue)["consumer"])
        peer.say(op="credit", n=1)
        peer.reply(peer.message())
        self.wait_for_nothing_left()

    def test_in_flight_is_never_over_the_concurrency(self):
        self.serve_stream(deliver="concurrency: 2")
        peer = self.warm_peer(credit=100)
        for n in range(4):
            self.send(b"%d" % n)
        first = [peer.message(), peer.message()]
        self.assertTrue(peer.silent_for(0.3))
        peer.reply(first[0], credit=0)
        peer.message()

    def test_without_a_session_the_consumer_is_away_and_nothing_is_spent(self):
        daemon = self.serve_stream()
        self.wait_for_cause(daemon, "consumer-away")
        self.send(b"x")
        peer = self.peer(credit=1)
        message = peer.message()
        self.assertEqual((message["attempt"], message["redelivered"]), (1, False))
        peer.reply(message)
        self.wait_for_nothing_left()
        peer.socket.close()
        self.wait_for_cause(daemon, "consumer-away")

    def test_a_session_that_ends_has_lost_what_it_had(self):
        daemon = self.serve_stream(PLAIN)
        peer = self.warm_peer(credit=4)
        for n in range(4):
            self.send(b"%d" % n)
        for _ in range(4):
            peer.message()
        other = self.peer(credit=0)
        peer.socket.close()
        other.say(op="credit", n=4)
        for _ in range(4):
            message = other.message()
            self.assertEqual(message["attempt"], 1)  # lost together: no message's own fault
            other.reply(message)
        self.wait_for_nothing_left()
        self.assertEqual(daemon.deliveries(self.queue), {"lost": 4, "success": 19})

    def test_whoever_leaves_gets_no_more_and_may_finish(self):
        daemon = self.serve_stream()
        peer = self.peer(credit=10)
        self.send(b"x")
        message = peer.message()
        peer.say(op="leave")
        self.wait_for_cause(daemon, "consumer-away")
        self.send(b"y")
        self.assertTrue(peer.silent_for(0.3))
        peer.reply(message)
        self.assertIsNone(peer.read())  # nothing is on its way to it any more
        self.assertEqual(daemon.deliveries(self.queue), {"success": 1})
        other = self.peer(credit=1)
        other.reply(other.message())
        self.wait_for_nothing_left()

    def test_extend_moves_the_deadline(self):
        daemon = self.serve_stream(deliver="timeout: 700ms")
        peer = self.peer(credit=1)
        self.send(b"x")
        message = peer.message()
        peer.say(op="extend", id=message["id"], ms=10_000)
        time.sleep(1.2)
        peer.reply(message)
        self.wait_for_nothing_left()
        self.assertEqual(daemon.deliveries(self.queue), {"success": 1})

    def test_a_late_reply_is_ignored_and_counted_and_its_credit_is_taken(self):
        daemon = self.serve_stream(PLAIN, deliver="timeout: 300ms")
        peer = self.peer(credit=1)
        self.send(b"x", message_id="m")
        first = peer.message()
        eventually(lambda: daemon.deliveries(self.queue) == {"timeout": 1}, what="the timeout")
        peer.reply(first)
        peer.say(op="extend", id=first["id"], ms=1000)  # too late as well
        second = peer.message()
        self.assertEqual((second["id"], second["attempt"], second["idempotency_key"]), (2, 2, "m"))
        peer.reply(second)
        peer.reply(second)  # said twice
        self.wait_for_nothing_left()
        self.assertEqual(daemon.deliveries(self.queue), {"timeout": 1, "success": 1})
        self.assertIn("2 late replies", daemon.queue_status(self.queue)["consumer"])

    def test_a_large_body_and_an_empty_one(self):
        self.serve_stream()
        peer = self.peer(credit=2)
        large = os.urandom(8 * 1024 * 1024)
        self.send(large)
        message = peer.message()
        self.assertTrue(peer.body == large)
        peer.reply(message)
        self.send(b"")
        message = peer.message()
        self.assertEqual(peer.body, b"")
        peer.reply(message)
        self.wait_for_nothing_left()

    def test_at_the_end_everybody_is_told_and_replies_still_count(self):
        daemon = self.serve_stream()
        idle, busy = self.peer(credit=1), self.peer(credit=1)
        self.send(b"x")
        message = idle.message()
        daemon.process.terminate()
        self.assertEqual(busy.read(), {"op": "drain"})
        self.assertEqual(idle.read(), {"op": "drain"})
        self.assertFalse(os.path.exists(self.path))
        idle.reply(message)
        self.assertIsNone(idle.read())
        self.assertEqual(daemon.process.wait(10), 0)
        self.assertEqual(self.wire.depth(self.queue), 0)

    def test_modes_stale_and_foreign_socket_files(self):
        daemon = self.serve_stream(deliver='stream_access: {mode: "0600"}')
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o600)
        daemon.kill()
        self.assertTrue(os.path.exists(self.path))
        daemon = self.serve_stream()
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o660)
        self.assertEqual(daemon.stop(), 0)
        self.assertFalse(os.path.exists(self.path))
        with open(self.path, "w", encoding="ascii") as file:
            file.write("precious")
        refused = self.serve_stream(wait_ready=False)
        self.assertEqual(refused.process.wait(10), 1)
        self.assertIn("something that is not a socket lies there", refused.log())
        with open(self.path, encoding="ascii") as file:
            self.assertEqual(file.read(), "precious")

    def test_only_users_that_are_named_may_come(self):
        daemon = self.serve_stream(deliver=f"stream_access: {{uid: [{os.getuid() + 1}]}}")
        for _ in range(5):
            peer = self.peer()
            error = peer.read()
            self.assertEqual((error["op"], error["code"]), ("error", "not_allowed"))
            self.assertIsNone(peer.read())
        refused = [json.loads(line) for line in daemon.log().splitlines() if "session_refused" in line]
        self.assertEqual([(line["queue"], line["uid"]) for line in refused], [(self.queue, str(os.getuid()))])
