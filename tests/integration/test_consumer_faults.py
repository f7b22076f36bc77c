"""What a consumer can do wrong, and what becomes of the messages: misconfiguration is a state of the queue, a timeout and a
lonely loss are attempts, and strange replies do no harm."""

import http.server
import json
import threading

from amqp_codec import encode_properties, text
from consumer import CLOSE, HANG, Answer
from faulty_case import FaultyConsumer
from retryd import eventually


class Misconfiguration(FaultyConsumer):
    def check_endpoint(self, status):
        app = self.consumer(lambda request: status)
        self.publish(b"one", b"two", b"three")
        daemon = self.daemon_for(app)
        self.wait_for_cause(daemon, "consumer-misconfigured")
        before = len(app.requests)
        self.assert_no_busy_loop(daemon)
        self.assertLess(len(app.requests) - before, 12)
        self.assertIn("consumer-misconfigured", daemon.get("/flowz")[1])
        app.reply = lambda request: 200
        self.wait_for_nothing_left()
        self.wait_for_flow(daemon)
        self.assertEqual({request.attempt for request in app.requests}, {1})
        self.assertEqual(daemon.deliveries(self.queue)["success"], 3)

    def test_401_stops_the_queue_and_spends_no_attempt(self):
        self.check_endpoint(401)

    def test_404_before_the_first_success_is_a_wrong_path(self):
        self.check_endpoint(404)

    def test_a_redirect_is_not_followed(self):
        app = self.consumer(lambda request: Answer(302, {"Location": "/elsewhere"}) if request.target != "/elsewhere" else 200)
        self.publish(b"x")
        daemon = self.daemon_for(app)
        self.wait_for_cause(daemon, "consumer-misconfigured")
        self.wait_for_requests(app, 3)
        self.assertEqual({request.target for request in app.requests}, {"/"})

    def test_404_after_a_success_is_about_the_message(self):
        app = self.consumer(lambda request: 404 if request.body == b"unknown" else 200)
        daemon = self.daemon_for(app)
        self.publish(b"known")
        self.wait_for_outcomes(daemon, success=1)
        self.publish(b"unknown")
        self.assertEqual(self.wait_for_lot("dlq").headers["retryd-reason"], "permanent")
        self.assertEqual(daemon.causes(self.queue), [])


class NoAnswer(FaultyConsumer):
    def test_a_timeout_spends_an_attempt_and_its_late_answer_is_nothing(self):
        app = self.consumer(lambda request: Answer(200, wait=1) if request.seen == 0 else Answer(500 if request.seen == 1 else 200, wait=0.2))
        daemon = self.daemon_for(app, timeout="400ms")
        self.publish(b"x")
        self.wait_for_outcomes(daemon, **{"timeout": 1, "transient": 1, "success": 1})
        self.wait_for_nothing_left()
        self.assertEqual([request.attempt for request in app.requests], [1, 2, 3])
        errors = [request.headers.get("retryd-last-error") for request in app.requests]
        self.assertEqual(errors, [None, "retryd.Timeout", "http.500"])
        self.assertEqual(len({request.headers["idempotency-key"] for request in app.requests}), 1)

    def test_answers_at_the_moment_of_the_timeout_settle_once(self):
        app = self.consumer(lambda request: Answer(200, wait=0.495 + int(request.body) % 11 / 1000) if request.seen == 0 else 200)
        daemon = self.daemon_for(app, timeout="500ms", concurrency=50)
        self.publish(*(b"%d" % n for n in range(500)))
        self.wait_for_nothing_left()
        outcomes = daemon.deliveries(self.queue)
        self.assertEqual(outcomes["success"], 500)
        self.assertEqual(outcomes.keys(), {"success", "timeout"})
        most = 500 + outcomes["timeout"]  # of which some are late before they are sent, where the machine is busy
        self.assertTrue(500 <= len(app.requests) <= most, (len(app.requests), most))
        self.assertNotIn("channel_closed", daemon.log())
        self.assertNotIn("link_down", daemon.log())

    def test_a_connection_lost_while_alone_is_the_messages_own_attempt(self):
        app = self.consumer(lambda request: CLOSE if request.seen == 0 else 200)
        daemon = self.daemon_for(app)
        self.publish(b"x", message_id="m-1")
        self.wait_for_outcomes(daemon, lost=1, success=1)
        self.wait_for_nothing_left()
        self.assertEqual([request.attempt for request in app.requests], [1, 2])
        self.assertEqual({request.headers["idempotency-key"] for request in app.requests}, {"m-1"})

    def test_a_message_that_is_lost_alone_every_time_is_parked(self):
        app = self.consumer(lambda request: CLOSE)
        self.daemon_for(app)
        self.publish(b"x")
        parked = self.wait_for_lot("parked")
        self.assertEqual((parked.headers["retryd-reason"], parked.headers["retryd-attempts"]), ("exhausted", 3))
        self.assertEqual(len(app.requests), 3)

    def test_a_loss_among_others_charges_nobody(self):
        def reply(request):
            if request.seen:
                return 200
            return HANG if request.body == b"slow" else CLOSE

        app = self.consumer(reply)
        daemon = self.daemon_for(app, timeout="4s")
        self.publish(b"slow")
        self.wait_for_requests(app, 1)
        self.publish(b"lost")
        self.wait_for_outcomes(daemon, lost=1, success=1)
        self.assertEqual([request.attempt for request in app.requests if request.body == b"lost"], [1, 1])
        app.cut_connections()
        self.wait_for_outcomes(daemon, lost=2, success=2)
        self.wait_for_nothing_left()
        self.assertEqual([request.attempt for request in app.requests if request.body == b"slow"], [1, 1])


