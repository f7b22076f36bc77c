"""A TCP proxy that misbehaves on demand, to stand between retryd and its broker.

    with Proxy(amqp_url) as proxy:
        Retryd(..., amqp=proxy.url)
        proxy.cut_after("up", 5000)     # towards the broker: cut when 5,000 more bytes have passed
        proxy.stall("down"); proxy.resume("down")
        proxy.stall_after("up", 5000)   # or half_open_after: the same in the middle of whatever is then on its way
        proxy.cut()                     # all connections, now
        proxy.half_open()               # the broker's side is gone, the client is not told
        proxy.refuse(); proxy.accept()  # new connections
    proxy.swallow_confirm()         # the next confirm never reaches the client
    proxy.spoil("down", spoiled)    # the next bytes that way are what spoiled(bytes) makes of them
    proxy.breaks                    # [(begin, end, who)]: each connection's end, by "cut", "half-open", "client" or "broker"; half-open has lasted

With a server's ssl.SSLContext it is the one that speaks TLS to the client. Without, TLS passes it as it is.
"""

import asyncio
import re
import time
import urllib.parse

from loop_thread import LoopThread

CONFIRM = re.compile(rb"\x01..\0\0\0\x0d\0\x3c\0\x50.{9}\xce", re.DOTALL)  # a frame with basic.ack


class Direction:
    """The bytes one way, of all connections together: a count, a gate, and a place where it strikes: what happens there."""

    def __init__(self):
        self.passed = 0
        self.strikes_at, self.strike = None, None
        self.swallowing = False
        self.spoiling = None
        self.open = asyncio.Event()
        self.open.set()

    def strike_after(self, count, strike):
        self.strikes_at, self.strike = self.passed + count, strike

    def before_strike(self, size):
        """How many of the next `size` bytes still pass before it strikes, and what then; of all when it does not."""
        if self.strikes_at is None or self.passed + size < self.strikes_at:
            return size, None
        passing, strike = self.strikes_at - self.passed, self.strike
        self.strikes_at = None
        return passing, strike

    def spoil(self, data):
        """What becomes of the next bytes, once."""
        spoiling, self.spoiling = self.spoiling, None
        return spoiling(data) if spoiling else data

    def swallow(self, data):
        """Takes the first confirm out, when that is asked for and it lies whole in these bytes."""
        if not self.swallowing:
            return data
        rest = CONFIRM.sub(b"", data, count=1)
        self.swallowing = len(rest) == len(data)
        return rest


class Pair:
    """A client's connection and the one to the broker that belongs to it."""

    def __init__(self, proxy, client, broker):
        self.proxy = proxy
        self.client, self.broker = client, broker  # (reader, writer)
        self.mute = False  # half open: the client's side stays, and nothing is told
        self.struck = False
        self.began_to_end = None  # half open: since when

    async def run(self):
        ways = (self.copy(self.client, self.broker, self.proxy.ways["up"]),
                self.copy(self.broker, self.client, self.proxy.ways["down"]))
        tasks = [asyncio.ensure_future(way) for way in ways]
        ended_by = "cut"
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if self.mute:
                await self.wait_for_the_client(tasks)
            ended_by = "cut" if self.struck else "client" if tasks[0].done() else "broker"
        finally:
            self.note_break(ended_by)
            for task in tasks:
                task.cancel()
            self.abort()

    async def wait_for_the_client(self, tasks):
        """Until it has found out; what it says goes nowhere."""
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        while await self.read(self.client):
            pass

    def note_break(self, ended_by):
        now = time.monotonic()
        self.proxy.breaks.append((self.began_to_end or now, now, "half-open" if self.mute else ended_by))

    async def copy(self, source, target, way):
        while data := await self.read(source):
            await way.open.wait()
            data = way.spoil(way.swallow(data))
            passing, strike = way.before_strike(len(data))
            await self.write(data[:passing], target, way)
            if strike == "stall":
                way.open.clear()
                await way.open.wait()
            elif strike == "half open":
                self.proxy.drop_brokers()
                return
            elif strike == "cut":
                self.struck = True
                return
            await self.write(data[passing:], target, way)

    @staticmethod
    async def write(data, target, way):
        way.passed += len(data)
        target[1].write(data)
        await target[1].drain()

    @staticmethod
    async def read(source):
        try:
            return await source[0].read(1 << 16)
        except OSError:
            return b""

    def abort(self):
        for _, writer in (self.client, self.broker):
            writer.transport.abort()


class Proxy:
    pair_type = Pair

    def __init__(self, url, context=None):
        self.context = context
        self.target = urllib.parse.urlsplit(url)
        self.thread = LoopThread()
        self.pairs = {}  # pair: its task
        self.refusing = False
        self.connects = 0
        self.breaks = []
        self.ways = self.thread.call(lambda: {"up": Direction(), "down": Direction()})
        self.server = self.thread.run(self.listen())
        self.port = self.server.sockets[0].getsockname()[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    @property
    def url(self):
        login = self.target.netloc.rpartition("@")[0]
        scheme = "amqps" if self.context else self.target.scheme
        return f"{scheme}://{login}@127.0.0.1:{self.port}{self.target.path}"

    async def listen(self):
        return await asyncio.start_server(self.connected, "127.0.0.1", 0, ssl=self.context)

    async def connected(self, reader, writer):
        self.connects += 1
        if self.refusing:
            writer.transport.abort()
            return
        try:
            broker = await asyncio.open_connection(self.target.hostname, self.target.port)
        except OSError:
            writer.transport.abort()
            return
        pair = self.pair_type(self, (reader, writer), broker)
        self.pairs[pair] = asyncio.current_task()
        try:
            await pair.run()
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            del self.pairs[pair]

    # --- what a test calls

    def passed(self, way):
        return self.ways[way].passed

    def cut_after(self, way, count):
        self.thread.call(self.ways[way].strike_after, count, "cut")

    def stall_after(self, way, count):
        self.thread.call(self.ways[way].strike_after, count, "stall")

    def half_open_after(self, way, count):
        self.thread.call(self.ways[way].strike_after, count, "half open")

    def has_struck(self, way):
        return self.ways[way].strikes_at is None

    def disarm(self):
        """What has not struck yet does not strike any more."""
        for way in self.ways.values():
            way.strikes_at = None

    def stall(self, way):
        self.thread.call(self.ways[way].open.clear)

    def resume(self, way):
        self.thread.call(self.ways[way].open.set)

    def cut(self):
        self.thread.call(lambda: [task.cancel() for task in list(self.pairs.values())])

    def half_open(self):
        self.thread.call(self.drop_brokers)

    def drop_brokers(self):
        for pair in [pair for pair in self.pairs if not pair.mute]:
            pair.mute, pair.began_to_end = True, time.monotonic()
            pair.broker[1].transport.abort()

    def swallow_confirm(self):
        self.thread.call(setattr, self.ways["down"], "swallowing", True)

    def spoil(self, way, spoiled):
        self.thread.call(setattr, self.ways[way], "spoiling", spoiled)

    def has_spoiled(self, way):
        return self.ways[way].spoiling is None

    def has_swallowed(self):
        return not self.ways["down"].swallowing

    def refuse(self):
        self.refusing = True

    def accept(self):
        self.refusing = False

    def end(self):
        self.thread.call(self.server.close)
        self.cut()
        self.thread.run(self.wait_for_pairs())
        self.thread.end()

    async def wait_for_pairs(self):
        while self.pairs:
            await asyncio.sleep(0.01)
