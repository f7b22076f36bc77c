"""How many system calls a running retryd makes on its sockets for one message, while a consumer on the stream answers 64 at once."""

import os
import pathlib
import tempfile

from amqp_codec import encode_properties, quorum
from amqp_wire import Wire
from retryd import Retryd
from stream_peer import StreamPeer, frame

BURST = 64
MESSAGES = 64 * BURST
POLICY = 'queues: {"%s": {deliver: {stream: "unix:@DIR@/guard.sock", concurrency: 256, slow_start: none}, prefetch: 256}}'


def calls(shim):
    """{"sends": …, "receives": …, "waits": …}"""
    queue = f"guard.{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder, Wire() as wire:
        file = pathlib.Path(folder, "calls")
        wire.declare(queue, quorum())
        wire.publish_all(queue, [(encode_properties(delivery_mode=2, message_id=f"m-{n}"), b"x" * 1024) for n in range(MESSAGES)])
        daemon = Retryd(POLICY % queue, wrapper=["env", f"LD_PRELOAD={shim}", f"RETRYD_CALLS={file}"])
        try:
            daemon.start()
            answer_all(f"{daemon.folder}/guard.sock")
            daemon.stop()
        finally:
            daemon.end()
        if wire.depth(queue) != 0:
            raise RuntimeError("messages are left")
        for name in (queue, *(f"retryd.{queue}.{kind}" for kind in ("lane", "parked", "dlq"))):
            wire.delete(name)
        return {name: int(count) / MESSAGES for name, count in map(str.split, file.read_text(encoding="ascii").splitlines())}


def answer_all(path):
    with StreamPeer(path, credit=BURST) as peer:
        for _ in range(MESSAGES // BURST):
            ids = [peer.message()["id"] for _ in range(BURST)]
            replies = [frame({"op": "reply", "id": each, "outcome": "success", "credit": 1}) for each in ids]
            peer.send_raw(b"".join(replies))
        peer.say(op="leave")
        while peer.read() is not None:
            pass
