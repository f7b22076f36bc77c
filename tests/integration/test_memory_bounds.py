"""What bounds the memory of the process: peaks as the kernel counted them, against a margin that a missing bound exceeds by far.

A daemon at rest has about 15 MiB; what stands in docs/limits.md comes on top.
"""

import asyncio
import socket
import struct
import time

import amqp_codec as codec
from consumer import HANG, Answer
from integration_case import IntegrationCase
from loop_thread import LoopThread
from retryd import eventually
from stream_case import StreamCase
from stream_peer import frame

MIB = 1024 * 1024
AT_REST = 30 * MIB  # with room for a sanitizer-free build's libraries
TRANSIENT = codec.encode_properties()
TINY = "memory: 16MiB\nmax_body: 16MiB\n"


def memory(daemon, what="VmHWM"):
    """Bytes: VmHWM is the peak, VmRSS what it has now."""
    with open(f"/proc/{daemon.pid}/status", encoding="ascii") as file:
        line = next(line for line in file if line.startswith(what))
    return int(line.split()[1]) * 1024


class MemoryCase(IntegrationCase):
    def assert_peak_below(self, daemon, limit):
        self.assertLess(memory(daemon) / MIB, limit / MIB, "MiB at the peak")


class Hand(MemoryCase):
    def stuck(self, top=TINY, keys="", timeout="5m"):
        """A daemon whose consumer takes one message after the other and answers none."""
        app = self.consumer(lambda request: HANG)
        deliver = f'deliver: {{http: "{app.url}", concurrency: 1, timeout: {timeout}}}'
        # Not until it is ready: with a full memory the answers that it waits for lie behind what is not read.
        daemon = self.retryd(f'{top}queues: {{"{self.queue}": {{{deliver}, {keys}}}}}', wait_ready=False)
        eventually(lambda: daemon.answers("/livez"), 60, "/livez")
        return daemon

    def wait_until_full(self, daemon):
        self.wait_for_cause(daemon, "memory", 60)
        time.sleep(2)  # what is on its way still comes
        self.assertNotIn("link_down", daemon.log())

    def test_a_backlog_of_large_bodies_stays_with_the_broker(self):
        self.declare_work_queue()
        for _ in range(128):
            self.wire.publish(self.queue, bytes(MIB), TRANSIENT)
        daemon = self.stuck(keys="prefetch: 128")
        self.wait_until_full(daemon)
        self.assert_peak_below(daemon, AT_REST + 16 * MIB + 20 * MIB)

    def test_a_body_far_over_the_limit_passes_through_once_and_is_given_back(self):
        self.declare_work_queue()
        self.wire.publish(self.queue, bytes(100 * MIB), TRANSIENT)
        app = self.consumer()
        daemon = self.retryd('broker: {uri: "@AMQP@", confirm_timeout: 3m}\n'
                             f'memory: 16MiB\nmax_body: 1MiB\nqueues: {{"{self.queue}": {{deliver: {{http: "{app.url}"}}, '
                             f"retry: {{queue_type: classic}}}}}}", wait_ready=False)
        self.wait_for_depth(self.own("dlq"), 1, 200)
        eventually(lambda: daemon.queue_status(self.queue)["in_hand"] == 0, 60, "an empty hand")
        self.assertEqual(app.requests, [])
        self.assert_peak_below(daemon, AT_REST + 125 * MIB)
        self.assertLess(memory(daemon, "VmRSS") / MIB, AT_REST / MIB + 10, "MiB afterwards")

    def test_messages_without_a_body_count(self):
        self.declare_work_queue()
        self.wire.publish_all(self.queue, [(TRANSIENT, b"")] * 30_000)
        daemon = self.stuck(keys="prefetch: 30000")
        self.wait_until_full(daemon)
        self.assertLess(daemon.queue_status(self.queue)["in_hand"], 20_000)
        self.assert_peak_below(daemon, AT_REST + 30 * MIB)

    def test_headers_count_as_often_as_they_are_kept(self):
        self.declare_work_queue()
        properties = codec.encode_properties(headers=[codec.text(b"large", b"x" * 100_000)])
        self.wire.publish_all(self.queue, [(properties, b"")] * 100)
        daemon = self.stuck(keys="prefetch: 100")
        self.wait_until_full(daemon)
        self.assertLess(daemon.queue_status(self.queue)["in_hand"], 90)
        self.assert_peak_below(daemon, AT_REST + 30 * MIB)

    def test_a_nest_as_deep_as_a_frame_holds_costs_little(self):
        self.declare_work_queue()
        nest = b""
        while len(nest) < 120_000:
            nest = b"A" + struct.pack(">I", len(nest)) + nest
        self.wire.publish_all(self.queue, [(codec.encode_properties(headers=[(b"deep", "A", nest[1:])]), b"")] * 30)
        app, daemon = self.serve(lambda request: 200)
        self.wait_for_requests(app, 30, 100)
        self.assert_peak_below(daemon, AT_REST + 60 * MIB)