class SimpleServer(http.server.BaseHTTPRequestHandler):
    """Closes each connection after its answer, as HTTP/1.0 does."""

    def do_POST(self):
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


class Connections(FaultyConsumer):
    def check_all_succeed_at_once(self, daemon, count):
        self.publish(*(b"%d" % n for n in range(count)))
        self.wait_for_outcomes(daemon, 60, success=count)
        self.wait_for_nothing_left()
        self.assertEqual([], [line for line in daemon.log().splitlines() if '"level":"warn"' in line or '"level":"error"' in line])

    def test_a_thousand_messages_through_pythons_http_server(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), SimpleServer)
        server.bodies = []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.check_all_succeed_at_once(self.daemon_for(f"http://127.0.0.1:{server.server_port}/"), 1000)
        self.assertEqual(len(set(server.bodies)), 1000)

    def test_a_consumer_that_says_connection_close(self):
        app = self.consumer(lambda request: Answer(200, {"Connection": "close"}, close=True))
        self.check_all_succeed_at_once(self.daemon_for(app), 200)
        self.assertEqual(app.connects, 200)

    def test_a_consumer_that_closes_after_each_answer_without_saying_so_is_soon_known(self):
        app = self.consumer(lambda request: Answer(200, close=True))
        daemon = self.daemon_for(app)
        self.publish(*(b"%d" % n for n in range(300)))
        self.wait_for_requests(app, 300)
        self.wait_for_nothing_left()
        outcomes = daemon.deliveries(self.queue)
        self.assertEqual(outcomes["success"], 300)
        self.assertLessEqual(outcomes.get("lost", 0), 4)  # one for each connection that it was met with

    def test_connections_that_the_consumer_closed_while_idle_cost_no_attempt(self):
        app = self.consumer()
        daemon = self.daemon_for(app)
        for number in range(1, 21):
            self.publish(b"%d" % number)
            self.wait_for_outcomes(daemon, success=number)
            app.cut_connections()
        self.assertEqual({request.attempt for request in app.requests}, {1})

    def test_a_keep_alive_connection_is_used_again(self):
        app = self.consumer()
        self.check_all_succeed_at_once(self.daemon_for(app, concurrency=1), 200)
        self.assertLess(app.connects, 20)


