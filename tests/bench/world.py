"""Where a comparison takes place: the private broker, queues of known names, and daemons between them and a consumer."""

import array
import contextlib
import os
import pathlib
import tempfile

from amqp_codec import text
from amqp_wire import Wire
from programs import finished, run_program, start_program
from retryd import Retryd, eventually

QUORUM = [text("x-queue-type", "quorum")]
SIZE = 1024  # bytes of a usual body


class World:
    def __init__(self):
        self.amqp = os.environ["RETRYD_TEST_AMQP"]
        self.broker = int(pathlib.Path(os.environ["RETRYD_TEST_BROKER_DIR"], "broker.pid").read_text(encoding="ascii"))
        self.wire = Wire()
        self.exit = contextlib.ExitStack()
        self.folder = self.exit.enter_context(tempfile.TemporaryDirectory(prefix="retryd-bench-"))

    def close(self):
        self.exit.close()
        self.wire.close()

    # --- queues

    def declare(self, queue, arguments=()):
        self.wire.declare(queue, [*QUORUM, *arguments])
        return queue

    def delete(self, *queues):
        for queue in queues:
            self.wire.delete(queue)

    def fill(self, queue, count, size=SIZE):
        run_program("publish", amqp=self.amqp, queues=queue, count=count, size=size)

    def wait_for_consumer(self, queue):
        eventually(lambda: self.wire.declare(queue, passive=True)[1] > 0, 30, f"a consumer of {queue}")

    def must_be_empty(self, queue):
        """What was counted as handled is gone, else the run measured something else."""
        left = self.wire.depth(queue)
        if left:
            raise RuntimeError(f"{left} messages are left in {queue}")

    # --- daemons

    @contextlib.contextmanager
    def daemon(self, queues, wait_ready=True):
        """A running retryd; `queues`: the lines of the policy below that key. Stopped politely, so that every ack is sent."""
        daemon = Retryd("queues:\n" + queues)
        try:
            yield daemon.start(wait_ready)
            daemon.stop()
        finally:
            daemon.end()

    @contextlib.contextmanager
    def behind_retryd(self, queue, client, keys="", deliver="", **options):
        """The consumer `client` with a daemon between it and the queue; `keys`, `deliver`: more keys of the queue and of its
        delivery. A function that waits for what the client measured: as by_name() has it, with "retryd" and "broker"."""
        socket = f"{self.folder}/{client}.sock"
        field = {"stream_client": "stream", "http_server": "http"}[client]
        with self.daemon(f'  "{queue}": {{deliver: {{{field}: "unix:{socket}"{deliver}}}{keys}}}\n') as daemon:
            watched = {"retryd": daemon.pid, "broker": self.broker}
            process = start_program(client, socket=socket, watch=",".join(map(str, watched.values())), **options)
            yield lambda: by_name(finished(process), watched)

    def through_retryd(self, queue, client, keys="", deliver="", **options):
        """The same for a queue that is full already."""
        with self.behind_retryd(queue, client, keys, deliver, **options) as measured:
            result = measured()
        self.must_be_empty(queue)
        return result

    def bare(self, program, **options):
        """A program that talks to the broker itself."""
        return by_name(run_program(program, amqp=self.amqp, watch=self.broker, **options), {"broker": self.broker})


def records_in(path):
    """(number, bytes, nanoseconds) of each message that a client noted."""
    numbers = array.array("q", pathlib.Path(path).read_bytes())
    return list(zip(*[iter(numbers)] * 3))


def by_name(measured, watched):
    """Rate and processor time a message: {"rate": 70000.0, "self": 3.1, "broker": 13.4}, microseconds."""
    cpu = {name: measured["cpu"][str(pid)] for name, pid in watched.items()} | {"self": measured["cpu"]["self"]}
    return {"rate": measured["count"] / measured["seconds"], **{name: 1e6 * spent / measured["count"] for name, spent in cpu.items()}}
