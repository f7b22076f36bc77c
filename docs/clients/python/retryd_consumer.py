"""A consumer behind retryd, over its stream. One file to copy into a project; Python 3.9 or later, no dependency.

    import retryd_consumer as retryd

    def handle(message):
        if known_to_be_bad(message.body):
            raise retryd.Permanent("no such article")      # dead letters
        book(message.body, once=message.idempotency_key)   # any other exception: tried again later

    retryd.run("unix:/run/retryd/orders.sock", handle, concurrency=16)

`run` returns after SIGTERM or SIGINT, when every handler has finished. The handler runs on `concurrency` threads.
"""

import inspect
import json
import logging
import os
import queue
import random
import signal
import socket
import struct
import threading

log = logging.getLogger("retryd")


class Permanent(Exception):
    """It will never work: to the dead letters."""


class Drop(Exception):
    """Done with it, on purpose."""


class Throttled(Exception):
    """Not now: held for `after` seconds, and no attempt is spent."""

    def __init__(self, after=None, message="", dependency=None):
        super().__init__(message)
        self.after, self.dependency = None if after is None else float(after), dependency


class Message:
    """body, and all that retryd says of it: id, queue, attempt, max_attempts, first_failed, deadline, redelivered, exchange,
    routing_key, idempotency_key, last_error, properties, headers. What the message does not have is None."""

    def __init__(self, session, header, body):
        self._session, self._header, self.body = session, header, body

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self._header.get(name)

    def extend(self, seconds):
        """Asks for more time: the deadline is then `seconds` from now."""
        self._session.say({"op": "extend", "id": self.id, "ms": int(seconds * 1000)})


def run(address, handler, concurrency=16, name=None, stop=None):
    """Serves until SIGTERM, SIGINT or stop.set(); then leaves, finishes what it has, and returns."""
    stop = stop or threading.Event()
    work = queue.Queue()
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
    workers = [threading.Thread(target=_work, args=(work, handler), daemon=True) for _ in range(concurrency)]
    for worker in workers:
        worker.start()
    failures = 0
    while not stop.is_set():
        session = _Session(address, concurrency, name or f"{socket.gethostname()}-{os.getpid()}", work, stop)
        try:
            session.serve()
        except (OSError, ValueError) as error:
            log.warning("retryd at %s: %s", address, error)
        failures = 1 if session.welcomed else failures + 1
        stop.wait(random.uniform(0.5, 1) * min(0.1 * 2 ** min(failures, 6), 5))
    for _ in workers:
        work.put(None)
    for worker in workers:
        worker.join()


def _work(work, handler):
    while (message := work.get()) is not None:
        if message._session.over:
            continue  # nobody waits for the answer: the message comes again
        message._session.reply(message, _outcome(handler, message))


def _outcome(handler, message):
    try:
        if inspect.isawaitable(handler(message)):
            raise TypeError("the handler is async; nobody awaits it here: give one that works, then returns")
        return {"outcome": "success"}
    except Drop:
        return {"outcome": "drop"}
    except Throttled as error:
        reply = {"outcome": "throttled", "error": _described(error)}
        if error.after is not None:
            reply["retry_after_ms"] = int(min(max(0, error.after), 1e9) * 1000)
        if error.dependency:
            reply["dependency"] = error.dependency
        return reply
    except Permanent as error:
        return {"outcome": "permanent", "error": _described(error)}
    except BaseException as error:  # SystemExit too: a worker that ended would keep its message and its credit
        log.exception("message %s of %s, attempt %s", message.idempotency_key, message.queue, message.attempt)
        return {"outcome": "transient", "error": _described(error)}


def _described(error):
    try:
        text = str(error)
    except Exception:  # its own __str__ fails
        text = ""
    return {"type": type(error).__name__, "message": text[:2000]}


class _Session:
    def __init__(self, address, credit, name, work, stop):
        self.path, self.credit, self.name, self.work, self.stop = address.removeprefix("unix:"), credit, name, work, stop
        self.socket = socket.socket(socket.AF_UNIX)
        self.writing = threading.Lock()
        self.welcomed, self.over = False, False

    def serve(self):
        with self.socket:
            self.socket.connect(self.path)
            self.say({"op": "hello", "protocol": 1, "credit": self.credit, "name": self.name})
            threading.Thread(target=self._leave_at_stop, daemon=True).start()
            try:
                while (header := self._read()) is not None:
                    self._take(*header)
            finally:
                self.over = True

    def _take(self, header, body):
        if header["op"] == "message":
            self.work.put(Message(self, header, body))
        elif header["op"] == "ping":
            self.say({"op": "pong"})
        elif header["op"] == "welcome":
            self.welcomed = True
        elif header["op"] == "error":
            raise ValueError(f"{header.get('code')}: {header.get('message')}")
        # drain: nothing more comes; the session ends by itself, and the next one is dialled

    def _leave_at_stop(self):
        while not self.stop.wait(0.2):
            if self.over:
                return
        try:
            self.say({"op": "leave"})  # retryd ends the session when it has every answer
        except OSError:
            pass  # it is over already

    def reply(self, message, outcome):
        try:
            self.say({"op": "reply", "id": message.id, **outcome, "credit": 1})
        except OSError:
            log.warning("the answer to %s is lost: the message will come again", message.idempotency_key)

    def say(self, header):
        data = json.dumps(header).encode()
        with self.writing:
            self.socket.sendall(struct.pack(">II", len(data), 0) + data)

    def _read(self):
        lengths = self._exactly(8)
        if not lengths:
            return None
        header, body = struct.unpack(">II", lengths)
        return json.loads(self._exactly(header)), self._exactly(body)

    def _exactly(self, size):
        data = bytearray()
        while len(data) < size:
            part = self.socket.recv(min(size - len(data), 1 << 20))
            if not part:
                return b""
            data += part
        return bytes(data)
