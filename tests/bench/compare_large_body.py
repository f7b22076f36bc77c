"""One body of 16 MiB in a thousand of 1 KiB: what it does to the small ones, against a bare consumer of the same mixture."""

import contextlib
import functools

from programs import finished, start_program
from report import median_row
from rounds import interleave, percentile
from world import SIZE, records_in

RATE = 1000  # a second, and one large one
LARGE = 16 * 1024 * 1024
BARE = "bench.large.bare"
CONSUMERS = {"stream": ("stream_client", {"credit": 256}), "HTTP": ("http_server", {})}


def run(world, scale):
    seconds = 1 if scale.quick else 5
    variants = {"bare": functools.partial(bare, world, seconds)}
    for name, (client, options) in CONSUMERS.items():
        variants[name] = functools.partial(through_retryd, world, seconds, client, options)
    results = interleave(variants, scale.rounds)
    return [row_of(name, results) for name in CONSUMERS]


def row_of(name, results):
    ratios = [ours / bare for ours, bare in zip(results[name], results["bare"])]
    of = [f"{percentile(results[who], 0.5):.1f} ms" for who in (name, "bare")]
    note = f"p99 of publish to consumer {of[0]}, bare {of[1]}; {RATE}/s"
    return median_row(f"one body of 16 MiB, {name}: p99 of the small", ratios, "×", at_most=1.5, note=note)


@contextlib.contextmanager
def bare_consumer(world, **options):
    process = start_program("drain", amqp=world.amqp, queue=BARE, prefetch=128, batch=1, **options)
    yield lambda: finished(process)


def bare(world, seconds):
    return mixed(world, seconds, BARE, functools.partial(bare_consumer, world))


def through_retryd(world, seconds, client, options):
    queue = f"bench.large.{client}"
    return mixed(world, seconds, queue, functools.partial(world.behind_retryd, queue, client, **options))


def mixed(world, seconds, queue, consumer):
    """The p99 of the small ones, in ms. The large ones are published on a connection of their own."""
    world.declare(queue)
    file, small = f"{world.folder}/mixed.records", RATE * seconds
    with consumer(count=small + seconds, records=file) as measured:
        world.wait_for_consumer(queue)
        publish = {"amqp": world.amqp, "queues": queue}
        both = [
            start_program("publish", count=small, size=SIZE, rate=RATE, **publish),
            start_program("publish", count=seconds, size=LARGE, rate=1, **publish),
        ]
        for each in both:
            finished(each)
        measured()
    return percentile([span / 1e6 for _, size, span in records_in(file) if size == SIZE], 0.99)
