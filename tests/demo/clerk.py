"""clerk ADDRESS JOURNAL: one process of the demo's shop, on the Python client. Each order says how the shop fares with it."""

import json
import os
import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "docs" / "clients" / "python"))

import retryd_consumer as retryd  # noqa: E402


class UnknownArticle(retryd.Permanent):
    pass


class StockDbTimeout(Exception):
    pass


class CarrierDown(Exception):
    pass


ERRORS = {error.__name__: error for error in (UnknownArticle, StockDbTimeout, CarrierDown)}


def main(address, journal):
    file = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def handle(message):
        order = json.loads(message.body)
        time.sleep(order["takes"])
        fails = message.attempt <= order["failures"]
        os.write(file, f"{'failed' if fails else 'done'}\t{order['fate']}\n".encode())
        if fails:
            raise ERRORS[order["error"]["type"]](order["error"]["message"])

    retryd.run(address, handle, concurrency=8)


if __name__ == "__main__":
    main(*sys.argv[1:])
