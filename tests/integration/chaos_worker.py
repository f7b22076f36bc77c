"""chaos_worker ADDRESS LOG: a consumer process of the chaos on the Python client. It writes a line for each message that it was
handed and for each that it has done, and may be killed at any moment.
"""

import json
import os
import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "docs" / "clients" / "python"))

import retryd_consumer as retryd
from chaos_messages import act, changed_over_stream, number_of


class Transient(Exception):
    pass


class Worker:
    def __init__(self, log):
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.throttled = set()

    def write(self, **line):
        os.write(self.log, (json.dumps(line) + "\n").encode())

    def handle(self, message):
        number, began = number_of(message.body), time.monotonic()
        answer, seconds = act(number, message.attempt)
        if answer == "throttled once":
            answer = "success" if number in self.throttled else "throttled"
            self.throttled.add(number)
        self.write(what="delivered", number=number, at=began, attempt=message.attempt, limit=message.max_attempts,
                   key=message.idempotency_key, answer=answer, altered=changed_over_stream(number, message))
        time.sleep(seconds)
        if answer in ("success", "drop"):
            place = {"success": "succeeded", "drop": "dropped"}[answer]
            self.write(what="ended", number=number, place=place, at=time.monotonic(), began=began)
        if answer in RAISED:
            raise RAISED[answer]


RAISED = {"drop": retryd.Drop("as it says"), "permanent": retryd.Permanent("as it says"), "throttled": retryd.Throttled(1),
          "transient": Transient("as it says")}


def main(address, log):
    retryd.logging.disable(retryd.logging.CRITICAL)
    retryd.run(address, Worker(log).handle, concurrency=16)


if __name__ == "__main__":
    main(*sys.argv[1:])
