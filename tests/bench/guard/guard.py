"""guard.py allocations|instructions|calls PROGRAM: fails where a message costs more than bounds.py allows, or much less.

PROGRAM: guard_costs; for `calls`, the library that counts them (a broker and RETRYD_BIN are in the environment).
"""

import re
import subprocess
import sys

from bounds import BOUNDS, LOOSE

MEASURED = 30 * 64  # messages in the function `measured` of guard_costs


def allocations(program, way):
    return float(subprocess.run([program, *way.split()], check=True, capture_output=True, text=True).stdout)


def instructions(program, way):
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=measured"]
    done = subprocess.run([*valgrind, program, *way.split()], check=True, capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1]) / MEASURED


def figures(kind, program):
    if kind == "calls":
        from calls import calls  # needs the integration tests' modules and a broker

        return calls(program)
    measure = {"allocations": allocations, "instructions": instructions}[kind]
    return {way: measure(program, way) for way in BOUNDS[kind]}


def trouble(kind, figure, bound):
    if figure > bound:
        return "  TOO MUCH"
    return "  THE BOUND IS LOOSE: lower it" if figure < LOOSE[kind] * bound else ""


def main(kind, program):
    code = 0
    for what, figure in figures(kind, program).items():
        bound = BOUNDS[kind][what]
        found = trouble(kind, figure, bound)
        code = 1 if found else code
        print(f"{kind} a message, {what}: {figure:,.2f}, at most {bound:,.2f}{found}")
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
