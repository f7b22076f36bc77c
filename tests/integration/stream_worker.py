"""stream_worker ADDRESS LOG: a consumer process on the Python client, which writes a line for each message that it was handed.

What it does with a message stands in the body: the mixture's numbers, or a word.
"""

import asyncio
import os
import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "docs" / "clients" / "python"))

import retryd_consumer as retryd


class DbTimeout(Exception):
    pass


class Speechless(Exception):
    def __str__(self):
        raise self


ODD = {"exits": SystemExit, "interrupted": KeyboardInterrupt, "cancelled": asyncio.CancelledError, "speechless": Speechless}


def fate_of(number):
    """As in the mixture over HTTP: 70 % succeed, 20 % fail twice and then succeed, 5 % are permanent, 5 % always fail."""
    return ["ok", "twice", "permanent", "always"][(number % 20 >= 14) + (number % 20 >= 18) + (number % 20 >= 19)]


def act(message, word):
    if word == "sleep":
        time.sleep(float(message.headers["seconds"]))
    if word == "extend":
        message.extend(10)
        time.sleep(float(message.headers["seconds"]))
    if word == "die":
        time.sleep(0.1)
        os._exit(1)
    if word.startswith("m"):
        time.sleep(0.3)
    if word == "drop":
        raise retryd.Drop("seen before")
    if word == "throttled":
        raise retryd.Throttled(3600, "come back later", dependency="payments")
    if word == "permanent":
        raise retryd.Permanent("no such article")
    if word == "in a while":
        raise retryd.Throttled("3600")  # as a Retry-After is read
    if word in ODD:
        raise ODD[word]
    if word == "always" or (word == "twice" and message.attempt < 3):
        raise DbTimeout("no answer")


def main(address, log):
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def handle(message):
        name = message.body[:9].decode().rstrip(".")
        os.write(file, f"{os.getpid()} {name} {message.attempt}\n".encode())
        if name == "later":
            return asyncio.sleep(0)  # as an async handler does
        return act(message, fate_of(int(name)) if name.isdigit() else message.body.decode())

    retryd.logging.disable(retryd.logging.CRITICAL)
    retryd.run(address, handler=handle, concurrency=16)


if __name__ == "__main__":
    main(*sys.argv[1:])
