"""A small AMQP 0-9-1 client that speaks frames and hides nothing: what is published and got are the bytes themselves.

One connection, one channel, one thread, blocking. A channel that the broker closes raises ChannelClosed and is opened again.
Publishing waits for the broker's confirm.
"""

import struct
from collections import deque
from dataclasses import dataclass

from amqp_codec import decode_properties, encode_properties, encode_table, plain_table, read_short, short_string
from amqp_connection import BODY, HEADER, METHOD, ChannelClosed, Connection, ConnectionClosed

__all__ = ["ChannelClosed", "ConnectionClosed", "Message", "Nacked", "Returned", "Wire"]

BASIC = 60
PERSISTENT = encode_properties(delivery_mode=2)


class Returned(Exception):
    """A mandatory message that no queue took."""


class Nacked(Exception):
    """The broker refused to take responsibility for a message."""


@dataclass
class Message:
    """What basic.get or a consumer received. `properties` are the bytes as they came."""

    tag: int
    redelivered: bool
    exchange: str
    key: str
    properties: bytes
    body: bytes
    left: int = 0  # messages behind it in the queue; basic.get only

    def value_of(self, name, default=None):
        return decode_properties(self.properties).get(name, default)

    @property
    def table(self):
        """The header table, entry by entry: (name, letter, raw)."""
        return self.value_of("headers", [])

    @property
    def headers(self):
        """The header table as a dict of Python values."""
        return plain_table(self.table)


