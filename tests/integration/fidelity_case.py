"""What the tests of fidelity share: a daemon whose retries are short and exact, and the original read out of one of its copies."""

import json

from amqp_codec import decode_properties, decode_table
from integration_case import IntegrationCase
from retryd import eventually

POLICY = """
log: {level: debug, format: json}
queues:
  "@QUEUE@":
    deliver: {http: "%s", timeout: 60s}
    retry: {quick: none, delays: %s, jitter: 0%%, spread: 1, queue_type: %s}
    %s
"""
TWICE = "[100ms, 200ms]"
ONCE = "[100ms]"
EXPLAINED = ("retryd-", "x-death", "x-first-death-", "x-delivery-count")  # headers of ours, and of the broker's hop, on a copy


def failing(times):
    """A reply: each body fails so many times, then succeeds."""
    return lambda request: 503 if request.seen < times else 200


def always_fails(_request):
    return 503


def noted_entries(copy):
    """What a copy says was set aside: (name, letter, raw), as written."""
    tables = [raw for name, _, raw in copy.table if name == b"retryd-original"]
    return decode_table(tables[0])


def noted_in(copy):
    """The same by name: {name: (letter, raw)}."""
    return {name.decode(): (letter, raw) for name, letter, raw in noted_entries(copy)}


def original_headers(copy):
    """The header table of the original, sorted (the broker sorts it on a hop); nothing where it had none."""
    if "headers" not in noted_in(copy):
        return None
    in_place = [entry for entry in copy.table if not entry[0].decode(errors="replace").startswith(EXPLAINED)]
    moved = [entry for entry in noted_entries(copy) if entry[0] in (b"CC", b"BCC") or entry[0].startswith((b"x-", b"retryd-"))]
    return sorted(in_place + moved)


def other_properties(properties):
    """All but the header table."""
    values = decode_properties(properties)
    values.pop("headers", None)
    return values


def shown(request, prefix="amqp-"):
    """What the consumer was told of the message itself."""
    return {name: value for name, value in request.headers.items() if name.startswith(prefix)}


class FidelityCase(IntegrationCase):
    def daemon(self, app, delays=TWICE, queue_type="quorum", more="", amqp=None):
        return self.retryd(POLICY % (app.url, delays, queue_type, more), amqp)

    def wait_for_requests(self, app, count, timeout=15):
        eventually(lambda: len(app.requests) >= count, timeout, f"{count} requests")
        self.assertEqual(len(app.requests), count)

    def wait_until_settled(self, daemon, timeout=15):
        """Nothing in hand, nothing waiting in the work queue."""
        def settled():
            return daemon.queue_status(self.queue)["in_hand"] == 0 and self.wire.depth(self.queue) == 0

        eventually(settled, timeout, "an empty hand")

    def events(self, daemon):
        """The log's lines, each of which must be JSON in UTF-8."""
        with open(f"{daemon.folder}/log", encoding="utf-8", errors="strict") as file:
            return [json.loads(line) for line in file]

    def assert_quiet_links(self, daemon):
        """No channel and no connection was lost."""
        log = daemon.log()
        for trouble in ("link_down", "channel_closed", "confirm_late"):
            self.assertNotIn(trouble, log)

    def park(self, properties, body=b"body", attempts=3, within=15):
        """Publishes to a consumer that always fails; the parked copy, the requests, and the daemon."""
        self.declare_work_queue()
        app = self.consumer(always_fails)
        daemon = self.daemon(app)
        self.wire.publish(self.queue, body, properties)
        copy = self.wait_for_lot("parked", within)
        self.assertEqual([request.attempt for request in app.requests], list(range(1, attempts + 1)))
        self.assertEqual(copy.body, body)
        self.wait_until_settled(daemon)
        self.assert_quiet_links(daemon)
        return copy, app.requests, daemon
