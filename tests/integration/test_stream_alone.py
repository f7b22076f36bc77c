"""The client file for Python: four processes share a queue, all of it and fairly. Alone on the broker: who is kept from the
processor by others takes less, as it should."""

import collections

from amqp_codec import encode_properties
from retryd import eventually
from stream_case import StreamCase
from stream_worker import fate_of

MESSAGES = 10_000
PADDING = b"." * 1000
QUORUM = [("x-queue-type", "S", b"\0\0\0\6quorum")]
PLAIN = "retry: {quick: none, delays: [100ms, 200ms, 400ms]}"


class Mixture(StreamCase):
    def test_four_processes_share_ten_thousand_messages_exactly_and_fairly(self):
        self.declare_work_queue(arguments=QUORUM)
        daemon = self.serve_stream(PLAIN)
        for _ in range(4):
            self.worker()
        self.wait_for_sessions(daemon, 4)
        messages = [(encode_properties(delivery_mode=2, message_id=f"m-{n}"), b"%08d" % n + PADDING) for n in range(MESSAGES)]
        self.wire.publish_all(self.queue, messages)
        eventually(lambda: self.wire.depth(self.own("parked")) == 500, 200, "500 parked messages", every=0.3)
        self.wait_for_nothing_left(lots=("parked", "dlq"))
        self.assertEqual(self.stop_workers(), [0] * 4)
        self.check(self.handed())
        self.assertEqual(daemon.deliveries(self.queue), {"success": 9000, "permanent": 500, "transient": 6000})
        self.check_lots()

    def check(self, handed):
        attempts = collections.defaultdict(list)
        for _pid, name, attempt in handed:
            attempts[int(name)].append(attempt)
        expected = {"ok": [1], "twice": [1, 2, 3], "permanent": [1], "always": [1, 2, 3, 4]}
        self.assertEqual({n: sorted(seen) for n, seen in attempts.items()}, {n: expected[fate_of(n)] for n in range(MESSAGES)})
        shares = collections.Counter(pid for pid, _, _ in handed)
        self.assertEqual(len(shares), 4)
        self.assertLessEqual(max(shares.values()), 1.2 * min(shares.values()), shares)

    def check_lots(self):
        for lot, reason, attempts, error in (("parked", "exhausted", 4, "DbTimeout"), ("dlq", "permanent", 1, "Permanent")):
            messages = self.wire.get_all(self.own(lot))
            self.assertEqual(len({message.body for message in messages}), 500)
            told = {tuple(m.headers[f"retryd-{name}"] for name in ("reason", "attempts", "error-type")) for m in messages}
            self.assertEqual(told, {(reason, attempts, error)})
