"""From publish to consumer at 1,000 messages a second: one message through retryd between two to a bare consumer."""

from programs import finished, run_program, start_program
from report import median_row
from rounds import percentile
from world import SIZE, records_in

RATE = 1000  # a second, to each of the two queues; one follows the other by half a period
BARE = "bench.latency.bare"
CONSUMERS = {"stream": ("stream_client", {"credit": 256}, 0.3), "HTTP": ("http_server", {}, 0.5)}
WARM_UP = 0.1  # so much of each run is not looked at


def run(world, scale):
    world.declare(BARE)
    count = RATE * (1 if scale.quick else 5)
    spans = {name: [] for name in CONSUMERS}
    for _ in range(scale.rounds):
        for name, (client, options, _) in CONSUMERS.items():
            spans[name].append(twins(world, client, count, options))
    return [row for name, (*_, most) in CONSUMERS.items() for row in rows_of(name, spans[name], most)]


def twins(world, client, count, options):
    """[(span of the one through retryd, of the bare one)] in ms."""
    queue, files = world.declare(f"bench.latency.{client}"), [f"{world.folder}/{name}.records" for name in ("ours", "bare")]
    with world.behind_retryd(queue, client, count=count, records=files[0], **options) as measured:
        bare = start_program("drain", amqp=world.amqp, queue=BARE, count=count, prefetch=128, batch=1, records=files[1])
        for each in (queue, BARE):
            world.wait_for_consumer(each)
        run_program("publish", amqp=world.amqp, queues=f"{queue},{BARE}", count=2 * count, size=SIZE, rate=2 * RATE)
        measured()
        finished(bare)
    ours, theirs = ({number: span / 1e6 for number, _, span in records_in(file)} for file in files)
    # Each between two bare ones, as it was sent: the broker hands out by batches, and whoever came first has waited for the others.
    between = lambda number: (theirs[number - 1] + theirs[number]) / 2
    return [(ours[number], between(number)) for number in range(int(WARM_UP * count), count)]


def rows_of(name, runs, most):
    added = [[one - other for one, other in run] for run in runs]
    note = f"{RATE}/s; through retryd {both(runs, 0)} ms, the bare consumer {both(runs, 1)} ms (p50/p99); built-in prefetch"
    what = f"latency added, {name}: "
    return [
        median_row(what + "p50", [percentile(spans, 0.5) for spans in added], "ms", at_most=most, note=note),
        median_row(what + "p99", [percentile(spans, 0.99) for spans in added], "ms", at_most=3),
    ]


def both(runs, side):
    spans = [pair[side] for run in runs for pair in run]
    return f"{percentile(spans, 0.5):.2f}/{percentile(spans, 0.99):.2f}"
