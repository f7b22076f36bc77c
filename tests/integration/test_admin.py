"""What an operator can do: a drain for a preStop hook, and who may ask for what on which address."""

import http.client
import json
import os
import signal
import socket
import subprocess
import time

from consumer import HANG, Answer
from integration_case import IntegrationCase
from retryd import UnixHttp, eventually


class Admin(IntegrationCase):
    def setUp(self):
        super().setUp()
        self.declare_work_queue()

    def daemon_for(self, app, arguments=(), more=""):
        deliver = f'deliver: {{http: "{app.url}", concurrency: 2, timeout: 10s}}'
        return self.retryd(f'queues: {{"@QUEUE@": {{{deliver}}}}}\n{more}', arguments=arguments)

    def retryctl(self, daemon, *arguments, environment=()):
        return subprocess.run(
            [os.environ["RETRYCTL_BIN"], "--admin", f"unix:{daemon.admin}", *arguments], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60, env={**os.environ, **dict(environment)})

    def post(self, daemon, path, **headers):
        connection = UnixHttp(daemon.admin)
        try:
            connection.request("POST", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


class Drain(Admin):
    def test_a_drained_retryd_stays_and_takes_nothing_new(self):
        app = self.consumer(lambda request: Answer(200, wait=1))
        daemon = self.daemon_for(app)
        for number in range(6):
            self.send(str(number).encode())
        self.wait_for_requests(app, 2)
        answer = self.retryctl(daemon, "drain")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertIn("drained", answer.stdout)
        self.assertEqual(len(app.requests), 2)
        self.wait_for_depth(self.queue, 4)
        self.assertIn("is drained", self.retryctl(daemon, "status").stdout)
        self.assertEqual((200, 200, 503), tuple(daemon.get(page)[0] for page in ("/livez", "/readyz", "/flowz")))
        self.assertIn("draining", daemon.get("/flowz")[1])
        self.send(b"late")
        time.sleep(0.5)  # a while in which nothing may happen
        self.assertEqual(len(app.requests), 2)
        self.assertEqual(self.retryctl(daemon, "drain").returncode, 0)
        begin = time.monotonic()
        self.assertEqual(daemon.stop(), 0)
        self.assertLess(time.monotonic() - begin, 2)
        daemon.start()
        self.wait_for_nothing_left()
        self.assertEqual({request.attempt for request in app.requests}, {1})
        self.assertEqual(len(app.requests), 7)

    def test_a_late_reply_is_carried_out(self):
        app = self.consumer(lambda request: Answer(500 if request.body == b"0" else 422, wait=1.5))
        daemon = self.daemon_for(app)
        for number in range(2):
            self.send(str(number).encode())
        self.wait_for_requests(app, 2)
        answer = self.retryctl(daemon, "drain", "--wait", "100ms")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("2 messages are still in hand, 2 of them at a consumer", answer.stderr)
        eventually(lambda: daemon.status()["drained"], what="the drain")
        self.assertEqual((self.wire.depth(self.own("dlq")), self.wire.depth(self.queue)), (1, 0))

    def test_sigterm_in_the_middle_of_a_drain_waits_for_its_end(self):
        app = self.consumer(lambda request: Answer(200, wait=1))
        daemon = self.daemon_for(app)
        self.send(b"0")
        self.wait_for_requests(app, 1)
        self.assertEqual(self.post(daemon, "/drain", **{"Content-Type": "application/json"})[0], 202)
        self.assertEqual(daemon.signal(signal.SIGTERM, 10), 0)
        self.assertEqual(self.wire.depth(self.queue), 0)

    def test_a_consumer_that_never_answers_does_not_hold_it_up_for_ever(self):
        app = self.consumer(lambda request: HANG)
        daemon = self.daemon_for(app, arguments=("--drain", "300ms"))
        for number in range(3):
            self.send(str(number).encode())
        self.wait_for_requests(app, 2)
        self.assertEqual(self.retryctl(daemon, "drain").returncode, 0)
        self.wait_for_depth(self.queue, 3)

    def test_it_is_drained_with_the_broker_away(self):
        app = self.consumer()
        proxy = self.proxy()
        deliver = f'deliver: {{http: "{app.url}"}}'
        daemon = self.retryd(f'queues: {{"@QUEUE@": {{{deliver}}}}}', amqp=proxy.url)
        proxy.refuse()
        proxy.cut()
        self.wait_for_cause(daemon, "broker-down")
        self.assertEqual(self.retryctl(daemon, "drain").returncode, 0)
        self.assertEqual(daemon.stop(), 0)

    def test_only_a_post_that_says_json_drains_and_the_log_says_who(self):
        daemon = self.daemon_for(self.consumer())
        self.assertEqual(daemon.get("/drain")[0], 405)
        self.assertEqual(self.post(daemon, "/drain")[0], 415)
        self.assertEqual(self.post(daemon, "/drain", **{"Content-Type": "text/plain"})[0], 415)
        self.assertEqual(self.post(daemon, "/drain", **{"Content-Type": "application/json", "Origin": "https://evil.example"})[0], 403)
        self.assertFalse(daemon.status()["draining"])
        status, body = self.post(daemon, "/drain", **{"Content-Type": "application/json"})
        self.assertEqual((status, json.loads(body)["draining"]), (202, True))
        line = next(json.loads(line) for line in daemon.log().splitlines() if '"draining"' in line)
        self.assertEqual(line["by"], f"uid {os.getuid()}")


class OverTcp(Admin):
    TOKEN = "0123456789abcdef-a-token"

    def setUp(self):
        super().setUp()
        self.token_file = self.folder / "token"
        self.token_file.write_text(self.TOKEN + "\n", encoding="ascii")
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{one.getsockname()[1]}"
        listen = f'admin: {{listen: ["unix:@DIR@/admin.sock", "{self.address}"], token_file: "{self.token_file}"}}'
        self.daemon = self.daemon_for(self.consumer(), more=listen)

    def ask(self, method, path, token=None, **headers):
        """(status, body text) over TCP."""
        connection = http.client.HTTPConnection(self.address, timeout=10)
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def test_without_the_token_only_the_health_pages_answer(self):
        open_pages = ("/livez", "/readyz", "/flowz")
        closed = ("/", "/status", "/metrics", "/why?id=1", f"/why-not?queue={self.queue}", "/drain", "/nowhere", "/livez/", "//livez",
                  "/livez.", "/%6civez", "/ui/%2e%2e/%2e%2e/etc/passwd", "/ui/..%2f", "/ui/%252e%252e/")
        self.wait_for_flow(self.daemon)
        self.assertEqual({page: self.ask("GET", page)[0] for page in open_pages}, dict.fromkeys(open_pages, 200))
        for method in ("GET", "HEAD", "OPTIONS", "POST", "DELETE"):
            for token in (None, self.TOKEN[:-1], self.TOKEN + "x", "x"):
                with self.subTest(method=method, token=token):
                    answers = {page: self.ask(method, page, token)[0] for page in closed}
                    self.assertEqual(answers, dict.fromkeys(closed, 401))
        self.assertFalse(self.daemon.status()["draining"])

    def test_with_the_token_every_page_answers(self):
        pages = {"/status": 200, "/metrics": 200, "/why?id=1": 200, f"/why-not?queue={self.queue}": 200, "/drain": 405, "/nowhere": 404}
        self.assertEqual({page: self.ask("GET", page, self.TOKEN)[0] for page in pages}, pages)
        self.assertEqual(self.ask("POST", "/drain", self.TOKEN, **{"Content-Type": "application/json"})[0], 202)

    def test_a_web_page_or_a_foreign_name_is_refused_even_with_the_token(self):
        for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}, {"Host": "evil.example:80"}):
            for method, path in (("GET", "/status"), ("GET", "/livez"), ("POST", "/drain")):
                with self.subTest(headers=headers, path=path):
                    self.assertEqual(self.ask(method, path, self.TOKEN, **headers, **{"Content-Type": "application/json"})[0], 403)
        self.assertFalse(self.daemon.status()["draining"])

    def test_retryctl_brings_the_token_from_a_file(self):
        def retryctl(*arguments, environment=()):
            return subprocess.run([os.environ["RETRYCTL_BIN"], "--admin", f"http://{self.address}", *arguments],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30,
                                  env={**os.environ, **dict(environment)})

        refused = retryctl("status")
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("it asks for a token; name the file", refused.stderr)
        wrong = self.folder / "wrong"
        wrong.write_text("no-such-token-anywhere", encoding="ascii")
        self.assertIn("it does not know this token", retryctl("--token-file", str(wrong), "status").stderr)
        self.assertIn("/nonexistent", retryctl("--token-file", "/nonexistent", "status").stderr)
        self.assertIn(self.queue, retryctl("--token-file", str(self.token_file), "status").stdout)
        by_environment = retryctl("why-not", self.queue, environment={"RETRYD_TOKEN_FILE": str(self.token_file)})
        self.assertIn(self.queue, by_environment.stdout)
        self.assertEqual(retryctl("drain", f"--token-file={self.token_file}").returncode, 0)

    def test_the_token_is_in_no_output(self):
        check = subprocess.run([os.environ["RETRYD_BIN"], "check", f"{self.daemon.folder}/policy.yaml", "--print-effective", self.queue],
                               capture_output=True, text=True, timeout=30)
        self.assertEqual(check.returncode, 0, check.stderr)
        outputs = (check.stdout, check.stderr, self.daemon.log(), self.daemon.get("/status")[1], self.daemon.get("/metrics")[1])
        for output in outputs:
            self.assertNotIn(self.TOKEN, output)

    def test_tcp_without_a_token_is_a_fault_of_the_policy(self):
        path = self.folder / "policy.yaml"
        for address in ("127.0.0.1:9465", "0.0.0.0:9465"):
            path.write_text(f'broker: amqp://h\nadmin: {{listen: "{address}"}}\nqueues: {{w: "http://c"}}\n', encoding="utf-8")
            answer = subprocess.run([os.environ["RETRYD_BIN"], "run", "--config", str(path)], capture_output=True, text=True, timeout=30)
            self.assertEqual(answer.returncode, 1)
            self.assertIn("over TCP a token is needed; admin.token_file", answer.stderr)
