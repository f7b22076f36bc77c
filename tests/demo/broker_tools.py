"""rabbitmqctl, rabbitmq-plugins and rabbitmqadmin for a private broker, under the names that everybody types."""

import os
import pathlib
import subprocess

BIN = "/usr/lib/rabbitmq/bin"
OF_THE_BROKER = ("PATH", "LANG", "HOME", "ERL_EPMD_", "ERL_INETRC", "RABBITMQ_")  # variables that its tools need too
TCP_CONFIG = 'application:set_env(rabbitmq_management, tcp_config, [{{ip, "127.0.0.1"}}, {{port, {}}}], [{{persistent, true}}]).'


def environment_of(broker_folder):
    """The broker's own environment: its tools then reach it and nothing else."""
    pid = pathlib.Path(broker_folder, "broker.pid").read_text(encoding="ascii").strip()
    entries = pathlib.Path(f"/proc/{pid}/environ").read_text(encoding="utf-8").split("\0")
    variables = dict(entry.split("=", 1) for entry in entries if entry.startswith(OF_THE_BROKER))
    variables.pop("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", None)
    return {**variables, "RABBITMQ_CTL_ERL_ARGS": "+S 1:1 -kernel inet_dist_use_interface {127,0,0,1}"}


def tool(broker_folder, *command):
    environment = environment_of(broker_folder)
    subprocess.run([f"{BIN}/{command[0]}", *command[1:]], env=environment, check=True, capture_output=True, timeout=60)


def start_management(broker_folder, port):
    """On loopback, at that port."""
    tool(broker_folder, "rabbitmqctl", "eval", TCP_CONFIG.format(port))
    tool(broker_folder, "rabbitmq-plugins", "enable", "rabbitmq_management")


def install(folder, broker_folder, management_port):
    """Scripts in `folder`, to be put first in PATH."""
    variables = " ".join(f"'{name}={value}'" for name, value in environment_of(broker_folder).items())
    scripts = {name: f"exec env -i {variables} {BIN}/{name}" for name in ("rabbitmqctl", "rabbitmq-plugins")}
    scripts["rabbitmqadmin"] = f"exec /usr/bin/rabbitmqadmin --host 127.0.0.1 --port {management_port}"
    for name, command in scripts.items():
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\n{command} "$@"\n')
        os.chmod(path, 0o755)
