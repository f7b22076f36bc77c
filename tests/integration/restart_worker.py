"""restart_worker ADDRESS LOG SECONDS MANNERS: a consumer process that takes SECONDS for each message and writes down what it begins
("begin PID NAME ATTEMPT") and what it has done ("end PID NAME"); the body is the name.

ADDRESS http:PATH: it serves messages, and GET /healthz, on a Unix socket; it is up at once but ready only after a moment, and until
then every message is a failure. "end" is written when the answer is. ADDRESS unix:PATH: it dials retryd's stream.

At SIGTERM a polite one finishes its work; a rude one (over HTTP) ends at once.
"""

import os
import pathlib
import signal
import sys
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "docs" / "clients" / "python"))

import retryd_consumer as retryd
from consumer import Answer, Consumer

WARM_UP = 0.3
QUIET = 0.5


class Journal:
    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write(self, *words):
        os.write(self.file, (" ".join(map(str, words)) + "\n").encode())

    def begin(self, name, attempt):
        self.write("begin", os.getpid(), name, attempt)

    def end(self, name):
        self.write("end", os.getpid(), name)


class HttpApp:
    def __init__(self, path, journal, seconds):
        self.journal, self.seconds = journal, seconds
        self.ready_at = time.monotonic() + WARM_UP
        self.leaving = False
        self.busy, self.last = 0, 0
        self.consumer = Consumer(self.reply, path)

    def reply(self, request):
        ready = time.monotonic() >= self.ready_at
        if request.method == "GET":
            return 200 if ready and not self.leaving else 503
        name = request.body.decode()
        self.journal.begin(name, request.attempt)
        self.busy += 1
        self.last = time.monotonic()
        return Answer(200 if ready else 500, wait=self.seconds, after=lambda: self.finished(name))

    def finished(self, name):
        self.journal.end(name)
        self.busy -= 1
        self.last = time.monotonic()

    def serve_until(self, stop):
        with self.consumer:
            stop.wait()
            self.leaving = True
            self.last = time.monotonic()
            while self.busy or time.monotonic() < self.last + QUIET:
                time.sleep(0.01)


def serve_stream(address, journal, seconds, stop):
    def handle(message):
        name = message.body.decode()
        journal.begin(name, message.attempt)
        time.sleep(seconds)
        journal.end(name)

    retryd.logging.disable(retryd.logging.CRITICAL)
    retryd.run(address, handle, concurrency=8, stop=stop)


def main(address, log, seconds, manners):
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set() if manners == "polite" else os._exit(0))
    kind, _, path = address.partition(":")
    if kind == "http":
        HttpApp(path, Journal(log), float(seconds)).serve_until(stop)
    else:
        serve_stream(address, Journal(log), float(seconds), stop)


if __name__ == "__main__":
    main(*sys.argv[1:])
