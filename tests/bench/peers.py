"""Consumers that retry in their own process, beside retryd. One that is not installed is left out, with a note."""

import os
import pathlib
import subprocess

from programs import finished, start
from report import Row
from rounds import median_of

FOLDER = pathlib.Path(__file__).parent / "peers"
DELAY_MS = 500
PYTHON = os.environ.get("RETRYD_BENCH_PYTHON", "/usr/bin/python3")
PEERS = {
    # name: (command, how to find out whether it can run, messages when all succeed, when all fail once)
    "rascal": (["node", FOLDER / "rascal_peer.js"], ["node", "-e", "require('rascal')"], 20_000, 4_000),
    "aio-pika": ([PYTHON, "-B", FOLDER / "aio_pika_peer.py"], [PYTHON, "-c", "import aio_pika"], 4_000, 2_000),
}

notes = []  # what was left out


def peers(world, scale, queue, fails):
    return [row for name in PEERS if available(name) for row in rows_of(world, scale, name, f"{queue}.{name}", fails)]


def available(name):
    try:
        there = subprocess.run(PEERS[name][1], capture_output=True, check=False, timeout=60).returncode == 0
    except FileNotFoundError:
        there = False
    note = f"{name} is not installed: left out"
    if not there and note not in notes:
        notes.append(note)
    return there


def rows_of(world, scale, name, queue, fails):
    command, _, *counts = PEERS[name]
    count = scale.messages(counts[fails])
    world.declare(queue)
    results = []
    for _ in range(scale.rounds):
        world.fill(queue, count)
        measured = finished(start([*command, world.amqp, queue, str(count), str(int(fails)), str(DELAY_MS)]))
        seconds = measured["seconds"] - fails * DELAY_MS / 1000
        results.append({"rate": count / seconds, "cpu": 1e6 * measured["cpu"] / count})
    what = "fails once" if fails else "success"
    note = f"own CPU {median_of(results, 'cpu'):.0f} µs; prefetch 200" + ", the delay left out" * fails
    return [Row(f"{what}, {name}: rate", median_of(results, "rate"), "/s", samples=[one["rate"] for one in results], note=note)]
