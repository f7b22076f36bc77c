"""Erlang expressions run inside the private broker, in milliseconds where rabbitmqctl, a virtual machine of its own, takes a second.

    erlang("rabbit:stop().")        # what rabbitmqctl stop_app does
"""

import json
import os
import subprocess
import time

CONNECT_SECONDS = 60  # a busy machine may need some for the two to meet


class Failed(Exception):
    """The expression raised, or the broker could not be asked."""


def erlang(expression):
    """The value as text."""
    folder = os.environ["RETRYD_TEST_BROKER_DIR"]
    with open(f"{folder}/broker.json", encoding="ascii") as file:
        amqp, _, epmd = json.load(file)["ports"]
    with open(f"{folder}/home/.erlang.cookie", encoding="ascii") as file:
        cookie = file.read()
    environment = {"PATH": "/usr/bin:/bin", "HOME": f"{folder}/home", "ERL_EPMD_PORT": str(epmd)}
    command = ["erl_call", "-sname", f"retryd-test-{amqp}@localhost", "-c", cookie, "-e"]
    deadline = time.monotonic() + CONNECT_SECONDS
    while True:
        done = subprocess.run(command, env=environment, input=expression + "\n", capture_output=True, text=True, check=False)
        if "failed to connect" not in done.stderr or time.monotonic() > deadline:
            break
    if done.returncode != 0 or not done.stdout.startswith("{ok, "):
        raise Failed(f"{expression}: {done.stdout}{done.stderr}")
    return done.stdout.removeprefix("{ok, ")[:-1]
