"""From the start of the process to /readyz, with lane and lots in place."""

import time

import many_queues
from report import median_row

SMALL = "bench.start"
MADE = ("lane", "parked", "dlq")
LOOK_EVERY = 0.002  # seconds


def run(world, scale):
    hundred = many_queues.declared(world)
    rows = [start_row(world, "1 queue, made", [world.declare(SMALL)], 0.3, True, 1)]
    rows += [start_row(world, "1 queue, there already", [SMALL], 0.3, False, scale.rounds)]
    rows += [start_row(world, "100 queues, made", hundred, 6, True, 1 if scale.quick else 3)]
    return rows + [start_row(world, "100 queues, there already", hundred, 2, False, scale.rounds)]


def start_row(world, what, queues, most, made, rounds):
    spans = []
    for _ in range(rounds):
        if made:
            world.delete(*own(queues))
        spans.append(start(world, queues))
    return median_row(f"start to ready: {what}", spans, "s", at_most=most)


def own(queues):
    return [f"retryd.{queue}.{kind}" for queue in queues for kind in MADE]


def start(world, queues):
    began = time.monotonic()
    with world.daemon(many_queues.policy(queues, f"{world.folder}/nobody.sock"), wait_ready=False) as daemon:
        while not daemon.answers("/readyz"):
            time.sleep(LOOK_EVERY)
        span = time.monotonic() - began
    missing = [name for name in own(queues) if world.wire.depth(name) is None]
    if missing:
        raise RuntimeError(f"ready without {missing[:3]}")
    return span
