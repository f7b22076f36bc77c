"""The ledger of the chaos: what was published, delivered and disturbed, written down outside retryd; and what it proves.

    ledger.publish(7, at); ledger.note(Delivery(...)); ledger.note(Ending(...)); ledger.note(Disturbance(...))
    verdict = ledger.judge()
    verdict.faults      # {"lost": ["7: ..."], ...}: empty when every promise was kept

Times are those of time.monotonic(), which all processes of a machine share.
"""

import collections
import time
from dataclasses import dataclass, field

from chaos_messages import LIMIT, STAY, TIMEOUT, fate, message_id, queue_of

SLACK = 0.5  # seconds by which the clocks of two observers of one event may differ
TRIALS = 2  # the policy's limits.solo_tries
CRASHES = ("kill of retryd", "death of a consumer")
FEW, FEW_OF = 3, 0.002  # innocents that may be among the poison: so many, or this share
LOT_SLACK = 10  # a copy for a lot may be sent so long after the failure that led to it, and be hit then


def clock(at):
    """When that was, as retryd's log writes it."""
    wall = at + time.time() - time.monotonic()
    return time.strftime("%H:%M:%S", time.gmtime(wall)) + f".{int(wall * 10) % 10}"


@dataclass(frozen=True)
class Delivery:
    """The consumer was handed a message."""

    number: int
    at: float
    attempt: int
    limit: int
    key: str
    answer: str  # what it is about to answer
    altered: str = ""  # what was not as it had been published


@dataclass(frozen=True)
class Ending:
    """A message has come to an end: done at the consumer, or found in a lot."""

    number: int
    place: str  # succeeded, dropped, parked, dlq
    at: float  # when it was done; for a lot: when it failed last
    began: float = None  # when it was delivered; not for a lot
    attempts: int = 0  # as recorded on what lies in a lot
    reason: str = ""
    altered: str = ""


@dataclass(frozen=True)
class Disturbance:
    """Something that explains a duplicate: a crash, a broken connection, a timeout of the broker. A drain explains none, but it
    hands back uncounted what it finds, so that a stay is forgotten, and the key of what has no id."""

    kind: str
    begin: float
    end: float
    queue: str = None  # only this one's messages
    forgets_only: bool = False

    def explains(self, queue, begin, end):
        return self.queue in (None, queue) and self.begin - SLACK <= end and begin <= self.end + SLACK


@dataclass
class Life:
    """All that is known of one message."""

    number: int
    published: list = field(default_factory=list)  # more than once where the first was not confirmed
    deliveries: list = field(default_factory=list)
    endings: list = field(default_factory=list)

    def span(self):
        """From its publication, since it may be copied before it is ever delivered, to when nothing can happen to it any more."""
        times = self.published + [delivery.at for delivery in self.deliveries]
        times += [ending.at + (0 if ending.began else LOT_SLACK) for ending in self.endings]
        return min(times), max(times)

    def timeouts(self):
        """Deliveries whose answer came when retryd waited for it no more."""
        for ending in self.endings:
            if ending.began and ending.at - ending.began > TIMEOUT - SLACK:
                yield Disturbance("timeout", ending.began, ending.at)

    def longest_wait(self):
        """The longest time without a delivery, and when it ended."""
        times = sorted([self.published[-1], *(delivery.at for delivery in self.deliveries)])
        return max(((after - before, after) for before, after in zip(times, times[1:])), default=(0, 0))


class Verdict:
    def __init__(self):
        self.faults = collections.defaultdict(list)
        self.explained = collections.Counter()  # duplicates, by the kind of what explains them
        self.places = collections.Counter()
        self.unlucky = []  # lives of innocents among the poison, whose trials were crashed

    def accuse(self, life, fault, sentence):
        endings = ", ".join(f"{ending.place} ({ending.reason})" if ending.reason else ending.place for ending in life.endings)
        times = " ".join(f"{clock(delivery.at)}#{delivery.attempt}" for delivery in life.deliveries[:20])
        self.faults[fault].append(f"{life.number} of {queue_of(life.number)}: {sentence}; ended: {endings or 'never'}; delivered: {times or 'never'}")


