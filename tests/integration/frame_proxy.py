"""A proxy that knows AMQP frames: it can keep single ones from the client, and tells retryd's two connections apart.

    with FrameProxy(amqp_url) as proxy:
        proxy.swallow(CANCEL)         # the next one never reaches the client; a delivery with its header and body
        proxy.swallowed(CANCEL)
        proxy.freeze_publish_link()   # neither way, until its end; one that is made afterwards works
"""

import asyncio
import struct

from proxy import Pair, Proxy

METHOD, HEADER, BODY = 1, 2, 3
PROTOCOL_HEADER = 8  # bytes that come before the client's first frame

CANCEL, CONSUME_OK, DELIVER, CONFIRM = (60, 30), (60, 21), (60, 60), (60, 80)
DECLARE_OK, CONFIRM_SELECT, UNBLOCKED = (50, 11), (85, 10), (10, 61)


class Frame:
    def __init__(self, data):
        self.data = data
        self.kind, self.channel = struct.unpack_from(">BH", data)
        self.method = struct.unpack_from(">HH", data, 7) if self.kind == METHOD else None


class Frames:
    """Bytes in, whole frames out."""

    def __init__(self, before=0):
        self.before = before
        self.rest = b""

    def add(self, data):
        self.rest += data
        passed, self.rest = self.rest[:self.before], self.rest[self.before:]
        self.before -= len(passed)
        frames = []
        while len(self.rest) >= 7 and len(self.rest) >= (size := struct.unpack_from(">I", self.rest, 3)[0] + 8):
            frames.append(Frame(self.rest[:size]))
            self.rest = self.rest[size:]
        return passed, frames


class FramePair(Pair):
    def __init__(self, proxy, client, broker):
        super().__init__(proxy, client, broker)
        self.publishes = False
        self.open = asyncio.Event()
        self.open.set()
        self.in_swallowed_content = set()  # channels

    async def copy(self, source, target, way):
        up = way is self.proxy.ways["up"]
        frames = Frames(PROTOCOL_HEADER if up else 0)
        while data := await self.read(source):
            await way.open.wait()
            await self.open.wait()
            way.passed += len(data)
            before, whole = frames.add(data)
            target[1].write(before)
            for frame in whole:
                self.publishes |= frame.method == CONFIRM_SELECT
                if up or not self.swallows(frame):
                    target[1].write(frame.data)
            await target[1].drain()

    def swallows(self, frame):
        if frame.kind in (HEADER, BODY):
            return frame.channel in self.in_swallowed_content
        self.in_swallowed_content.discard(frame.channel)
        swallowed = frame.kind == METHOD and self.proxy.takes(self, frame.method)
        if swallowed and frame.method == DELIVER:
            self.in_swallowed_content.add(frame.channel)
        return swallowed


class FrameProxy(Proxy):
    pair_type = FramePair

    def __init__(self, url):
        super().__init__(url)
        self.wanted = []  # [method, of the publish link, how many more]
        self.taken = []

    def takes(self, pair, method):
        for wish in self.wanted:
            if wish[0] == method and wish[1] in (None, pair.publishes) and wish[2] > 0:
                wish[2] -= 1
                self.taken.append(method)
                return True
        return False

    # --- what a test calls

    def swallow(self, method, count=1, publish_link=None):
        """`publish_link`: only on that one, or only on the other; on both where nothing is said."""
        self.thread.call(self.wanted.append, [method, publish_link, count])

    def swallowed(self, method):
        return self.taken.count(method)

    def freeze_publish_link(self):
        self.thread.call(lambda: [pair.open.clear() for pair in self.pairs if pair.publishes])
