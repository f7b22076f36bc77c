"""A consumer on the stream, spoken by hand: every frame is written and read by the test."""

import json
import socket
import struct


def frame(header, body=b""):
    data = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack(">II", len(data), len(body)) + data + body


class StreamPeer:
    def __init__(self, path, credit=None, timeout=15):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.socket.connect(path)
        self.body = b""
        if credit is not None:
            self.say(op="hello", protocol=1, credit=credit)
            self.welcome = self.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def say(self, **header):
        self.socket.sendall(frame(header))

    def send_raw(self, data):
        self.socket.sendall(data)

    def reply(self, message, outcome="success", credit=1, **more):
        self.say(op="reply", id=message["id"], outcome=outcome, credit=credit, **more)

    def read(self):
        """The next frame's header, `body` set beside it; None at the end of the session."""
        lengths = self.exactly(8)
        if lengths is None:
            return None
        header, body = struct.unpack(">II", lengths)
        header = json.loads(self.exactly(header))
        self.body = self.exactly(body)
        return header

    def message(self):
        """The next message; pings are answered on the way."""
        while (header := self.read())["op"] == "ping":
            self.say(op="pong")
        assert header["op"] == "message", header
        return header

    def silent_for(self, seconds):
        """True when nothing comes."""
        self.socket.settimeout(seconds)
        try:
            return self.socket.recv(1, socket.MSG_PEEK) is None
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(15)

    def exactly(self, size):
        data = bytearray()
        while len(data) < size:
            try:
                part = self.socket.recv(size - len(data))
            except ConnectionResetError:
                part = b""
            if not part:
                return None
            data += part
        return bytes(data)
