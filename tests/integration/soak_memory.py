"""A million small messages with thirty headers each, half of which fail at first: memory is flat after its warm-up, and no header is ever
another message's."""

import threading

from amqp_codec import encode_properties, number, quorum, text
from amqp_wire import Wire
from soak_case import Memory, SoakCase, scaled
from stream_case import StreamCase

HEADERS = 30
BATCH = 500


def headers_of(n):
    return [text(f"h{i}", f"{n}.{i}") if i % 2 else number(f"h{i}", n * 100 + i, "l") for i in range(HEADERS)]


def expected(n):
    return {f"h{i}": f"{n}.{i}" if i % 2 else n * 100 + i for i in range(HEADERS)}


class Publisher(threading.Thread):
    """Keeps some thousand messages ahead of the consumer."""

    def __init__(self, queue, count, done):
        super().__init__(daemon=True)
        self.queue, self.count, self.done = queue, count, done

    def run(self):
        with Wire() as wire:
            for begin in range(0, self.count, BATCH):
                while begin - self.done() > 5000:
                    self.done.wait()
                numbers = range(begin, min(begin + BATCH, self.count))
                wire.publish_all(self.queue, [(encode_properties(delivery_mode=2, headers=headers_of(n)), b"%d" % n) for n in numbers])


class Progress:
    """How many succeeded; wait() for some more."""

    def __init__(self):
        self.succeeded = 0
        self.more = threading.Event()

    def __call__(self):
        return self.succeeded

    def add(self):
        self.succeeded += 1
        if self.succeeded % BATCH == 0:
            self.more.set()

    def wait(self):
        self.more.wait(1)
        self.more.clear()


class Traffic(SoakCase, StreamCase):
    def test_a_million_messages_half_of_which_fail_leave_memory_as_it_was(self):
        count = scaled(1_000_000, 5000)
        self.declare_work_queue(arguments=quorum())
        daemon = self.serve_stream("retry: {quick: none, delays: [1s], jitter: 0%, spread: 1}", deliver="concurrency: 100")
        memory, progress, peer = Memory(daemon), Progress(), self.peer(credit=200)
        Publisher(self.queue, count, progress).start()
        while progress() < count:
            message = peer.message()
            n = int(peer.body)
            self.assertEqual(message["headers"], expected(n))
            fails = n % 2 == 1 and message["attempt"] == 1
            peer.reply(message, "transient" if fails else "success")
            if not fails:
                progress.add()
                if progress() % max(1, count // 200) == 0:
                    memory.sample()
        self.wait_for_nothing_left()
        self.assertEqual(daemon.deliveries(self.queue), {"success": count, "transient": count // 2})
        self.figure("messages", count)
        self.figure("resident after the warm-up", memory.samples[len(memory.samples) // 4], "KiB")
        self.figure("resident at the end", memory.samples[-1], "KiB")
        self.figure("growth until the end", memory.growth(), "KiB")
        self.assertLess(memory.growth(), 4096)
