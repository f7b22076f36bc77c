"""AMQP 0-9-1 values as bytes: header tables entry by entry with their type letters, and property lists.

A table is a list of (name, letter, raw): `raw` is exactly what follows the letter on the wire, so that two tables are equal
only when every byte is. Names and short strings are bytes.
"""

import struct

PROPERTIES = (  # in the order of their flag bits, from bit 15 down; "s" short string, "t" table, "o" octet, "T" timestamp
    ("content_type", "s"), ("content_encoding", "s"), ("headers", "t"), ("delivery_mode", "o"), ("priority", "o"),
    ("correlation_id", "s"), ("reply_to", "s"), ("expiration", "s"), ("message_id", "s"), ("timestamp", "T"), ("type", "s"),
    ("user_id", "s"), ("app_id", "s"), ("cluster_id", "s"),
)
FIXED_SIZES = {"t": 1, "b": 1, "B": 1, "s": 2, "U": 2, "u": 2, "I": 4, "i": 4, "l": 8, "L": 8, "f": 4, "d": 8, "D": 5, "T": 8, "V": 0}
NUMBERS = {"b": ">b", "B": ">B", "s": ">h", "u": ">H", "I": ">i", "i": ">I", "l": ">q", "f": ">f", "d": ">d", "T": ">Q"}


def as_bytes(text):
    return text if isinstance(text, bytes) else text.encode()


def short_string(text):
    data = as_bytes(text)
    return bytes([len(data)]) + data


def read_short(data, at):
    """A short string as text, and where it ends."""
    end = at + 1 + data[at]
    return data[at + 1 : end].decode(errors="replace"), end


def long_string(text):
    data = as_bytes(text)
    return struct.pack(">I", len(data)) + data


# --- tables


def text(name, value):
    return as_bytes(name), "S", long_string(value)


def number(name, value, letter="l"):
    return as_bytes(name), letter, struct.pack(NUMBERS[letter], value)


def boolean(name, value):
    return as_bytes(name), "t", bytes([value])


def table(name, entries):
    return as_bytes(name), "F", encode_table(entries)


def array(name, values):
    """`values`: entries whose names are not written."""
    data = b"".join(letter.encode() + raw for _, letter, raw in values)
    return as_bytes(name), "A", struct.pack(">I", len(data)) + data


def encode_table(entries):
    data = b"".join(short_string(name) + letter.encode() + raw for name, letter, raw in entries)
    return struct.pack(">I", len(data)) + data


def value_end(data, letter, at):
    if letter in FIXED_SIZES:
        return at + FIXED_SIZES[letter]
    if letter in "SxAF":
        return at + 4 + struct.unpack_from(">I", data, at)[0]
    raise ValueError(f"no AMQP type letter: {letter!r}")


def decode_table(data):
    """`data` with its length in front."""
    (length,) = struct.unpack_from(">I", data)
    entries, at = [], 4
    while at < 4 + length:
        name = data[at + 1 : at + 1 + data[at]]
        at += 1 + len(name)
        letter = chr(data[at])
        end = value_end(data, letter, at + 1)
        entries.append((name, letter, data[at + 1 : end]))
        at = end
    return entries


def decode_array(data):
    values, at = [], 4
    while at < len(data):
        letter = chr(data[at])
        end = value_end(data, letter, at + 1)
        values.append(plain(letter, data[at + 1 : end]))
        at = end
    return values


def plain(letter, raw):
    """A Python value for reading: text, number, bool, bytes, dict, list, None."""
    if letter == "S":
        return raw[4:].decode(errors="replace")
    if letter == "x":
        return raw[4:]
    if letter == "t":
        return raw != b"\0"
    if letter == "F":
        return plain_table(decode_table(raw))
    if letter == "A":
        return decode_array(raw)
    if letter in NUMBERS:
        return struct.unpack(NUMBERS[letter], raw)[0]
    return None if letter == "V" else raw


def plain_table(entries):
    return {name.decode(errors="replace"): plain(letter, raw) for name, letter, raw in entries}


# --- properties

ENCODERS = {"s": short_string, "t": encode_table, "o": lambda value: bytes([value]), "T": lambda value: struct.pack(">Q", value)}


def encode_properties(**values):
    """The property bytes as they stand in a content header: flags, then the values. `headers` is a table."""
    flags, data = 0, b""
    for bit, (name, kind) in enumerate(PROPERTIES):
        if values.get(name) is not None:
            flags |= 1 << (15 - bit)
            data += ENCODERS[kind](values[name])
    unknown = values.keys() - {name for name, _ in PROPERTIES}
    assert not unknown, unknown
    return struct.pack(">H", flags) + data


def decode_properties(data):
    """Only what is present, as given to encode_properties; short strings as bytes."""
    (flags,) = struct.unpack_from(">H", data)
    values, at = {}, 2
    for bit, (name, kind) in enumerate(PROPERTIES):
        if not flags >> (15 - bit) & 1:
            continue
        if kind == "s":
            end = at + 1 + data[at]
            values[name] = data[at + 1 : end]
        elif kind == "t":
            end = at + 4 + struct.unpack_from(">I", data, at)[0]
            values[name] = decode_table(data[at:end])
        elif kind == "o":
            end = at + 1
            values[name] = data[at]
        else:
            end = at + 8
            values[name] = struct.unpack_from(">Q", data, at)[0]
        at = end
    assert at == len(data), "bytes after the last property"
    return values


def quorum(**limits):
    """Arguments of a quorum queue; `dead_letters_to` names a queue."""
    arguments = [text("x-queue-type", "quorum")]
    if "limit" in limits:
        arguments.append(number("x-delivery-limit", limits["limit"]))
    if "dead_letters_to" in limits:
        arguments += [text("x-dead-letter-exchange", ""),
                      text("x-dead-letter-routing-key", limits["dead_letters_to"])]
    return arguments
