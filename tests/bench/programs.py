"""The benchmark's own programs (tests/bench/programs), run as processes of their own."""

import json
import os
import subprocess

from retryd import die_with_parent

FOLDER = os.environ["RETRYD_BENCH_PROGRAMS"]
PATIENCE = 300  # seconds; a bound against hanging


def start(command, **more):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent, **more)


def start_program(name, **options):
    """options: socket=… becomes --socket …, fail_first=1 --fail-first 1."""
    words = [word for key, value in options.items() for word in ("--" + key.replace("_", "-"), str(value))]
    return start([f"{FOLDER}/bench_{name}", *words])


def finished(process):
    """Its last word, a line of JSON; nothing where it has none."""
    try:
        output = process.communicate(timeout=PATIENCE)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise RuntimeError(f"{process.args[0]} did not end within {PATIENCE} s") from None
    if process.returncode != 0:
        raise RuntimeError(f"{process.args[0]} ended with {process.returncode}")
    return json.loads(output) if output else None


def run_program(name, **options):
    return finished(start_program(name, **options))
