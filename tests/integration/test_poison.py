"""A message that takes its consumer, or retryd, down is found and parked; whoever was beside it finishes and pays nothing."""

import pathlib
import subprocess
import threading

from amqp_codec import quorum
from consumer import HANG, Answer
from retryd import die_with_parent, eventually
from stream_case import StreamCase

HERE = pathlib.Path(__file__).resolve().parent
KEYS = "retry: {quick: none, delays: [200ms, 400ms], jitter: 0%, spread: 1}"


class Supervised:
    """A process that is started again whenever it dies, as every orchestrator does."""

    def __init__(self, command):
        self.command = command
        self.ending = threading.Event()
        self.process = None
        self.thread = threading.Thread(target=self.supervise)

    def __enter__(self):
        self.begin()
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.process.kill()
        self.thread.join()

    def begin(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)

    def supervise(self):
        while True:
            self.process.wait()
            if self.ending.wait(0.3):
                return
            self.begin()


class Poison(StreamCase):
    innocents = [f"m{number}" for number in range(15)]

    def send_sixteen(self, poison="die"):
        self.declare_work_queue()
        for body in [*self.innocents[:7], poison, *self.innocents[7:]]:
            self.send(body.encode(), message_id=body)

    def parked_poison(self):
        """Waits for it; checks that it is alone, and says why."""
        copy = self.wait_for_lot("parked", 90)
        self.assertEqual((copy.body, copy.headers["retryd-reason"]), (b"die", "poison"))
        self.assertEqual(copy.headers["retryd-error-type"], "retryd.Poison")
        self.assertIn("delivered alone 2 times, and each time the consumer or retryd died without a reply",
                      copy.headers["retryd-error-message"])
        self.wait_for_nothing_left()
        return copy

    def lines(self):
        return [line.split() for line in self.log.read_text().splitlines()]

    def test_a_consumer_that_one_of_sixteen_kills_finishes_the_fifteen(self):
        self.send_sixteen()
        path = str(self.folder / "app.sock")
        self.entered(Supervised(["/usr/bin/python3", "-B", str(HERE / "fragile_app.py"), path, str(self.log)]))
        daemon = self.retryd(f'queues: {{"@QUEUE@": {{deliver: {{http: "unix:{path}", concurrency: 16}}, {KEYS}}}}}')
        copy = self.parked_poison()
        done = [name for word, name, _ in self.lines() if word == "done"]
        self.assertEqual(sorted(done), sorted(self.innocents))
        self.assertEqual({attempt for _, name, attempt in self.lines() if name != "die"}, {"1"})
        # Two deaths among others, two alone; fewer where it happened to be alone at first.
        self.assertIn([word for word, name, _ in self.lines() if name == "die"].count("begun"), (3, 4))
        self.assertGreaterEqual(copy.headers["retryd-attempts"], 2)
        status, why = daemon.get("/why?id=die")
        self.assertEqual(status, 200)
        self.assertIn("poison", why)

    def test_a_consumer_that_takes_others_while_it_dies_does_not_pull_them_along(self):
        self.send_sixteen("linger")
        path = str(self.folder / "app.sock")
        self.entered(Supervised(["/usr/bin/python3", "-B", str(HERE / "fragile_app.py"), path, str(self.log)]))
        keys = f"{KEYS}, hold: {{delays: [1s, 2s, 5s]}}"
        self.retryd(f'queues: {{"@QUEUE@": {{deliver: {{http: "unix:{path}", concurrency: 2}}, {keys}}}}}')
        self.assertEqual(self.wait_for_lot("parked", 90).body, b"linger")  # its losses alone are attempts of its own
        self.wait_for_nothing_left(60)
        done = {name for word, name, _ in self.lines() if word == "done"}
        self.assertEqual(done, set(self.innocents))
        self.assertEqual({attempt for _, name, attempt in self.lines() if name != "linger"}, {"1"})

    def test_shutdowns_in_the_middle_of_its_trials_make_nobody_poison(self):
        self.declare_work_queue(arguments=quorum())
        app = self.consumer(lambda request: HANG)
        policy = f'queues: {{"@QUEUE@": {{deliver: {{http: "{app.url}"}}, limits: {{suspect_after: 1}}, {KEYS}}}}}'
        daemon = self.retryd(policy, arguments=("--drain", "500ms"))
        for body in (b"a", b"b"):
            self.send(body)
        self.wait_for_requests(app, 2)
        app.stop()  # lost together: both are suspects
        app.start()
        for shutdown in range(4):
            self.wait_for_requests(app, 3 + shutdown)
            self.assertEqual(daemon.stop(), 0)
            self.wait_for_depth(self.own("lane"), 2)
            self.assertEqual(self.wire.depth(self.own("parked")), 0)
            daemon.start()

    def test_a_stream_s_process_that_one_of_sixteen_kills_finishes_the_fifteen(self):
        self.send_sixteen()
        daemon = self.serve_stream(KEYS)
        self.entered(Supervised(["/usr/bin/python3", "-B", str(HERE / "stream_worker.py"), f"unix:{self.path}", str(self.log)]))
        self.parked_poison()
        attempts = {name: attempt for _, name, attempt in self.handed() if name != "die"}
        self.assertEqual(attempts, {name: 1 for name in self.innocents})
        self.assertEqual(daemon.deliveries(self.queue)["success"], 15)

    @staticmethod
    def deaths(app):
        return sum(request.body == b"die" for request in app.requests)

    def kill_at_each_death(self, app, daemon):
        for death in (1, 2, 3, 4, 5):  # two make a suspect, one an accused, two are trials
            eventually(lambda: self.deaths(app) >= death, 60, f"delivery {death} of what kills")
            daemon.kill()
            daemon.start()
        copy = self.wait_for_lot("parked", 60)
        self.assertEqual((copy.body, copy.headers["retryd-reason"]), (b"die", "poison"))
        self.wait_for_nothing_left(60)

    def test_what_kills_retryd_is_parked_and_its_neighbours_finish(self):
        self.declare_work_queue(arguments=quorum())
        app = self.consumer(lambda request: HANG if request.body == b"die" else Answer(200, wait=0.02))
        daemon = self.retryd(f'queues: {{"@QUEUE@": {{deliver: {{http: "{app.url}", concurrency: 16}}, {KEYS}}}}}')
        innocents = {b"%d" % number for number in range(60)}
        for body in [*sorted(innocents)[:30], b"die", *sorted(innocents)[30:]]:
            self.send(body)
        self.kill_at_each_death(app, daemon)
        self.assertEqual(self.deaths(app), 5)
        self.assertEqual({request.body for request in app.requests}, innocents | {b"die"})
        self.assertEqual({request.attempt for request in app.requests}, {1})

    def test_with_a_delivery_limit_of_five_only_the_poison_ends_anywhere_but_at_the_consumer(self):
        rejects = f"rejects.{self.token}"
        self.declare_work_queue(rejects)
        self.declare_work_queue(arguments=quorum(limit=5, dead_letters_to=rejects))
        app = self.consumer(lambda request: HANG if request.body == b"die" else Answer(200, wait=0.05))
        keys = f"prefetch: 20, {KEYS}"
        daemon = self.retryd(f'queues: {{"@QUEUE@": {{deliver: {{http: "{app.url}", concurrency: 20}}, {keys}}}}}')
        innocents = {b"%d" % number for number in range(100)}
        for body in [b"die", *innocents]:
            self.send(body)
        self.kill_at_each_death(app, daemon)  # one more return, and the broker itself would take the innocents away
        self.assertEqual({request.body for request in app.requests}, innocents | {b"die"})
        self.assertEqual({request.attempt for request in app.requests}, {1})
        self.assertEqual(self.wire.depth(rejects), 0)

    def test_a_suspect_in_hand_is_told_of(self):
        self.declare_work_queue(arguments=quorum())
        app = self.consumer(lambda request: HANG)
        daemon = self.retryd(f'queues: {{"@QUEUE@": {{deliver: {{http: "{app.url}", concurrency: 4}}, {KEYS}}}}}')
        for number in range(8):
            self.send(b"%d" % number, message_id=f"id-{number}")
        for _ in (1, 2):
            eventually(lambda: daemon.queue_status(self.queue)["in_hand"] == 8, what="all in hand")
            daemon.kill()
            daemon.start()
        eventually(lambda: daemon.queue_status(self.queue)["suspects"] == 8, what="eight suspects")
        self.assertEqual(daemon.queue_status(self.queue)["in_flight"], 1)  # a quarter of the concurrency
        self.assertIn("8 messages in hand may have taken the consumer or retryd down", daemon.get(f"/why-not?queue={self.queue}")[1])