class StrangeReplies(FaultyConsumer):
    def test_interim_replies_are_skipped_and_the_last_one_decides(self):
        interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
        last = {True: b"HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n", False: b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"}
        app = self.consumer(lambda request: Answer(raw=interim + last[request.body == b"bad" and request.seen == 0]))
        daemon = self.daemon_for(app, concurrency=1)
        self.publish(b"good", b"bad", b"good too")
        self.wait_for_outcomes(daemon, transient=1, success=3)
        self.assertEqual([request.attempt for request in app.requests if request.body == b"bad"], [1, 2])

    def test_every_status_has_its_outcome(self):
        outcomes = {
            "success": [200, 201, 202, 203, 204, 206, 299], "permanent": [400, 402, 404, 406, 410, 413, 418, 422, 431, 451, 499],
            "transient": [408, 409, 425, 500, 501, 502, 503, 504, 511, 599, 600, 999], "throttled": [429],
            "endpoint": [300, 301, 302, 304, 307, 308, 401, 403, 405, 407]}
        app = self.consumer(lambda request: int(request.body) if request.seen == 0 else 200)
        daemon = self.daemon_for(app, concurrency=1)
        self.publish(b"200")
        self.wait_for_outcomes(daemon, success=1)
        for outcome, statuses in outcomes.items():
            for status in statuses:
                before = daemon.deliveries(self.queue)
                self.publish(b"%d" % status)
                eventually(lambda: daemon.deliveries(self.queue).get(outcome, 0) > before.get(outcome, 0), what=f"{outcome} of {status}")
                if outcome not in ("success", "permanent"):
                    eventually(lambda: daemon.deliveries(self.queue)["success"] > before["success"], what=f"success after {status}")
        self.wait_for_depth(self.own("dlq"), len(outcomes["permanent"]))
        self.assertEqual({outcome: len(statuses) for outcome, statuses in outcomes.items() if outcome != "success"},
                         {outcome: count for outcome, count in daemon.deliveries(self.queue).items() if outcome != "success"})

    def check_retry_after(self, value, outcome):
        app = self.consumer(lambda request: Answer(503, {"Retry-After": value}) if request.seen == 0 else 200)
        daemon = self.daemon_for(app)
        self.publish(b"x")
        self.wait_for_outcomes(daemon, **{outcome: 1, "success": 1})
        return app.requests

    def check_cut_to_the_longest(self, value):
        first, second = self.check_retry_after(value, "throttled")
        self.assertEqual((first.attempt, second.attempt), (1, 1))
        self.assertGreater(second.at - first.at, 0.95)

    def test_a_retry_after_of_three_hundred_years_is_cut_to_the_longest_that_is_allowed(self):
        self.check_cut_to_the_longest("9999999999")

    def test_a_retry_after_until_the_year_2300_is_cut_to_the_longest_that_is_allowed(self):
        self.check_cut_to_the_longest("Sun, 06 Nov 2300 08:49:37 GMT")

    def test_a_retry_after_of_ten_hours_is_cut_to_the_longest_that_is_allowed(self):
        self.check_cut_to_the_longest("36000")

    def test_a_retry_after_until_a_time_in_the_past_is_the_shortest_hold(self):
        first, second = self.check_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", "throttled")
        self.assertEqual((first.attempt, second.attempt), (1, 1))
        self.assertGreater(second.at - first.at, 0.15)

    def test_a_retry_after_that_no_number_holds_is_no_busy_loop(self):
        first, second = self.check_retry_after("9" * 40, "throttled")
        self.assertEqual((first.attempt, second.attempt), (1, 1))
        self.assertGreater(second.at - first.at, 0.95)

    def test_a_retry_after_that_says_nothing_is_ignored(self):
        first, second = self.check_retry_after("abc", "transient")
        self.assertEqual((first.attempt, second.attempt), (1, 2))

    def test_an_error_page_is_parked_beside_an_intact_message(self):
        page = (b"<html>\r\n<h1>Oops</h1>\0\xff\xfe\n" * 500)[:10240]
        head = b"HTTP/1.1 422 " + b"Because " * 1250 + b"\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(page)
        app = self.consumer(lambda request: Answer(raw=head + page))
        daemon = self.daemon_for(app)
        properties = encode_properties(delivery_mode=2, headers=[text("mine", "kept")], message_id="m-1")
        self.wire.publish(self.queue, b"\0body\xff", properties)
        message = self.wait_for_lot("dlq")
        self.assertEqual((message.body, message.value_of("message_id")), (b"\0body\xff", b"m-1"))
        self.assertEqual((message.headers["mine"], message.headers["retryd-reason"]), ("kept", "permanent"))
        ours = [len(raw) for name, _, raw in message.table if name.startswith(b"retryd-")]
        self.assertLess(sum(ours), 4096)
        error = dict((name, raw[4:]) for name, _, raw in message.table).get(b"retryd-error-message", b"")
        error.decode("utf-8")
        self.assertNotIn(b"\0", error)
        self.assertEqual(daemon.deliveries(self.queue), {"permanent": 1})

    def test_an_error_page_that_speaks_of_the_address_is_a_cause_in_one_line(self):
        page = b"<html>\r\n<h1>No\tway</h1>\0\xff\n" + self.queue.encode() + b" flows\n" * 900
        head = b"HTTP/1.1 405 " + b"Because " * 1250 + b"\r\nAllow: GET\r\nContent-Length: %d\r\n\r\n" % len(page)
        app = self.consumer(lambda request: Answer(raw=head + page))
        daemon = self.daemon_for(app)
        self.publish(b"x")
        self.wait_for_cause(daemon, "consumer-misconfigured")
        for line in [*daemon.get("/flowz")[1].splitlines(), *daemon.log().splitlines()]:
            self.assertLess(len(line), 1000)
            self.assertTrue(line.isprintable(), line)
        self.assertEqual(len([line for line in daemon.get("/flowz")[1].splitlines() if self.queue in line]), 1)
        (stall,) = daemon.queue_status(self.queue)["stalls"]
        self.assertTrue(stall["detail"].isprintable(), stall)
        app.reply = lambda request: 200
        self.wait_for_nothing_left()
        self.assertEqual({request.attempt for request in app.requests}, {1})

    def test_what_is_no_http_at_all_is_a_loss_and_not_a_success(self):
        app = self.consumer(lambda request: Answer(raw=b"SSH-2.0-OpenSSH_9.2\r\n\r\n") if request.seen == 0 else 200)
        daemon = self.daemon_for(app)
        self.publish(b"x")
        self.wait_for_nothing_left()
        self.wait_for_outcomes(daemon, lost=1, success=1)

    def test_a_reply_cut_in_its_body_does_not_count(self):
        half = Answer(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", close=True)
        app = self.consumer(lambda request: half if request.seen == 0 else 200)
        daemon = self.daemon_for(app)
        self.publish(b"x")
        self.wait_for_outcomes(daemon, lost=1, success=1)


class HostileHeaders(FaultyConsumer):
    NAMES = [b"x y", b"x:y", b"x\r\nX-Admin: 1\r\n\r\nPOST /evil HTTP/1.1", b"", "gr\u00fc\u00df".encode(), b"Host", b"Content-Length",
             b"Transfer-Encoding", b"Connection", b"Expect", b"x\0y", b"Retryd-Attempt"]

    def test_line_breaks_in_names_and_values_make_no_second_request(self):
        app = self.consumer()
        self.daemon_for(app)
        table = [text(name, "a\r\nX-Admin: 1\r\n\r\nPOST /evil HTTP/1.1\r\nHost: x\r\n\r\n") for name in self.NAMES]
        hostile = "a\r\nX-Admin: 1"
        properties = encode_properties(
            delivery_mode=2, headers=table, message_id=hostile, correlation_id=hostile, content_type=hostile, type=hostile, app_id=hostile)
        self.wire.publish(self.queue, b"body", properties)
        self.wait_for_nothing_left()
        (request,) = app.requests
        self.assertEqual((request.target, request.body, request.attempt), ("/", b"body", 1))
        names = [name.lower() for name, _ in request.header_lines]
        for name in names:
            self.assertRegex(name, rb"^[-!#$%&'*+.^_`|~0-9a-z]+$")
        self.assertNotIn(b"x-admin", names)
        for once in (b"host", b"content-length", b"retryd-attempt"):
            self.assertEqual(names.count(once), 1, once)
        self.assertNotIn(b"transfer-encoding", names)
        for _, value in request.header_lines:
            self.assertRegex(value, rb"^[\x20-\x7e]*$")
        self.assertIn("a%0D%0AX-Admin: 1", request.headers["amqp-message-id"])

    def test_64_kib_of_headers_are_cut_for_the_consumer_and_kept_for_the_message(self):
        table = [text(f"h-{n}", str(n) * 1000) for n in range(10, 42)]
        app = self.consumer(lambda request: 431)
        daemon = self.daemon_for(app)
        self.wire.publish(self.queue, b"body", encode_properties(delivery_mode=2, headers=table))
        message = self.wait_for_lot("dlq")
        (request,) = app.requests
        self.assertLess(sum(len(name) + len(value) + 4 for name, value in request.header_lines), 17 << 10)
        shown = sum(name.lower().startswith(b"amqp-header-h-") for name, _ in request.header_lines)
        self.assertEqual(shown + int(request.headers["retryd-headers-omitted"]), len(table))
        self.assertGreater(shown, 0)
        self.assertEqual([entry for entry in message.table if not entry[0].startswith(b"retryd-")], table)
        self.assertEqual(daemon.causes(self.queue), [])

    def test_a_log_line_is_one_json_object_whatever_the_consumer_says(self):
        app = self.consumer(lambda request: Answer(422, {"Retryd-Error-Type": 'x"y\\', "Retryd-Error-Message": "a\tb"}))
        daemon = self.daemon_for(app)
        self.publish(b"x", message_id='m\n{"level":"info","event":"parked 0"}')
        self.wait_for_lot("dlq")
        for line in daemon.log().splitlines():
            self.assertIn("event", json.loads(line))
            self.assertNotEqual(json.loads(line)["event"], "parked 0")
