"""Google Benchmark's figures of what is done for each message, without sockets: no targets, to be compared between two builds."""

import json
import os
import subprocess

from programs import FOLDER
from report import Row


def run(_world, scale):
    program = f"{FOLDER}/bench_micro"
    if not os.path.exists(program):
        raise RuntimeError("bench_micro is not built: CMake has not seen libbenchmark-dev; run cmake --preset release")
    command = [program, "--benchmark_format=json", f"--benchmark_min_time={0.02 if scale.quick else 0.5}"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return [row_of(one) for one in json.loads(done.stdout)["benchmarks"]]


def row_of(one):
    """Processor time: of one message where the benchmark counts them, else of one turn."""
    nanoseconds = 1e9 / one["items_per_second"] if "items_per_second" in one else one["cpu_time"]
    return Row("micro: " + one["name"].replace("_", " ").replace("/", ", "), nanoseconds, "ns")
