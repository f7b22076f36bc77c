"""Nobody there, or nobody who can be reached: a state of the queue, never an attempt of a message."""

import contextlib
import os
import shutil
import socket
import threading

from consumer import Answer
from faulty_case import POLICY, FaultyConsumer
from retryd import Retryd


class Absence(FaultyConsumer):
    """Nobody there: the queue waits, no attempt is spent, nothing is parked."""

    def check_absent_then_there(self, app):
        bodies = {b"%d" % n for n in range(20)}
        self.publish(*bodies)
        daemon = self.daemon_for(app)
        self.wait_for_cause(daemon, "consumer-away")
        self.assert_no_busy_loop(daemon)
        self.assertEqual((503, 200, 200), tuple(daemon.get(page)[0] for page in ("/flowz", "/readyz", "/livez")))
        self.assertIn("consumer-away", daemon.get("/flowz")[1])
        app.start()
        self.wait_for_requests(app, len(bodies))
        self.wait_for_nothing_left()
        self.wait_for_flow(daemon)
        self.assertEqual({request.body for request in app.requests}, bodies)
        self.assertEqual({request.attempt for request in app.requests}, {1})

    def test_messages_wait_for_a_consumer_that_refuses_connections(self):
        app = self.consumer(tcp=True)
        app.stop()
        self.check_absent_then_there(app)

    def test_messages_wait_for_a_consumer_whose_socket_file_is_missing(self):
        app = self.consumer()
        app.stop()
        os.unlink(app.path)
        self.check_absent_then_there(app)

    def test_messages_wait_for_a_consumer_whose_socket_file_is_stale(self):
        app = self.consumer()
        app.stop()
        self.assertTrue(os.path.exists(app.path))
        self.check_absent_then_there(app)

    def daemon_of_nobody(self, app):
        """One that may not do all that root may; as root it runs as another user, from a place that everybody can read."""
        daemon = Retryd((POLICY % (app.url, "5s", 4)).replace("@QUEUE@", self.queue))
        self.addCleanup(daemon.end)
        self.daemons.append(daemon)
        if os.getuid() == 0:
            nobody = 65534
            program = shutil.copy(os.environ["RETRYD_BIN"], f"{daemon.folder}/retryd")
            os.chmod(self.folder, 0o711)
            os.chown(daemon.folder, nobody, nobody)
            identity = (f"--reuid={nobody}", f"--regid={nobody}", "--clear-groups")
            daemon.wrapper = ("setpriv", *identity, "sh", "-c", 'shift; exec "$0" "$@"', program)
        return daemon.start()

    def test_messages_wait_for_a_consumer_whose_socket_may_not_be_used(self):
        app = self.consumer()
        os.chmod(app.path, 0)
        self.publish(*(b"%d" % n for n in range(20)))
        daemon = self.daemon_of_nobody(app)
        self.wait_for_cause(daemon, "consumer-away")
        self.assertIn("Permission denied", daemon.get("/flowz")[1])
        self.assert_no_busy_loop(daemon)
        self.assertEqual(app.requests, [])
        os.chmod(app.path, 0o666)
        self.wait_for_requests(app, 20)
        self.wait_for_nothing_left()
        self.assertEqual({request.attempt for request in app.requests}, {1})

    def test_a_consumer_that_goes_and_comes_back_is_served_on(self):
        app = self.consumer(lambda request: Answer(200, wait=0.01))
        daemon = self.daemon_for(app)
        bodies = {b"%d" % n for n in range(300)}
        self.publish(*bodies)
        for count in (50, 150):
            self.wait_for_requests(app, count)
            app.stop()
            self.wait_for_cause(daemon, "consumer-away")
            app.start()
        self.wait_for_nothing_left()
        self.assertEqual({request.body for request in app.requests}, bodies)

    def test_a_consumer_with_a_full_backlog_is_waited_for(self):
        app = self.consumer()
        app.stop()
        os.unlink(app.path)
        self.publish(b"x")
        with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as occupant:
            listener.bind(app.path)
            listener.listen(0)
            occupant.connect(app.path)
            daemon = self.daemon_for(app)
            self.wait_for_cause(daemon, "consumer-away")
            self.assert_no_busy_loop(daemon)
        app.start()
        self.wait_for_nothing_left()
        self.assertEqual([request.attempt for request in app.requests], [1])

    def test_what_cannot_be_sent_within_the_timeout_spends_no_attempt(self):
        attempts = []

        def answer(connection):
            with connection, connection.makefile("rb") as stream:
                for line in stream:
                    if line.lower().startswith(b"retryd-attempt:"):
                        attempts.append(int(line.split(b":")[1]))
                    if line == b"\r\n":
                        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

        def answer_all(listener):
            with contextlib.suppress(OSError):  # until it is closed
                while True:
                    threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()

        listener = self.entered(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        daemon = self.daemon_for("http://127.0.0.1:%d/" % listener.getsockname()[1], timeout="500ms")
        first = listener.accept()[0]  # the probe's, used again for one delivery
        occupants = [self.entered(socket.socket()) for _ in range(3)]  # more than wait for an accept: what comes next hangs
        for occupant in occupants:
            occupant.setblocking(False)
            occupant.connect_ex(listener.getsockname())
        answering = threading.Thread(target=answer, args=(first,))
        answering.start()
        self.addCleanup(answering.join)
        self.publish(b"", b"")
        self.wait_for_cause(daemon, "consumer-away")
        self.assertEqual(set(daemon.deliveries(self.queue)) - {"success"}, {"unavailable"})
        for occupant in occupants:
            occupant.close()
        threading.Thread(target=answer_all, args=(listener,), daemon=True).start()
        self.wait_for_nothing_left()
        self.assertEqual(attempts, [1, 1])
