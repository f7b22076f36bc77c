"""What the kernel says of a process."""

import os

ESTABLISHED = "01"  # as /proc/net/tcp writes it


def resident_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return int(next(line for line in file if line.startswith("VmRSS")).split()[1])


def tcp_states(pid):
    """The states of the TCP sockets that it holds."""
    links = [os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")]
    inodes = {link[8:-1] for link in links if link.startswith("socket:[")}
    with open(f"/proc/{pid}/net/tcp", encoding="ascii") as file:
        rows = [line.split() for line in file.readlines()[1:]]
    return [row[3] for row in rows if row[9] in inodes]
