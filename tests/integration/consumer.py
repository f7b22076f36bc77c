"""A consumer application: an HTTP server on TCP or a Unix socket whose replies are a Python function.

    def reply(request):
        return 503 if request.seen == 0 else 200

    with Consumer(reply, path="/tmp/x/app.sock") as app:
        ...
        app.requests[0].headers["retryd-attempt"]

What `reply` may return: a status; an Answer (status, headers, body, wait, and what becomes of the connection); HANG: no answer at all;
CLOSE: the connection is cut. It runs on the consumer's thread, one request at a time, and must not block: to be slow, say `wait`.
"""

import asyncio
import os
import time
from dataclasses import dataclass, field

from loop_thread import LoopThread

HANG = object()
CLOSE = object()


@dataclass
class Answer:
    status: int = 200
    headers: dict = field(default_factory=dict)
    body: bytes = b""
    wait: float = 0  # seconds before it is sent
    close: bool = False  # cut the connection after it
    raw: bytes = None  # these bytes instead of all that
    before: callable = None  # called just before it is sent, or would have been
    after: callable = None  # called when it is sent


@dataclass
class Request:
    at: float  # time.monotonic() when it was complete
    target: str
    headers: dict  # by lower-case name; of a name that comes twice, the last
    header_lines: list  # (name, value) as they came, bytes
    body: bytes
    seen: int  # how often this body has come before
    method: str = "POST"

    @property
    def attempt(self):
        return int(self.headers["retryd-attempt"])


class Connection(asyncio.Protocol):
    """One HTTP/1.1 connection, keep-alive, one request at a time."""

    def __init__(self, consumer):
        self.consumer = consumer
        self.buffer = bytearray()
        self.transport = None

    def connection_made(self, transport):
        self.transport = transport
        self.consumer.connections.add(self)
        self.consumer.connects += 1

    def connection_lost(self, _error):
        self.consumer.connections.discard(self)

    def data_received(self, data):
        self.buffer += data
        while (request := self.take_request()) is not None:
            self.consumer.requests.append(request)
            self.send(self.consumer.reply(request))

    def take_request(self):
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        first, *lines = bytes(self.buffer[:end]).split(b"\r\n")
        header_lines = [tuple(part.strip(b" \t") for part in line.split(b":", 1)) for line in lines]
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in header_lines}
        size = int(headers.get("content-length", 0))
        if len(self.buffer) < end + 4 + size:
            return None
        body = bytes(self.buffer[end + 4 : end + 4 + size])
        del self.buffer[: end + 4 + size]
        method, target, _ = first.decode("latin-1").split(" ")
        seen = self.consumer.count(body)
        return Request(time.monotonic(), target, headers, header_lines, body, seen, method)

    def send(self, answer):
        if answer is HANG:
            return
        if answer is CLOSE:
            self.transport.abort()
            return
        if isinstance(answer, int):
            answer = Answer(answer)
        if answer.wait:
            self.consumer.thread.loop.call_later(answer.wait, self.write, answer)
        else:
            self.write(answer)

    def write(self, answer):
        if answer.before:
            answer.before()
        if self.transport.is_closing():
            return
        self.transport.write(answer.raw if answer.raw is not None else encode(answer))
        if answer.after:
            answer.after()
        if answer.close:
            self.transport.close()


def encode(answer):
    lines = [f"HTTP/1.1 {answer.status} X", f"Content-Length: {len(answer.body)}"]
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + answer.body


class Consumer:
    """Listens from start() to stop(). stop() is a death: connections are cut, whatever is in flight. start() after it listens
    at the same place again. `requests` is kept over both."""

    def __init__(self, reply=lambda request: 200, path=None, host="127.0.0.1"):
        self.reply = reply
        self.path = path
        self.host, self.port = host, 0
        self.requests = []
        self.connections = set()
        self.connects = 0
        self.bodies = {}
        self.server = None
        self.thread = LoopThread()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.end()

    @property
    def url(self):
        """What the policy's deliver.http says."""
        return f"unix:{self.path}" if self.path else f"http://{self.host}:{self.port}/"

    def count(self, body):
        seen = self.bodies.get(body, 0)
        self.bodies[body] = seen + 1
        return seen

    def start(self):
        self.thread.run(self.listen())

    def stop(self):
        self.thread.run(self.die())

    def end(self):
        if self.server:
            self.stop()
        self.thread.end()

    def cut_connections(self):
        self.thread.call(self.abort_all)

    async def listen(self):
        loop = asyncio.get_running_loop()
        if self.path:
            if os.path.exists(self.path):
                os.unlink(self.path)
            self.server = await loop.create_unix_server(lambda: Connection(self), self.path, backlog=1024)
        else:
            self.server = await loop.create_server(lambda: Connection(self), self.host, self.port, backlog=1024)
            self.port = self.server.sockets[0].getsockname()[1]

    async def die(self):
        self.server.close()
        self.server = None
        self.abort_all()
        await asyncio.sleep(0)  # the aborted transports say goodbye

    def abort_all(self):
        for connection in list(self.connections):
            connection.transport.abort()
