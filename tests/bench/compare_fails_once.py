"""Every message fails once and comes back, over the stream: against the bare ladder and the peers."""

from ladder_queues import declare_ladder
from peers import peers
from report import Row, median_row
from retryd import GUARDS_OFF
from rounds import interleave, median_of, ratios

PREFETCH = 256
DELAYS_MS = (400, 467, 533, 600)  # 500 ms ± 20 %, spread over four
QUEUE, BARE = "bench.fails-once", "bench.ladder"
POLICY = f", prefetch: {PREFETCH}, retry: {{quick: none, delays: [500ms], jitter: 20%, spread: 4}}, {GUARDS_OFF}"


def run(world, scale):
    count = scale.messages(20_000)
    lane, delays = declare_ladder(world, BARE, DELAYS_MS)
    world.declare(QUEUE)

    def ladder():
        world.fill(BARE, count)
        options = {"queue": BARE, "lane": lane, "delays": ",".join(delays), "count": count, "prefetch": PREFETCH, "batch": 64}
        return less_waiting(world.bare("ladder", **options), count)

    def through_retryd(count):
        world.fill(QUEUE, count)
        options = {"deliver": f", concurrency: {PREFETCH}", "count": count, "credit": PREFETCH, "fail_first": 1}
        return world.through_retryd(QUEUE, "stream_client", POLICY, **options)

    def stream():
        return less_waiting(through_retryd(count), count)

    through_retryd(100)  # makes the delay queues, as the other side's are made
    results = interleave({"ladder": ladder, "stream": stream}, scale.rounds)
    return rows_of(results) + peers(world, scale, QUEUE, fails=True)


def less_waiting(measured, count):
    """The rate without the time that each message has to wait."""
    seconds = count / measured["rate"] - 0.5
    return measured | {"rate": count / seconds}


def rows_of(results):
    ours, bare = results["stream"], results["ladder"]
    rates = f"{median_of(ours, 'rate'):,.0f}/s of {median_of(bare, 'rate'):,.0f}/s, the delay left out; prefetch {PREFETCH} both"
    costs = (
        f"broker {median_of(ours, 'broker'):.0f}, the client {median_of(ours, 'self'):.1f}; "
        f"ladder {median_of(bare, 'self'):.1f} with broker {median_of(bare, 'broker'):.0f}"
    )
    return [
        median_row("fails once, stream: rate against the bare ladder", ratios(ours, bare, "rate"), "×", at_least=0.6, note=rates),
        Row("fails once, stream: own CPU", median_of(ours, "retryd"), "µs", at_most=35,
            samples=[one["retryd"] for one in ours], note=costs),
    ]
