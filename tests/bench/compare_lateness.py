"""Messages that fail once, 2,000 a second, by stream: how much later than asked for they come back.

From the answer of the consumer (bare: from the publish) to the next attempt, less the delay. Which of the four delays a message
had is told by its wait: they lie 333 ms apart.
"""

from ladder_queues import declare_ladder
from programs import finished, run_program, start_program
from report import median_row
from retryd import GUARDS_OFF
from rounds import interleave, percentile
from world import SIZE, records_in

RATE = 2000
DELAYS_MS = (500, 833, 1167, 1500)
POLICY = f", retry: {{quick: none, delays: [1s], jitter: 50%, spread: 4}}, {GUARDS_OFF}"
QUEUE, BARE = "bench.lateness", "bench.lateness.bare"


def run(world, scale):
    count = RATE * (1 if scale.quick else 5)
    lane, delays = declare_ladder(world, BARE, DELAYS_MS)
    world.declare(QUEUE)
    ours(world, 100)  # makes the delay queues, as the other side's are made
    runs = interleave({
        "bare": lambda: bare(world, count, {"lane": lane, "delays": ",".join(delays)}),
        "ours": lambda: ours(world, count),
    }, scale.rounds)
    note = f"{RATE}/s, one queue for each of four delays; {summary(runs['ours'])}; the bare ladder {summary(runs['bare'])}"
    return [median_row("retry lateness: p99", [percentile(one, 0.99) for one in runs["ours"]], "ms", at_most=15, note=note)]


def bare(world, count, queues):
    file = f"{world.folder}/bare.records"
    ladder = start_program("ladder", amqp=world.amqp, queue=BARE, count=count, prefetch=128, batch=64, records=file, **queues)
    publish(world, BARE, count)
    finished(ladder)
    return lateness_in(file)


def ours(world, count):
    file = f"{world.folder}/late.records"
    options = {"count": count, "credit": 256, "fail_first": 1, "records": file}
    with world.behind_retryd(QUEUE, "stream_client", POLICY, **options) as measured:
        publish(world, QUEUE, count)
        measured()
    return lateness_in(file)


def publish(world, queue, count):
    world.wait_for_consumer(queue)
    run_program("publish", amqp=world.amqp, queues=queue, count=count, size=SIZE, rate=RATE)


def lateness_in(file):
    return [lateness(span / 1e6) for _, _, span in records_in(file)]


def lateness(wait):
    shorter = [delay for delay in DELAYS_MS if delay <= wait]
    if not shorter:
        raise RuntimeError(f"a retry came back after {wait:.1f} ms, before its time")
    return wait - shorter[-1]


def summary(runs):
    spans = sum(runs, [])
    return f"p50 {percentile(spans, 0.5):.1f} ms, p99 {percentile(spans, 0.99):.0f} ms, longest {max(spans):.0f} ms"