class Ledger:
    def __init__(self):
        self.lives = {}
        self.disturbances = []

    def publish(self, number, at):
        self.life(number).published.append(at)

    def note(self, fact):
        if isinstance(fact, Disturbance):
            self.disturbances.append(fact)
        else:
            life = self.life(fact.number)
            (life.deliveries if isinstance(fact, Delivery) else life.endings).append(fact)

    def life(self, number):
        return self.lives.setdefault(number, Life(number))

    def judge(self):
        verdict = Verdict()
        for life in self.lives.values():
            life.deliveries.sort(key=lambda delivery: delivery.at)
            self.judge_places(life, verdict)
            self.judge_attempts(life, verdict)
            self.judge_content(life, verdict)
            self.judge_keys(life, verdict)
        if len(verdict.unlucky) > max(FEW, FEW_OF * len(self.lives)):
            for life in verdict.unlucky:
                verdict.accuse(life, "in a wrong place", "one of too many that crashes made poison")
        return verdict

    def explanation(self, life, begin, end, forgetting=False):
        """What happened to this message's queue, or to itself, between the two times; nothing where nothing did."""
        happened = [one for one in [*self.disturbances, *life.timeouts()] if forgetting or not one.forgets_only]
        return [one.kind for one in happened if one.explains(queue_of(life.number), begin, end)]

    def judge_places(self, life, verdict):
        places = {ending.place for ending in life.endings}
        verdict.places.update(places)
        if not places:
            verdict.accuse(life, "lost", f"published {len(life.published)} times")
        elif any(not self.belongs(life, ending) for ending in life.endings):
            verdict.accuse(life, "in a wrong place", f"it belongs to {fate(life.number)}")
        elif places != {fate(life.number)}:
            verdict.explained["trials crashed"] += 1
            verdict.unlucky.append(life)
        if len(life.endings) > len(life.published):
            self.judge_duplicate(life, verdict)

    def belongs(self, life, ending):
        """Where its number says; or among the poison, where retryd or the consumer died as often as it may have trials: that
        much retryd cannot tell from guilt (docs/limits.md)."""
        if ending.place == fate(life.number) or ending.reason != "poison":
            return ending.place == fate(life.number)
        times = [delivery.at for delivery in life.deliveries]
        return bool(times) and len(self.deaths(queue_of(life.number), times[0], times[-1] + LOT_SLACK)) >= TRIALS

    def deaths(self, queue, begin, end):
        """Ends of retryd or of the consumer that left no word: a drain's is one where its connection broke too."""
        happened = [one for one in self.disturbances if one.explains(queue, begin, end)]
        broken = [one for one in happened if "connection" in one.kind]
        return [one for one in happened if one.kind in CRASHES or
                one.kind == "drain" and any(other.explains(queue, one.begin, one.end) for other in broken)]

    def judge_duplicate(self, life, verdict):
        explanation = self.explanation(life, *life.span())
        if explanation:
            verdict.explained[explanation[0]] += 1
        else:
            verdict.accuse(life, "duplicates unexplained", f"it ended {len(life.endings)} times and nothing had happened")

    def judge_attempts(self, life, verdict):
        for delivery in life.deliveries:
            if delivery.limit != LIMIT or not 1 <= delivery.attempt <= LIMIT:
                verdict.accuse(life, "attempts over the limit", f"delivered as attempt {delivery.attempt} of {delivery.limit}")
        for ending in life.endings:
            if ending.attempts > LIMIT:
                verdict.accuse(life, "attempts over the limit", f"{ending.attempts} recorded in {ending.place}")
        failed = sum(delivery.answer in ("transient", "permanent") for delivery in life.deliveries)
        lives = max(1, len(life.published), len(life.endings))
        forgotten = STAY * len(self.explanation(life, *life.span(), forgetting=True)) if failed > LIMIT * lives else 0
        if failed > LIMIT * lives + forgotten:
            verdict.accuse(life, "attempts over the limit", f"it failed {failed} times in {lives} lives")

    def judge_content(self, life, verdict):
        for seen in [*life.deliveries, *life.endings]:
            if seen.altered:
                verdict.accuse(life, "altered", seen.altered)

    def judge_keys(self, life, verdict):
        """One that has an id has it as its key, always. Without an id a key is its own until retryd forgets it before it could be
        stamped, and each message that the publisher sent twice has two."""
        keys = {delivery.key for delivery in life.deliveries}
        own = message_id(life.number)
        if own and keys - {own}:
            verdict.accuse(life, "keys changed", f"its id is {own}, its keys {keys}")
        if not own and len(keys) > len(life.published) and not self.explanation(life, *life.span(), forgetting=True):
            verdict.accuse(life, "keys changed", f"it has no id, nothing had happened, its keys are {keys}")
