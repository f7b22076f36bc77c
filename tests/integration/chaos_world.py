"""What the chaos happens to: the publisher, the consumers, and what the broker really holds."""

import collections
import json
import os
import pathlib
import re
import subprocess
import threading
import time

from amqp_wire import ChannelClosed, ConnectionClosed, Nacked, Wire
from broker_shell import Failed, erlang
from chaos_ledger import Delivery, Ending
from chaos_messages import CALLS, POSTS, act, body, changed_in_lot, changed_over_http, number_of, properties, queue_of
from consumer import Answer, Consumer
from integration_case import LOTS, rabbitmqctl
from retryd import die_with_parent

PER_SECOND = 150
BATCH = 10
USER = "retryd"  # retryd's own, with the rights of docs/operations.md, so that its connections can be told from ours
WORKERS = 2
STATUS = {"success": 200, "drop": 200, "permanent": 422, "transient": 503, "throttled": 429}


class Publisher(threading.Thread):
    """Publishes numbers from 1 on until it is stopped, confirmed in batches; a batch that was not confirmed is published again."""

    def __init__(self, ledger):
        super().__init__(daemon=True)
        self.ledger = ledger
        self.ended = threading.Event()
        self.published = 0  # confirmed ones: 1..published
        self.turn = threading.Lock()
        self.wire = None

    def run(self):
        while not self.ended.wait(BATCH / PER_SECOND):
            with self.turn:
                self.publish_batch()

    def publish_batch(self):
        numbers = range(self.published + 1, self.published + 1 + BATCH)
        try:
            self.wire = self.wire or Wire()
            for queue in (POSTS, CALLS):
                here = [number for number in numbers if queue_of(number) == queue]
                for number in here:
                    self.ledger.publish(number, time.monotonic())
                if here:
                    self.wire.publish_all(queue, [(properties(number), body(number)) for number in here])
            self.published += BATCH
        except (OSError, ConnectionClosed, ChannelClosed, Nacked):
            self.wire = None
            time.sleep(0.5)

    def finish(self):
        """Ends with a confirmed batch, so that every number that the ledger has is the broker's."""
        self.ended.set()
        self.join()
        confirmed = self.published
        while self.published == confirmed:
            self.publish_batch()


class HttpApplication(Consumer):
    """The consumer over HTTP, in this process. It remembers no request: a run has too many."""

    def __init__(self, ledger, path):
        super().__init__(self.answer, path)
        self.ledger = ledger
        self.requests = collections.deque(maxlen=1)
        self.throttled = set()

    def count(self, _body):
        return 0

    def answer(self, request):
        number = number_of(request.body)
        answer, seconds = act(number, request.attempt)
        if answer == "throttled once":
            answer = "success" if number in self.throttled else "throttled"
            self.throttled.add(number)
        self.ledger.note(Delivery(
            number, request.at, request.attempt, int(request.headers["retryd-max-attempts"]), request.headers["idempotency-key"],
            answer, changed_over_http(number, request.body, request.headers)))
        headers = {"drop": {"Retryd-Outcome": "drop"}, "throttled": {"Retry-After": "1"}}.get(answer, {})
        return Answer(STATUS[answer], headers, wait=seconds, before=lambda: self.done(number, answer, request.at))

    def done(self, number, answer, began):
        if answer in ("success", "drop"):
            place = {"success": "succeeded", "drop": "dropped"}[answer]
            self.ledger.note(Ending(number, place, time.monotonic(), began))


class StreamWorkers:
    """The consumers over the stream: processes, and the file into which they write what they do."""

    def __init__(self, address, log):
        self.command = ["/usr/bin/python3", "-B", pathlib.Path(__file__).with_name("chaos_worker.py"), address, log]
        self.log = log
        self.processes = []

    def __enter__(self):
        self.fill()
        return self

    def __exit__(self, *_):
        self.kill(len(self.processes))

    def fill(self):
        while len(self.processes) < WORKERS:
            self.processes.append(subprocess.Popen(self.command, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent))

    def kill(self, count):
        for process in self.processes[:count]:
            process.kill()
            process.wait()
        del self.processes[:count]

    def tell(self, ledger):
        """What they have written, into the ledger; a line that a death cut short is none."""
        if not os.path.exists(self.log):
            return
        with open(self.log, encoding="utf-8") as file:
            for line in file:
                fact = json.loads(line)
                ledger.note({"delivered": Delivery, "ended": Ending}[fact.pop("what")](**fact))


# --- the broker's side

TOTALS = """[begin {resource, _, queue, Name} = amqqueue:get_name(Q), \
{ok, {_, Total}, _} = ra:local_query(amqqueue:get_pid(Q), fun rabbit_fifo:query_messages_total/1), \
{binary_to_list(Name), Total} end || Q <- rabbit_amqqueue:list()]."""


def totals():
    """{queue: messages}: ready, unacked, and those on their way out of it by dead-lettering. Asked of each quorum queue's own
    state, because what the broker lists can be five seconds old."""
    return {name: int(total) for name, total in re.findall(r'\{"([^"]+)", (\d+)\}', erlang(TOTALS))}


def connections_of(user):
    """How many it has, as the broker sees it."""
    its = f'(catch rabbit_networking:connection_info(C, [user])) =:= [{{user, <<"{user}">>}}]'
    return int(erlang(f"length([C || C <- rabbit_networking:connections(), {its}])."))


def lot_names():
    return [f"retryd.{queue}.{lot}" for queue in (POSTS, CALLS) for lot in LOTS]


def make_user(broker_url):
    """The URI with which retryd logs in."""
    rabbitmqctl("add_user", USER, "secret")
    queues = r"chaos\.posts|chaos\.calls"
    rabbitmqctl("set_permissions", USER, r"^retryd\.", r"^(amq\.default|retryd\..*)$", rf"^(retryd\..*|{queues})$")
    return broker_url.replace("guest:guest", f"{USER}:secret")


def empty_lots(ledger):
    """What the lots hold is taken out and written down, as somebody with another tool would."""
    with Wire() as wire:
        for name in lot_names():
            if wire.depth(name):
                for message in wire.get_all(name):
                    ledger.note(found_in(name.rpartition(".")[2], message))


def found_in(lot, message):
    number, headers = number_of(message.body), message.headers
    failed_ago = time.time() - headers.get("retryd-last-failed-ms", 0) / 1000
    return Ending(number, lot, time.monotonic() - failed_ago, attempts=headers["retryd-attempts"], reason=headers["retryd-reason"],
                  altered=changed_in_lot(number, message))


class Quiet:
    """Says when nothing moves and nothing can: every queue but the lots is empty, twice, and retryd holds nothing meanwhile."""

    def __init__(self, retryd):
        self.retryd = retryd
        self.before = None

    def __call__(self):
        try:
            now = self.moved() if self.is_empty() else None
        except (OSError, Failed):  # it is starting, or the broker is
            now = None
        before, self.before = self.before, now
        return now is not None and now == before

    @staticmethod
    def is_empty():
        kept = lot_names()
        return not any(messages for name, messages in totals().items() if name not in kept)

    def moved(self):
        """What retryd has had answered so far; nothing while it holds something."""
        held = any(self.retryd.queue_status(queue)["in_hand"] for queue in (POSTS, CALLS))
        return None if held else [self.retryd.deliveries(queue) for queue in (POSTS, CALLS)]
