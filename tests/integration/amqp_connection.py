"""The lower half of amqp_wire: a socket to the broker, frames, methods, logging in and out."""

import os
import socket
import struct
import urllib.parse

from amqp_codec import encode_table, long_string, read_short, short_string

METHOD, HEADER, BODY, HEARTBEAT = 1, 2, 3, 8


class ConnectionClosed(Exception):
    """The broker said connection.close, or the socket ended."""


class ChannelClosed(Exception):
    """The broker said channel.close."""

    def __init__(self, code, text):
        super().__init__(f"{code} {text}")
        self.code = code


class Connection:
    """Logged in, with channel 1 open as open_channel() leaves it. Whatever the broker closes raises."""

    def __init__(self, url=None, timeout=30):
        self.url = url or os.environ["RETRYD_TEST_AMQP"]
        parts = urllib.parse.urlsplit(self.url)
        self.socket = socket.create_connection((parts.hostname, parts.port or 5672), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.incoming = bytearray()
        try:
            self.log_in(parts)
            self.open_channel()
        except BaseException:
            self.socket.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # --- frames

    def send_frame(self, kind, channel, payload):
        self.socket.sendall(self.frame(kind, channel, payload))

    @staticmethod
    def frame(kind, channel, payload):
        return struct.pack(">BHI", kind, channel, len(payload)) + payload + b"\xce"

    def read_exactly(self, count):
        while len(self.incoming) < count:
            data = self.socket.recv(1 << 18)
            if not data:
                raise ConnectionClosed("the broker closed the socket")
            self.incoming += data
        data = bytes(self.incoming[:count])
        del self.incoming[:count]
        return data

    def read_frame(self):
        kind, channel, size = struct.unpack(">BHI", self.read_exactly(7))
        payload = self.read_exactly(size + 1)
        assert payload[-1] == 0xCE, "a frame without its end"
        return kind, channel, payload[:-1]

    # --- methods

    def send(self, class_id, method_id, arguments=b"", channel=1):
        self.send_frame(METHOD, channel, struct.pack(">HH", class_id, method_id) + arguments)

    def next_method(self):
        """The next method frame's (class, method) and arguments; closings raise."""
        while True:
            kind, channel, payload = self.read_frame()
            if kind == HEARTBEAT:
                continue
            assert kind == METHOD, f"a frame of type {kind} outside a message"
            method = struct.unpack_from(">HH", payload)
            arguments = payload[4:]
            if method == (10, 50):
                self.send(10, 51, channel=0)
                raise ConnectionClosed(self.closing_text(arguments))
            if method == (20, 40):
                self.send(20, 41, channel=channel)
                code = struct.unpack_from(">H", arguments)[0]
                text = read_short(arguments, 2)[0]
                self.open_channel()
                raise ChannelClosed(code, text)
            return method, arguments

    @staticmethod
    def closing_text(arguments):
        return f"{struct.unpack_from('>H', arguments)[0]} {read_short(arguments, 2)[0]}"

    # --- logging in and out

    def log_in(self, parts):
        self.socket.sendall(b"AMQP\0\0\x09\x01")
        assert self.next_method()[0] == (10, 10)
        user, password = urllib.parse.unquote(parts.username or "guest"), urllib.parse.unquote(parts.password or "guest")
        login = f"\0{user}\0{password}"
        self.send(10, 11, encode_table([]) + short_string("PLAIN") + long_string(login) + short_string("en_US"), channel=0)
        method, arguments = self.next_method()
        assert method == (10, 30)
        self.frame_max = struct.unpack_from(">HI", arguments)[1] or 131072
        self.send(10, 31, struct.pack(">HIH", 2047, self.frame_max, 0), channel=0)  # no heartbeats
        vhost = urllib.parse.unquote(parts.path[1:]) or "/"
        self.send(10, 40, short_string(vhost) + b"\0\0", channel=0)
        assert self.next_method()[0] == (10, 41)

    def open_channel(self):
        """What a channel needs beyond channel.open is for the upper half to say."""
        self.send(20, 10, short_string(""))
        assert self.next_method()[0] == (20, 11)

    def close(self):
        """Politely where that still works; the broker keeps the socket after its close-ok."""
        try:
            self.socket.settimeout(2)
            self.send(10, 50, struct.pack(">H", 200) + short_string("") + b"\0\0\0\0", channel=0)
            while self.read_frame() != (METHOD, 0, struct.pack(">HH", 10, 51)):
                pass
        except (OSError, ConnectionClosed):
            pass
        self.socket.close()
