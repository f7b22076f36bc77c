"""What can be done to the private broker: settings, alarms, a process that is frozen or killed. Each lasts as long as its context."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess

from integration_case import PRIVATE_BROKER, rabbitmqctl


@contextlib.contextmanager
def broker_setting(name, value):
    """A number among the broker's settings, for what connects from now on."""
    before = re.sub(r"\D", "", rabbitmqctl("eval", f"application:get_env(rabbit,{name})."))
    rabbitmqctl("eval", f"application:set_env(rabbit,{name},{value}), persistent_term:put({name},{value}).")
    try:
        yield
    finally:
        rabbitmqctl("eval", f"application:set_env(rabbit,{name},{before}), persistent_term:put({name},{before}).")


@contextlib.contextmanager
def memory_alarm():
    rabbitmqctl("set_vm_memory_high_watermark", "0.00001")
    try:
        yield
    finally:
        rabbitmqctl("set_vm_memory_high_watermark", "0.4")


@contextlib.contextmanager
def disk_alarm():
    rabbitmqctl("set_disk_free_limit", "1000000GB")
    try:
        yield
    finally:
        rabbitmqctl("set_disk_free_limit", "50MB")


@contextlib.contextmanager
def frozen_broker():
    """Its process does not run, its sockets stay. Nobody can be asked for anything meanwhile, rabbitmqctl neither."""
    pid = int(pathlib.Path(os.environ["RETRYD_TEST_BROKER_DIR"], "broker.pid").read_text(encoding="ascii"))
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def queues_without_leader():
    """Quorum queues that the broker has started and not made work: RabbitMQ 3.10 leaves one so now and then after a kill."""
    queues = rabbitmqctl("eval", '[io:format("~s~n", [Name]) || {Name, State} <- ets:tab2list(ra_state), State =/= leader].')
    return [line for line in queues.splitlines() if line.startswith("%2F_")]


def restart_broker():
    """As an operator does it; every connection is gone then."""
    rabbitmqctl("stop_app")
    rabbitmqctl("start_app")


def crash_broker():
    """kill -9, and a new start on what it has left; every connection is gone then."""
    subprocess.run([PRIVATE_BROKER, "crash", os.environ["RETRYD_TEST_BROKER_DIR"]], check=True, capture_output=True, timeout=180)