class Replies(MemoryCase):
    def test_replies_without_end_are_cut(self):
        """Sixteen connections on which the consumer goes on for ever, each in one of four ways."""
        endless = [
            (b"HTTP/1.1 200 X\r\nContent-Length: 1000000000000\r\n\r\n", bytes(65536)),
            (b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + bytes(65536) + b"\r\n"),
            (b"HTTP/1.1 200 X\r\n", b"x: " + b"y" * 8000 + b"\r\n"),
            (b"", b"HTTP/1.1 100 X\r\n\r\n" * 1000),
        ]
        path = str(self.folder / "endless.sock")
        thread = LoopThread()
        self.addCleanup(thread.end)
        sent = []

        async def go_on(reader, writer):
            begin, more = endless[len(sent) % len(endless)]
            mine = len(sent)
            sent.append(0)
            try:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(begin)
                while sent[mine] < 512 * MIB:
                    writer.write(more)
                    sent[mine] += len(more)
                    await writer.drain()
            except (OSError, asyncio.IncompleteReadError):
                writer.transport.abort()

        server = thread.run(asyncio.start_unix_server(go_on, path))
        self.addCleanup(lambda: thread.call(server.close))
        self.declare_work_queue()
        daemon = self.retryd(f'queues: {{"{self.queue}": {{deliver: {{http: "unix:{path}", max_reply: 256KiB}}, '
                             f"retry: {{quick: none, delays: none}}}}}}")
        for number in range(32):
            self.send(b"%d" % number)
        eventually(lambda: sum(daemon.deliveries(self.queue).values()) >= 32, 60, "32 outcomes")
        self.assert_peak_below(daemon, AT_REST + 30 * MIB)


class Stream(StreamCase, MemoryCase):
    def test_a_session_that_never_reads_is_ended_and_keeps_nothing(self):
        self.declare_work_queue()
        for _ in range(64):
            self.wire.publish(self.queue, bytes(MIB), TRANSIENT)
        daemon = self.serve_stream('retry: {quick: none, delays: [100ms]}', "timeout: 2s, concurrency: 8")
        for _ in range(4):
            peer = self.peer(credit=1_000_000)
            eventually(lambda: not daemon.queue_status(self.queue)["consumer"].count(", 1 session"), 30, "the session's end")
            peer.socket.close()
        self.assert_peak_below(daemon, AT_REST + 150 * MIB)

    def test_frames_that_drip_in_are_bounded_in_all(self):
        self.declare_work_queue()
        daemon = self.serve_stream()
        announced = struct.pack(">II", MIB, 0)
        for _ in range(120):
            try:
                self.peer(credit=0).send_raw(announced + b" " * (MIB - 100))
            except OSError:
                pass  # it was this session's turn to go
        self.assert_peak_below(daemon, AT_REST + 60 * MIB)

    def test_frames_announced_larger_than_any_are_refused_at_once(self):
        self.declare_work_queue()
        daemon = self.serve_stream()
        for _ in range(20):
            peer = self.peer()
            peer.send_raw(struct.pack(">II", 0xFFFFFFFF, 0xFFFFFFFF))
            self.assertEqual(peer.read()["code"], "frame_too_large")
        self.assert_peak_below(daemon, AT_REST)

    def test_sessions_that_say_nothing_are_bounded(self):
        self.declare_work_queue()
        daemon = self.serve_stream()
        for _ in range(3000):
            with socket.socket(socket.AF_UNIX) as caller:
                caller.connect(self.path)
                caller.sendall(b"\0")
        callers = [self.entered(socket.socket(socket.AF_UNIX)) for _ in range(1500)]
        for caller in callers:
            caller.connect(self.path)
        self.assert_peak_below(daemon, AT_REST + 60 * MIB)
        for caller in callers:
            caller.close()
        self.send(b"still here")
        peer = eventually(self.admitted, 30, "a session that is welcome")
        self.assertEqual(peer.message()["attempt"], 1)

    def admitted(self):
        peer = self.peer()
        try:
            peer.say(op="hello", protocol=1, credit=1)
        except OSError:
            return None
        return peer if (peer.read() or {}).get("op") == "welcome" else None

    def test_asking_for_more_time_for_ever_costs_nothing(self):
        self.declare_work_queue()
        daemon = self.serve_stream(deliver="timeout: 1m, concurrency: 2")
        peer = self.peer(credit=2)
        for body in (b"first", b"second"):
            self.send(body)
            last = peer.message()
        before = memory(daemon, "VmRSS")
        asked = frame({"op": "extend", "id": last["id"], "ms": 300_000})
        peer.socket.settimeout(120)
        for _ in range(200):
            peer.send_raw(asked * 1000)
        peer.say(op="credit", n=1)
        eventually(lambda: daemon.queue_status(self.queue)["credit"] == 1, 60, "the end of the asking")
        self.assertLess((memory(daemon, "VmRSS") - before) / MIB, 6, "MiB more")


class Admin(MemoryCase):
    def test_clients_that_ask_without_end_and_read_nothing_are_bounded(self):
        self.declare_work_queue()
        _, daemon = self.serve(lambda request: 200)
        question = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 10_000
        for _ in range(64):
            client = self.entered(socket.socket(socket.AF_UNIX))
            client.connect(daemon.admin)
            client.setblocking(False)
            try:
                client.send(question)
            except BlockingIOError:
                pass
        eventually(lambda: daemon.answers("/livez"), 60, "an answer to somebody else")
        self.assert_peak_below(daemon, AT_REST + 30 * MIB)

    def test_the_story_of_an_id_that_all_messages_have_is_cut(self):
        self.declare_work_queue()
        _, daemon = self.serve(lambda request: 422)
        for number in range(1500):
            self.send(b"%d" % number, message_id=b"same")
        self.wait_for_depth(self.own("dlq"), 1500, 60)
        status, answer = daemon.get("/why?id=same")
        self.assertEqual(status, 200)
        self.assertLess(len(answer), 100_000)
        self.assertIn("1400 older entries are left out", answer)
