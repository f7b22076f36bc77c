"""Messages that fail once, 2,000 a second, by stream: how much later than asked for they come back.

From the answer of the consumer to the next attempt, less the delay. Which of the four delays a message had is told by its
wait: they lie 333 ms apart.
"""

from programs import run_program
from report import median_row
from rounds import percentile
from world import SIZE, records_in

RATE = 2000
DELAYS_MS = (500, 833, 1167, 1500)
POLICY = ", retry: {quick: none, delays: [1s], jitter: 50%, spread: 4}"
QUEUE = "bench.lateness"


def run(world, scale):
    world.declare(QUEUE)
    count = RATE * (1 if scale.quick else 5)
    runs = [late(world, count) for _ in range(1 if scale.quick else 3)]
    note = f"{RATE}/s, one queue for each of four delays; p50 {percentile(sum(runs, []), 0.5):.1f} ms, longest {max(map(max, runs)):.0f} ms"
    return [median_row("retry lateness: p99", [percentile(run, 0.99) for run in runs], "ms", at_most=15, note=note)]


def late(world, count):
    file = f"{world.folder}/late.records"
    options = {"count": count, "credit": 256, "fail_first": 1, "records": file}
    with world.behind_retryd(QUEUE, "stream_client", POLICY, **options) as measured:
        world.wait_for_consumer(QUEUE)
        run_program("publish", amqp=world.amqp, queues=QUEUE, count=count, size=SIZE, rate=RATE)
        measured()
    return [lateness(span / 1e6) for _, _, span in records_in(file)]


def lateness(wait):
    shorter = [delay for delay in DELAYS_MS if delay <= wait]
    if not shorter:
        raise RuntimeError(f"a retry came back after {wait:.1f} ms, before its time")
    return wait - shorter[-1]