class Wire(Connection):
    """A connection whose channel confirms what is published."""

    def open_channel(self):
        self.deliveries = deque()
        self.published, self.confirmed_up_to = 0, 0
        self.confirmed_early = set()  # above confirmed_up_to
        self.refused, self.returned = [], []
        super().open_channel()
        self.call(85, 10, b"\0", 11)  # confirm.select

    def wait_for(self, *wanted):
        """Takes deliveries, confirms and returns as they come, until one of the wanted methods is there."""
        while True:
            method, arguments = self.next_method()
            if method == (60, 60):
                self.deliveries.append(self.read_delivery(arguments))
            elif method in ((60, 80), (60, 120)):
                self.take_confirm(method, arguments)
            elif method == (60, 50):
                self.returned.append(self.read_content()[1])
            elif method not in wanted:
                raise AssertionError(f"unexpected method {method}")
            if method in wanted:
                return method, arguments

    def call(self, class_id, method_id, arguments, answer):
        self.send(class_id, method_id, arguments)
        return self.wait_for((class_id, answer))[1]

    # --- queues and exchanges

    def declare(self, queue, arguments=(), passive=False, durable=True, exclusive=False):
        """Returns (messages, consumers)."""
        bits = passive | durable << 1 | exclusive << 2
        answer = self.call(50, 10, b"\0\0" + short_string(queue) + bytes([bits]) + encode_table(arguments), 11)
        return struct.unpack_from(">II", answer, read_short(answer, 0)[1])

    def depth(self, queue):
        """Messages ready in the queue; nothing when there is no such queue."""
        try:
            return self.declare(queue, passive=True)[0]
        except ChannelClosed as closed:
            if closed.code != 404:
                raise
            return None

    def purge(self, queue):
        return struct.unpack(">I", self.call(50, 30, b"\0\0" + short_string(queue) + b"\0", 31))[0]

    def delete(self, queue):
        return struct.unpack(">I", self.call(50, 40, b"\0\0" + short_string(queue) + b"\0", 41))[0]

    def bind(self, queue, exchange, key="", arguments=()):
        names = short_string(queue) + short_string(exchange) + short_string(key)
        self.call(50, 20, b"\0\0" + names + b"\0" + encode_table(arguments), 21)

    def declare_exchange(self, exchange, kind="direct", durable=True, arguments=()):
        names = short_string(exchange) + short_string(kind)
        self.call(40, 10, b"\0\0" + names + bytes([durable << 1]) + encode_table(arguments), 11)

    def delete_exchange(self, exchange):
        self.call(40, 20, b"\0\0" + short_string(exchange) + b"\0", 21)

    # --- publishing

    def publish(self, queue, body, properties=PERSISTENT, exchange="", mandatory=True):
        """Publishes one message and waits until the broker has it. `queue` is the routing key."""
        self.publish_all(queue, [(properties, body)], exchange, mandatory)

    def publish_all(self, queue, messages, exchange="", mandatory=True):
        """Publishes (properties, body) pairs and waits for all confirms."""
        method = struct.pack(">HHH", BASIC, 40, 0) + short_string(exchange) + short_string(queue) + bytes([mandatory])
        buffer = bytearray()
        for properties, body in messages:
            buffer += self.content_frames(method, properties, body)
            self.published += 1
            if len(buffer) > 1 << 16:
                self.socket.sendall(buffer)
                buffer.clear()
        self.socket.sendall(buffer)
        while self.confirmed_up_to < self.published:
            self.wait_for((60, 80), (60, 120))
        refused, returned, self.refused, self.returned = self.refused, self.returned, [], []
        if returned:
            raise Returned(f"{len(returned)} of {len(messages)}")
        if refused:
            raise Nacked(f"{len(refused)} of {len(messages)}")

    def content_frames(self, method, properties, body):
        header = struct.pack(">HHQ", BASIC, 0, len(body)) + properties
        frames = [self.frame(METHOD, 1, method), self.frame(HEADER, 1, header)]
        step = self.frame_max - 8
        frames += (self.frame(BODY, 1, body[at : at + step]) for at in range(0, len(body), step))
        return b"".join(frames)

    def take_confirm(self, method, arguments):
        """Counts: every publish is confirmed once, singly or as `multiple`."""
        tag, bits = struct.unpack(">QB", arguments)
        tags = range(self.confirmed_up_to + 1, tag + 1) if bits & 1 else [tag]
        self.confirmed_early.update(tags)
        if method == (60, 120):
            self.refused.extend(tags)
        while self.confirmed_up_to + 1 in self.confirmed_early:
            self.confirmed_up_to += 1
            self.confirmed_early.discard(self.confirmed_up_to)

    # --- receiving

    def read_content(self):
        kind, _, payload = self.read_frame()
        assert kind == HEADER
        size = struct.unpack_from(">HHQ", payload)[2]
        body = bytearray()
        while len(body) < size:
            kind, _, part = self.read_frame()
            assert kind == BODY
            body += part
        return payload[12:], bytes(body)

    def read_delivery(self, arguments):
        at = read_short(arguments, 0)[1]
        return self.read_message(arguments[at:])[0]

    def read_message(self, arguments):
        """From the delivery tag on: common to basic.deliver and basic.get-ok."""
        tag, redelivered = struct.unpack_from(">QB", arguments)
        exchange, at = read_short(arguments, 9)
        key, at = read_short(arguments, at)
        properties, body = self.read_content()
        return Message(tag, bool(redelivered), exchange, key, properties, body), arguments[at:]

    def get(self, queue, ack=True):
        """The first message of the queue, or nothing. With ack=False it stays unacked until ack, nack or close."""
        self.send(60, 70, b"\0\0" + short_string(queue) + bytes([ack]))
        method, arguments = self.wait_for((60, 71), (60, 72))
        if method == (60, 72):
            return None
        message, rest = self.read_message(arguments)
        message.left = struct.unpack(">I", rest)[0]
        return message

    def get_all(self, queue):
        messages = []
        while (message := self.get(queue)) is not None:
            messages.append(message)
        return messages

    def peek_all(self, queue):
        """All messages of the queue, which keeps them: got unacked, then handed back."""
        messages = []
        while (message := self.get(queue, ack=False)) is not None:
            messages.append(message)
        if messages:
            self.nack(messages[-1].tag, multiple=True)
        return messages

    def consume(self, queue, prefetch=100):
        self.call(60, 10, struct.pack(">IHB", 0, prefetch, 0), 11)
        answer = self.call(60, 20, b"\0\0" + short_string(queue) + short_string("") + b"\0" + encode_table([]), 21)
        return read_short(answer, 0)[0]

    def next_delivery(self, timeout=10):
        """The next message of any consumer; socket.timeout when none comes."""
        self.socket.settimeout(timeout)
        while not self.deliveries:
            self.wait_for((60, 60))
        self.socket.settimeout(30)
        return self.deliveries.popleft()

    def ack(self, tag, multiple=False):
        self.send(60, 80, struct.pack(">QB", tag, multiple))

    def nack(self, tag, multiple=False, requeue=True):
        self.send(60, 120, struct.pack(">QB", tag, multiple | requeue << 1))
