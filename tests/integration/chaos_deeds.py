"""The things that go wrong in the chaos. Each leaves the world mended, if not in order; some last while others happen."""

import collections
import select
import threading
import time

from amqp_wire import ChannelClosed, ConnectionClosed, Wire
from broker_shell import erlang
from chaos_ledger import Disturbance, clock
from chaos_messages import CALLS, POSTS
from chaos_world import USER, Quiet, connections_of, empty_lots, totals
from retryd import eventually

OWN_WAITING = r"^retryd[.].*[.](delay|hold)[.]"  # the names of the delay and hold queues
CLOSE_ALL = f'rabbit_networking:close_all_user_connections(<<"{USER}">>, <<"chaos">>)'
ACK_TIMEOUT = "application:set_env(rabbit, consumer_timeout, {}), application:set_env(rabbit, channel_tick_interval, 1000), " + CLOSE_ALL + "."
SET_POLICY = 'rabbit_policy:set(<<"/">>, <<"{}">>, <<"{}">>, [{}], 0, <<"queues">>, <<"chaos">>).'
CLEAR_POLICY = 'rabbit_policy:delete(<<"/">>, <<"{}">>, <<"chaos">>).'
WATERMARK = "vm_memory_monitor:set_vm_memory_high_watermark({})."
SHORT, USUAL = 2500, 1_800_000  # ms


class Borrower(threading.Thread):
    """A second consumer on a lane: it takes messages and gives them back."""

    def __init__(self, lane, prefetch, seconds):
        super().__init__(daemon=True)
        self.lane, self.prefetch, self.seconds = lane, prefetch, seconds
        self.over = threading.Event()

    def run(self):
        try:
            with Wire() as wire:
                wire.consume(self.lane, self.prefetch)
                while not self.over.is_set():
                    if wire.deliveries or wire.incoming or select.select([wire.socket], [], [], 0.1)[0]:
                        self.give_back(wire, wire.next_delivery(5))
        except (OSError, ConnectionClosed, ChannelClosed):
            pass  # the lane or the broker has gone: what was borrowed is back

    def give_back(self, wire, message):
        self.over.wait(self.seconds)
        wire.nack(message.tag)

    def stop(self):
        self.over.set()
        self.join()


