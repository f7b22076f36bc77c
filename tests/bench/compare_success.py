"""Every message succeeds: the stream and HTTP, tuned alike and as built in, against a bare consumer and the peers."""

from peers import peers
from report import Row, median_row
from rounds import interleave, median_of, ratios

PREFETCH = 256
QUEUE = "bench.success"


def run(world, scale):
    world.declare(QUEUE)
    count = scale.messages(60_000)

    def drain():
        world.fill(QUEUE, count)
        return world.bare("drain", queue=QUEUE, count=count, prefetch=PREFETCH, batch=64)

    def stream(keys="", deliver=""):
        def once():
            world.fill(QUEUE, count)
            return world.through_retryd(QUEUE, "stream_client", keys, deliver, count=count, credit=PREFETCH)

        return once

    def http(keys="", deliver=""):
        def once():
            world.fill(QUEUE, count)
            return world.through_retryd(QUEUE, "http_server", keys, deliver, count=count)

        return once

    tuned = f", prefetch: {PREFETCH}"
    variants = {
        "drain": drain,
        "stream": stream(tuned, f", concurrency: {PREFETCH}"),
        "HTTP": http(tuned, ", concurrency: 16"),
        "stream, built-in": stream(),
        "HTTP, built-in": http(),
    }
    results = interleave(variants, scale.rounds)
    rows = [*rows_of("stream", results, 0.6, 10), *rows_of("HTTP", results, 0.4, 20)]
    rows += [*rows_of("stream, built-in", results), *rows_of("HTTP, built-in", results)]
    return rows + peers(world, scale, QUEUE, fails=False)


def rows_of(name, results, least=None, most=None):
    ours, drain = results[name], results["drain"]
    prefetch = "128, concurrency 16" if "built-in" in name else f"{PREFETCH}, concurrency {16 if name == 'HTTP' else PREFETCH}"
    rates = f"{median_of(ours, 'rate'):,.0f}/s of drain's {median_of(drain, 'rate'):,.0f}/s; prefetch {prefetch}; drain {PREFETCH}"
    costs = (
        f"broker {median_of(ours, 'broker'):.1f}, the client {median_of(ours, 'self'):.1f}; "
        f"drain {median_of(drain, 'self'):.1f} with broker {median_of(drain, 'broker'):.1f}"
    )
    yield median_row(f"success, {name}: rate against drain", ratios(ours, drain, "rate"), "×", at_least=least, note=rates)
    yield Row(f"success, {name}: own CPU", median_of(ours, "retryd"), "µs", at_most=most,
              samples=[one["retryd"] for one in ours], note=costs)
