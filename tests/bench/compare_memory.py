"""Resident memory: idle, with many queues, with messages in flight, and over many messages."""

import time

import many_queues
from process_facts import resident_kib
from programs import finished, run_program, start_program
from report import Row
from retryd import eventually
from world import SIZE

SETTLES = 1  # seconds after everything is subscribed
IN_FLIGHT = 1000
GROWTH_MIB = 1  # what counts as flat
BEFORE = 0.1  # of the messages go through before it is looked at first


def run(world, scale):
    rows = [idle_row(world, "idle", [world.declare("bench.memory")], 12), idle_row(world, "100 queues", many_queues.declared(world), 30)]
    return rows + [in_flight_row(world), flat_row(world, 20_000 if scale.quick else 1_000_000)]


def mib(daemon):
    return resident_kib(daemon.pid) / 1024


def idle_row(world, what, queues, most):
    socket = f"{world.folder}/idle.sock"
    with many_queues.consumer(socket), world.daemon(many_queues.policy(queues, socket)) as daemon:
        many_queues.wait_for_flow(daemon)
        time.sleep(SETTLES)
        return Row(f"resident memory: {what}", mib(daemon), "MiB", at_most=most)


def in_flight_row(world):
    queue = world.declare("bench.in-flight")
    world.fill(queue, IN_FLIGHT)
    socket = f"{world.folder}/in-flight.sock"
    deliver = f'{{stream: "unix:{socket}", concurrency: {IN_FLIGHT}, slow_start: none, timeout: 10m}}'
    with world.daemon(f'  "{queue}": {{deliver: {deliver}, prefetch: {IN_FLIGHT}}}\n') as daemon:
        client = start_program("stream_client", socket=socket, credit=IN_FLIGHT, count=IN_FLIGHT, hold=1)
        gauge = f'retryd_in_flight{{queue="{queue}"}}'
        eventually(lambda: daemon.metrics()[gauge] == IN_FLIGHT, 30, f"{IN_FLIGHT} messages in flight")
        used = mib(daemon)
        daemon.kill()  # politely it would wait for the answers
        client.wait()
    world.wire.purge(queue)
    return Row(f"resident memory: {IN_FLIGHT:,} × 1 KiB in flight", used, "MiB", at_most=24)


def flat_row(world, count):
    """What it has grown by since a tenth of the messages were through."""
    queue = world.declare("bench.flat")
    socket = f"{world.folder}/flat.sock"
    with world.daemon(f'  "{queue}": {{deliver: {{stream: "unix:{socket}"}}}}\n') as daemon:
        client = start_program("stream_client", socket=socket, credit=256, count=count)
        first = int(count * BEFORE)
        before = through(world, daemon, queue, first)
        after = through(world, daemon, queue, count - first)
        finished(client)
    note = f"{before:.1f} MiB after a tenth of {count:,} messages, {after:.1f} MiB after all"
    return Row("resident memory: growth", after - before, "MiB", at_most=GROWTH_MIB, note=note)


def through(world, daemon, queue, count):
    """The memory when so many more have gone through."""
    gone = daemon.deliveries(queue).get("success", 0) + count
    run_program("publish", amqp=world.amqp, queues=queue, count=count, size=SIZE)
    eventually(lambda: daemon.deliveries(queue).get("success", 0) >= gone, 120, f"{count} messages through")
    return mib(daemon)