class Deeds:
    def __init__(self, retryd, proxy, application, workers, publisher, ledger, dice):
        self.retryd, self.proxy, self.application, self.workers = retryd, proxy, application, workers
        self.publisher, self.ledger, self.dice = publisher, ledger, dice
        self.happened = collections.Counter()
        self.lasting = []  # (when it ends, what ends it)
        self.drains = []  # (begin, end)
        self.usual = {  # and how often, against each other
            self.kill_retryd: 4, self.drain_and_start: 2, self.cut: 2, self.cut_inside_a_frame: 4, self.stall: 3,
            self.half_open: 3, self.close_by_the_broker: 2, self.kill_http_consumer: 3, self.kill_stream_consumers: 3,
            self.restart_broker: 2, self.memory_alarm: 2, self.short_ack_timeout: 2, self.shorter_ttl: 2, self.refuse_copies: 2,
            self.delete_while_dead: 2, self.delete_while_quiet: 2, self.borrow_from_lane: 3,
        }
        self.deck = []

    def strike(self):
        """The next one. Every kind comes once before any comes again, and in all as often as it says."""
        if not self.deck:
            again = [deed for deed, times in self.usual.items() for _ in range(times - 1)] if self.happened else []
            self.deck = [*self.usual, *again]
            self.dice.shuffle(self.deck)
        assert self.retryd.process.poll() is None, f"retryd ended by itself:\n{self.retryd.log()[-3000:]}"
        self.end_lasting(time.monotonic())
        deed = self.deck.pop()
        name = deed.__name__.replace("_", " ")
        began = time.monotonic()
        told = deed() or name
        self.happened[told] += 1
        print(f"  {clock(began)} {time.monotonic() - began:5.1f} s  {told}", flush=True)

    def end_lasting(self, now=float("inf")):
        over = [undo for end, undo in self.lasting if end <= now]
        self.lasting = [(end, undo) for end, undo in self.lasting if end > now]
        for undo in over:
            undo()

    def last(self, undo, least=2, most=12):
        self.lasting.append((time.monotonic() + self.dice.uniform(least, most), undo))

    def note(self, kind, begin, queue=None):
        self.ledger.note(Disturbance(kind, begin, time.monotonic(), queue))

    def finish(self):
        """No more deeds."""
        self.end_lasting()
        self.proxy.disarm()

    def note_breaks(self):
        """What the proxy and the drains saw, into the ledger. The orderly end of a drain's connections is no disturbance."""
        for begin, end in self.drains:
            self.ledger.note(Disturbance("drain", begin, end, forgets_only=True))
        for begin, end, who in self.proxy.breaks:
            drained = who in ("client", "broker") and any(since <= end <= until for since, until in self.drains)
            if not drained:
                self.ledger.note(Disturbance("half-open connection" if who == "half-open" else f"connection ended by {who}", begin, end))

    # --- retryd and its consumers

    def kill_retryd(self):
        begin = time.monotonic()
        self.retryd.kill()
        self.note("kill of retryd", begin)
        self.retryd.start(wait_ready=False)

    def drain_and_start(self):
        begin = time.monotonic()
        code = self.retryd.stop()
        self.drains.append((begin, time.monotonic()))
        assert code == 0, f"SIGTERM ended retryd with {code}:\n{self.retryd.log()[-3000:]}"
        self.retryd.start(wait_ready=False)

    def kill_http_consumer(self):
        begin = time.monotonic()
        self.application.stop()
        time.sleep(self.dice.uniform(0, 2))
        self.application.start()
        self.note("death of a consumer", begin, POSTS)

    def kill_stream_consumers(self):
        begin = time.monotonic()
        self.workers.kill(self.dice.choice((1, len(self.workers.processes))))
        self.note("death of a consumer", begin, CALLS)
        time.sleep(self.dice.uniform(0, 2))
        self.workers.fill()

    # --- the network

    def cut(self):
        self.proxy.cut()

    def cut_inside_a_frame(self):
        self.proxy.cut_after(self.way(), self.some_bytes())

    def stall(self):
        way = self.way()
        self.proxy.stall_after(way, self.some_bytes())
        deadline = time.monotonic() + 2
        while not self.proxy.has_struck(way) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.proxy.disarm()
        self.proxy.stall(way)
        time.sleep(self.dice.uniform(0.5, 7))
        self.proxy.resume(way)

    def half_open(self):
        if self.dice.random() < 0.3:
            self.proxy.half_open()
        else:
            self.proxy.half_open_after(self.way(), self.some_bytes())

    def way(self):
        return self.dice.choice(("up", "down"))

    def some_bytes(self):
        return self.dice.randrange(1, 20000)

    # --- the broker

    def close_by_the_broker(self):
        erlang(CLOSE_ALL + ".")

    def restart_broker(self):
        erlang("rabbit:stop().")
        time.sleep(self.dice.uniform(0, 3))
        erlang("rabbit:start().")

    def memory_alarm(self):
        erlang(WATERMARK.format("0.00001"))
        self.last(lambda: erlang(WATERMARK.format("0.4")))

    def short_ack_timeout(self):
        """Channels keep the timeout that they were opened with, so they are opened anew before and after."""
        begin = time.monotonic()
        erlang(ACK_TIMEOUT.format(SHORT))

        def restore():
            erlang(ACK_TIMEOUT.format(USUAL))
            self.note("ack timeout", begin)

        self.last(restore, 8, 16)

    def shorter_ttl(self):
        self.policy("chaos-ttl", '{<<"message-ttl">>, 100}')

    def refuse_copies(self):
        self.policy("chaos-length", '{<<"max-length">>, 3}, {<<"overflow">>, <<"reject-publish">>}')

    def policy(self, name, definition):
        erlang(SET_POLICY.format(name, OWN_WAITING, definition))
        self.last(lambda: erlang(CLEAR_POLICY.format(name)))

    def borrow_from_lane(self):
        lane = f"retryd.{self.dice.choice((POSTS, CALLS))}.lane"
        borrower = Borrower(lane, self.dice.randrange(1, 30), self.dice.uniform(0, 0.5))
        borrower.start()
        self.last(borrower.stop)

    # --- queues that are deleted. A deletion must not be what loses a message, so each has its proof that nothing is in the
    # queue, nor on its way to it.

    def delete_while_dead(self):
        """Only retryd publishes to a lot, a delay or a hold queue: while it is dead and the broker has seen its connections end, one
        that is empty stays so. The lane gets messages from the delay queues, so it is left alone here."""
        begin = time.monotonic()
        self.retryd.kill()
        self.note("kill of retryd", begin)
        eventually(lambda: not connections_of(USER), 60, "the end of a dead retryd's connections", every=0.2)
        empty_lots(self.ledger)
        names = [name for name, messages in totals().items() if self.is_own(name) and not messages and not name.endswith(".lane")]
        deleted = self.delete(names)
        self.retryd.start(wait_ready=False)
        return f"delete while retryd is dead: {deleted}"

    def delete_while_quiet(self):
        """The publisher waits, and when no message is anywhere but in a lot, nothing can come to any queue of retryd's. It lives on,
        and finds that they are gone."""
        self.end_lasting()
        self.proxy.disarm()
        with self.publisher.turn:
            quiet, deadline = Quiet(self.retryd), time.monotonic() + 15
            while not quiet():
                if time.monotonic() > deadline:
                    return "delete while quiet: it was never quiet"
                time.sleep(0.2)
            empty_lots(self.ledger)
            lane = f"retryd.{self.dice.choice((POSTS, CALLS))}.lane"
            deleted = self.delete([name for name in totals() if self.is_own(name) and not name.endswith(".lane")])
            if self.dice.random() < 0.7:
                deleted += ", " + self.delete([lane])
            time.sleep(self.dice.uniform(0, 2))
        return f"delete while quiet: {deleted}"

    @staticmethod
    def is_own(name):
        return name.startswith("retryd.")

    def delete(self, names):
        """Some of them; says which kinds."""
        chosen = self.dice.sample(sorted(names), min(len(names), self.dice.randrange(1, 4)))
        with Wire() as wire:
            for name in chosen:
                left = wire.delete(name)
                assert left == 0, f"the chaos itself has deleted {left} messages of {name}"
        return ", ".join(name.split(".", 3)[3] for name in chosen) or "nothing was empty"
