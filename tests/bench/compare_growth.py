"""What more queues cost: 1, 10 and 100 of them, each daemon with a consumer that is there. One queue of each is busy in turn."""

import contextlib
import functools
import time

import many_queues
from programs import finished, start_program
from report import Row, median_row
from rounds import interleave, median_of, ratios

SIZES = (1, 10, 100)
MOST_IDLE = 1  # percent of a core
PREFETCH = 256


def run(world, scale):
    count = scale.messages(40_000)
    socket = f"{world.folder}/growth.sock"
    with contextlib.ExitStack() as running:
        running.enter_context(many_queues.consumer(socket))
        daemons = {size: running.enter_context(world.daemon(policy(world, size, socket))) for size in SIZES}
        idle = idle_percent(daemons, 2 if scale.quick else 10)
        variants = {size: functools.partial(busy, world, size, count) for size in SIZES}
        results = interleave(variants, scale.rounds)
    return [*idle_rows(idle), *busy_rows(results)]


def busy_queue(size):
    return f"bench.busy.{size}"


def policy(world, size, socket):
    """The busy queue has a stream of its own; nobody dials it until its turn."""
    queue = world.declare(busy_queue(size))
    deliver = f'{{stream: "unix:{world.folder}/busy.{size}.sock", concurrency: {PREFETCH}}}'
    others = many_queues.declared(world, size - 1)
    return f'  "{queue}": {{deliver: {deliver}, prefetch: {PREFETCH}}}\n' + many_queues.policy(others, socket)


def idle_percent(daemons, seconds):
    time.sleep(1)
    before = {size: cpu(daemon) for size, daemon in daemons.items()}
    time.sleep(seconds)
    return {size: 100 * (cpu(daemon) - before[size]) / seconds for size, daemon in daemons.items()}


def cpu(daemon):
    """Seconds, of the clock of its process (clock_getcpuclockid)."""
    return time.clock_gettime(~daemon.pid << 3 | 2)


def busy(world, size, count):
    world.fill(busy_queue(size), count)
    measured = finished(start_program("stream_client", socket=f"{world.folder}/busy.{size}.sock", credit=PREFETCH, count=count))
    return {"rate": measured["count"] / measured["seconds"]}


def idle_rows(idle):
    note = ", ".join(f"{percent:.2f} % with {size}" for size, percent in idle.items() if size != max(SIZES))
    return [Row(f"idle CPU: {max(SIZES)} queues", idle[max(SIZES)], "%", at_most=MOST_IDLE, note=note)]


def busy_rows(results):
    for size in SIZES[1:]:
        compared = ratios(results[size], results[1], "rate")
        note = f"{median_of(results[size], 'rate'):,.0f}/s of {median_of(results[1], 'rate'):,.0f}/s; stream, prefetch {PREFETCH}"
        yield median_row(f"one busy queue among {size}, against it alone", compared, "×", at_least=0.9, note=note)
