"""A hundred work queues, and policies that serve some of them by HTTP over one Unix socket."""

import contextlib

from programs import start_program
from retryd import eventually

COUNT = 100


def declared(world, count=COUNT):
    """Two daemons may serve the same ones."""
    return [world.declare(f"bench.many.{number:03}") for number in range(count)]


def policy(queues, socket):
    return "".join(f'  "{queue}": {{deliver: {{http: "unix:{socket}"}}}}\n' for queue in queues)


@contextlib.contextmanager
def consumer(socket):
    """Is there for all of them."""
    process = start_program("http_server", socket=socket, count=1)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def wait_for_flow(daemon):
    """Every queue is subscribed."""
    eventually(lambda: daemon.answers("/flowz"), 60, "/flowz 200")
