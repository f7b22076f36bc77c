"""The commands as a user meets them: exit codes, texts on both outputs, the admin pages; and never a password in any of it."""

import json
import os
import re
import secrets
import socket
import subprocess
import urllib.parse

from amqp_codec import encode_properties
from consumer import Answer
from integration_case import IntegrationCase, rabbitmqctl
from retryd import Retryd, eventually

POLICY = 'queues: {"@QUEUE@": "%s"}\n'
NOWHERE = "unix:/nonexistent/app.sock"
PASSWORD = "p@s:s/w#rd?%"
CAUSES = {
    "broker-down", "publish-blocked", "draining", "unroutable", "queue-missing", "memory", "subscription-lost", "ack-timeout",
    "confirm-late", "consumer-away", "consumer-misconfigured", "consumer-not-ready", "broker-dead-letter-wait", "link-stuck",
    "paused", "breaker-open", "budget-spent", "storm-damped", "rate"}


class Commands(IntegrationCase):
    def call(self, program, *arguments, timeout=60):
        environment = {**os.environ, "RUNTIME_DIRECTORY": str(self.folder)}
        return subprocess.run(
            [os.environ[program], *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, env=environment)

    def retryd_command(self, *arguments):
        return self.call("RETRYD_BIN", *arguments)

    def retryctl(self, *arguments):
        return self.call("RETRYCTL_BIN", *arguments)

    def policy_file(self, text):
        path = self.folder / "policy.yaml"
        path.write_text(text.replace("@QUEUE@", self.queue).replace("@AMQP@", os.environ["RETRYD_TEST_AMQP"]), encoding="utf-8")
        return str(path)

    def amqp_as(self, user, password):
        """The broker's URI with another login."""
        host = os.environ["RETRYD_TEST_AMQP"].rpartition("@")[2]
        return f"amqp://{user}:{urllib.parse.quote(password, safe='')}@{host}"

    def run_for_a_moment(self, broker, wait="1s", level="debug"):
        """`run` with a broker that it should not come to terms with."""
        text = f'broker: "{broker}"\nlog: {{level: {level}}}\n' + POLICY % NOWHERE
        return self.retryd_command("run", "--config", self.policy_file(text), "--wait", wait)

    def user(self, rights=()):
        name = f"user-{secrets.token_hex(4)}"
        rabbitmqctl("add_user", name, PASSWORD)
        self.addCleanup(rabbitmqctl, "delete_user", name)
        if rights:
            rabbitmqctl("set_permissions", "-p", "/", name, *rights)
        return name

    @staticmethod
    def closed_port():
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            return one.getsockname()[1]

    def assert_no_password(self, *texts):
        for text in texts:
            for form in (PASSWORD, urllib.parse.quote(PASSWORD, safe=""), urllib.parse.quote(PASSWORD)):
                self.assertNotIn(form, text)


class Usage(Commands):
    def test_version(self):
        for program in ("retryd version", "retryd --version", "retryctl --version"):
            name, argument = program.split()
            answer = self.call(f"{name.upper()}_BIN", argument)
            self.assertEqual((answer.returncode, answer.stderr), (0, ""))
            self.assertRegex(answer.stdout, rf"^{name} \d+\.\d+\S*\n$")

    def test_help_is_an_answer_and_not_an_error(self):
        for program in ("RETRYD_BIN", "RETRYCTL_BIN"):
            answer = self.call(program, "--help")
            self.assertEqual((answer.returncode, answer.stderr), (0, ""))
            self.assertIn("usage:", answer.stdout)

    def test_wrong_usage_is_2_and_says_what(self):
        wrong = {
            ("RETRYD_BIN",): "missing", ("RETRYD_BIN", "runn"): "runn", ("RETRYD_BIN", "run"): "--config",
            ("RETRYD_BIN", "run", "--config"): "--config", ("RETRYD_BIN", "run", "--fast"): "--fast",
            ("RETRYD_BIN", "run", "--config", "x", "--wait", "5"): "unit", ("RETRYD_BIN", "run", "--config", "x", "--drain", "soon"): "duration",
            ("RETRYD_BIN", "check"): "FILE", ("RETRYD_BIN", "check", "a", "b"): "usage: retryd check FILE",
            ("RETRYCTL_BIN",): "command", ("RETRYCTL_BIN", "statuss"): "statuss", ("RETRYCTL_BIN", "status", "--jsn"): "--jsn",
            ("RETRYCTL_BIN", "status", "--admin"): "--admin", ("RETRYCTL_BIN", "status", "status"): "one"}
        for command, word in wrong.items():
            with self.subTest(command=command):
                answer = self.call(*command)
                self.assertEqual((answer.returncode, answer.stdout), (2, ""))
                self.assertIn(word, answer.stderr)


class Check(Commands):
    def test_a_good_policy_is_0(self):
        path = self.policy_file('broker: "@AMQP@"\n' + POLICY % NOWHERE)
        self.assertEqual(self.retryd_command("check", path).returncode, 0)
        shown = self.retryd_command("check", path, "--print-effective", self.queue)
        self.assertEqual(shown.returncode, 0)
        self.assertIn("concurrency", shown.stdout)
        self.assert_no_password(shown.stdout, shown.stderr)

    def test_all_faults_come_at_once_with_their_places(self):
        path = self.policy_file('broker: "@AMQP@"\nqueues:\n  w: {deliver: {http: "%s", timeout: 30}, prefetc: 5}\n' % NOWHERE)
        for command in (("check", path), ("run", "--config", path)):
            answer = self.retryd_command(*command)
            self.assertEqual(answer.returncode, 1)
            text = answer.stdout + answer.stderr
            places = re.findall(rf"{re.escape(path)}:(\d+):(\d+)", text)
            self.assertEqual([line for line, _ in places], ["3", "3"], text)
            self.assertIn("prefetch", text)

    def test_a_file_that_is_missing_or_empty_is_1(self):
        for path in ("/nonexistent/policy.yaml", self.policy_file(""), self.policy_file("# nothing\n")):
            for command in (("check", path), ("run", "--config", path)):
                answer = self.retryd_command(*command)
                self.assertEqual(answer.returncode, 1)
                self.assertIn(path, answer.stdout + answer.stderr)

    def test_a_password_that_breaks_its_uri_is_not_shown(self):
        path = self.policy_file(f'broker: "amqp://svc:{PASSWORD}@127.0.0.1:5672/"\n' + POLICY % NOWHERE)
        for command in (("check", path), ("run", "--config", path), ("check", path, "--print-effective", self.queue)):
            answer = self.retryd_command(*command)
            self.assertEqual(answer.returncode, 1)
            self.assertIn("%40", answer.stderr + answer.stdout)
            self.assert_no_password(answer.stdout, answer.stderr)
            self.assertNotIn("w#rd", answer.stdout + answer.stderr)


class ExitCodes(Commands):
    def test_3_when_nobody_listens(self):
        answer = self.run_for_a_moment(f"amqp://svc:{urllib.parse.quote(PASSWORD, safe='')}@127.0.0.1:{self.closed_port()}/")
        self.assertEqual(answer.returncode, 3, answer.stderr)
        self.assertIn("refused", answer.stderr)
        self.assert_no_password(answer.stdout, answer.stderr)

    def test_3_when_the_name_does_not_resolve(self):
        answer = self.run_for_a_moment(f"amqp://svc:{urllib.parse.quote(PASSWORD, safe='')}@broker.invalid/")
        self.assertEqual(answer.returncode, 3, answer.stderr)
        self.assertIn("broker.invalid", answer.stderr)
        self.assert_no_password(answer.stdout, answer.stderr)

    def test_4_with_a_wrong_password(self):
        answer = self.run_for_a_moment(self.amqp_as("guest", PASSWORD), wait="60s")
        self.assertEqual(answer.returncode, 4, answer.stderr)
        self.assertIn("ACCESS_REFUSED", answer.stderr)
        self.assert_no_password(answer.stdout, answer.stderr)

    def test_4_with_a_user_that_may_not_use_the_vhost(self):
        answer = self.run_for_a_moment(self.amqp_as(self.user(), PASSWORD), wait="60s")
        self.assertEqual(answer.returncode, 4, answer.stderr)
        self.assert_no_password(answer.stdout, answer.stderr)

    def test_4_with_a_vhost_that_does_not_exist(self):
        answer = self.run_for_a_moment(os.environ["RETRYD_TEST_AMQP"] + "nowhere", wait="60s")
        self.assertEqual(answer.returncode, 4, answer.stderr)
        self.assertIn("nowhere", answer.stderr)

    def test_without_wait_a_wrong_password_is_loud_and_tried_again_slowly(self):
        daemon = self.retryd(POLICY % NOWHERE, self.amqp_as("guest", PASSWORD), wait_ready=False)
        eventually(lambda: daemon.answers("/livez") and "broker-down" in daemon.get("/flowz")[1], what="broker-down")
        eventually(lambda: "ACCESS_REFUSED" in daemon.log(), what="the reason in the log")
        self.assert_no_busy_loop(daemon)
        self.assertTrue(any('"level":"error"' in line for line in daemon.log().splitlines()))
        self.assertLess(daemon.log().count("ACCESS_REFUSED"), 5)
        pages = [daemon.get(page)[1] for page in ("/status", "/flowz", "/readyz", "/metrics")]
        status = self.retryctl("--admin", f"unix:{daemon.admin}", "status")
        self.assertIn("ACCESS_REFUSED", status.stdout)
        self.assert_no_password(daemon.log(), *pages, status.stdout)


class Logins(Commands):
    def test_a_password_full_of_special_characters_logs_in(self):
        self.declare_work_queue()
        app = self.consumer()
        daemon = self.retryd("log: {level: debug}\n" + POLICY % app.url, self.amqp_as(self.user(rights=(".*", ".*", ".*")), PASSWORD))
        self.wire.publish(self.queue, b"x")
        self.wait_for_requests(app, 1)
        self.assert_no_password(daemon.log(), daemon.get("/status")[1])

    def test_a_user_without_rights_waits_and_works_when_it_has_them(self):
        """It may log in, but neither read nor declare: said at error level, asked again slowly, healed by the right."""
        self.declare_work_queue()
        user, app = self.user(rights=("^$", "^$", "^$")), self.consumer()
        daemon = self.retryd(POLICY % app.url, self.amqp_as(user, PASSWORD), wait_ready=False)
        eventually(lambda: "ACCESS_REFUSED" in daemon.log(), what="the refusal in the log")
        self.assert_no_busy_loop(daemon)
        self.assertTrue(daemon.answers("/livez"))
        self.assertEqual(daemon.get("/flowz")[0], 503)
        rabbitmqctl("set_permissions", "-p", "/", user, ".*", ".*", ".*")
        self.wire.publish(self.queue, b"x")
        self.wait_for_requests(app, 1, 30)
        self.wait_for_flow(daemon, 30)


class AdminSocket(Commands):
    def check_refused(self, path, word=None):
        text = f'broker: "@AMQP@"\nadmin: {{listen: ["unix:{path}"]}}\n' + POLICY % NOWHERE
        answer = self.retryd_command("run", "--config", self.policy_file(text))
        self.assertEqual(answer.returncode, 1, answer.stderr)
        self.assertIn(word or str(path), answer.stderr)

    def test_what_is_not_a_dead_socket_is_not_removed(self):
        file, link = self.folder / "file", self.folder / "link"
        file.write_text("mine", encoding="ascii")
        link.symlink_to(file)
        for path in (file, link):
            self.check_refused(path)
        self.assertEqual((file.read_text(encoding="ascii"), link.is_symlink()), ("mine", True))

    def test_another_daemons_socket_is_not_taken(self):
        first = self.retryd(POLICY % NOWHERE)
        self.check_refused(first.admin)
        self.assertTrue(first.answers("/livez"))

    def test_a_folder_that_cannot_be_made_or_a_path_too_long_is_said(self):
        file = self.folder / "file"
        file.touch()
        self.check_refused(file / "admin.sock")
        self.check_refused(self.folder / ("a" * 120), "107 bytes")

    def test_the_default_socket_that_cannot_be_made_stops_nothing(self):
        daemon = Retryd((POLICY % NOWHERE).replace("@QUEUE@", self.queue))
        self.addCleanup(daemon.end)
        os.mkdir(daemon.admin)
        daemon.start(wait_ready=False)
        eventually(lambda: "not_listening" in daemon.log() and "link_up" in daemon.log(), what="its going on")
        self.assertEqual(daemon.stop(), 0)


class Pages(Commands):
    def setUp(self):
        super().setUp()
        self.declare_work_queue()

    def status_text(self, daemon):
        answer = self.retryctl("status", "--admin", f"unix:{daemon.admin}")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        return answer.stdout

    def status_json(self, daemon):
        answer = self.retryctl("--json", f"--admin={daemon.admin}", "status")
        self.assertEqual(answer.returncode, 0)
        return json.loads(answer.stdout)

    def test_status_when_all_is_well(self):
        daemon = self.retryd(POLICY % self.consumer().url)
        self.wait_for_flow(daemon)
        text = self.status_text(daemon)
        self.assertIn("every queue flows", text)
        self.assertIn(self.queue, text)
        self.assertRegex(text, r"guest@127\.0\.0\.1:\d+")
        self.assertNotIn("guest:guest", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        status = self.status_json(daemon)
        (queue,) = status["queues"]
        self.assertEqual((status["ready"], status["draining"], queue["state"], queue["stalls"]), (True, False, "flowing", []))
        self.assertEqual([link["up"] for link in status["links"]], [True, True])
        self.assertTrue(queue["subscribed_work"] and queue["subscribed_lane"])

    def test_status_when_the_consumer_is_away(self):
        daemon = self.retryd(POLICY % NOWHERE)
        self.wait_for_cause(daemon, "consumer-away")
        text = self.status_text(daemon)
        self.assertIn("is held up", text)
        self.assertRegex(text, r"consumer-away for .*/nonexistent|consumer-away for .*No such file")
        (queue,) = self.status_json(daemon)["queues"]
        self.assertEqual(queue["state"], "consumer-away")
        self.assertEqual(len(queue["stalls"]), 1)

    def test_status_when_the_broker_is_gone(self):
        proxy = self.proxy()
        daemon = self.retryd(POLICY % self.consumer().url, proxy.url)
        proxy.refuse()
        proxy.cut()
        self.wait_for_cause(daemon, "broker-down")
        self.assertIn("broker-down", self.status_text(daemon))
        self.assertEqual([link["up"] for link in self.status_json(daemon)["links"]], [False, False])

    def test_status_shows_what_is_at_the_consumer(self):
        app = self.consumer(lambda request: Answer(200, wait=3))
        daemon = self.retryd(POLICY % app.url)
        self.wire.publish(self.queue, b"x")
        self.wait_for_requests(app, 1)
        (queue,) = self.status_json(daemon)["queues"]
        self.assertEqual((queue["in_hand"], queue["in_flight"]), (1, 1))
        self.assertIn("1/16", self.status_text(daemon))

    def test_retryctl_without_a_daemon_is_1_and_says_where_it_looked(self):
        answer = self.retryctl("status")
        self.assertEqual((answer.returncode, answer.stdout), (1, ""))
        self.assertIn("cannot reach retryd", answer.stderr)
        self.assertIn("admin.sock", answer.stderr)

    def test_the_pages_answer_get_and_head_only(self):
        daemon = self.retryd(POLICY % self.consumer().url)
        for method, page, status in (("GET", "/livez", 200), ("HEAD", "/livez", 200), ("POST", "/livez", 405), ("DELETE", "/status", 405),
                                     ("GET", "/", 404), ("GET", "/%2e%2e/etc/passwd", 404), ("GET", "//livez", 404)):
            self.assertEqual(self.ask(daemon, f"{method} {page} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"), status, (method, page))

    def test_bad_requests_harm_nobody(self):
        daemon = self.retryd(POLICY % self.consumer().url)
        for bad in ("\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "POST /status HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
                    "GET /livez HTTP/1.1\r\nX: " + "a" * 100_000 + "\r\n\r\n"):
            self.ask(daemon, bad)
        self.assertTrue(daemon.answers("/livez"))

    @staticmethod
    def ask(daemon, request):
        """The status of the answer, nothing where the connection was closed without one."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(10)
            client.connect(daemon.admin)
            try:
                client.sendall(request.encode())
                client.shutdown(socket.SHUT_WR)
                answer = client.recv(4096)
            except (BrokenPipeError, ConnectionResetError):
                return None
        return int(answer.split()[1]) if answer else None


class Metrics(Commands):
    SERIES = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (NaN|[-+]?(?:Inf|[\d.]+(?:e[-+]?\d+)?))$')

    def parsed(self, text):
        """{name: {labels text: value}}; every line must be right, every series must have a type told before."""
        series, types = {}, {}
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                self.assertNotIn(name, types)
                types[name] = kind
            elif not line.startswith("# HELP "):
                match = self.SERIES.match(line)
                self.assertIsNotNone(match, line)
                name, labels, value = match.groups()
                family = re.sub(r"_(bucket|sum|count)$", "", name)
                self.assertTrue(name in types or types.get(family) == "histogram", name)
                self.assertNotIn(labels, series.setdefault(name, {}))
                series[name][labels] = float(value)
        return series

    def test_the_text_is_well_formed_and_the_labels_come_from_closed_sets(self):
        self.declare_work_queue()
        app = self.consumer(lambda request: Answer(500, {"Retryd-Error-Type": f"T{request.body}", "Retryd-Dependency": f"d{request.body}"}) if request.seen == 0 else 200)
        daemon = self.retryd(POLICY % app.url)
        before = self.parsed(daemon.get("/metrics")[1])
        messages = [(encode_properties(delivery_mode=2, type=f"t-{n}", message_id=f"m-{n}"), b"%d" % n) for n in range(50)]
        self.wire.publish_all(self.queue, messages)
        for number in range(50):
            daemon.get(f"/page-{number}?queue={number}")
            daemon.get(f"/why-not?queue=q{number}")
        self.wait_for_nothing_left()
        after = self.parsed(daemon.get("/metrics")[1])
        self.assertEqual(before.keys(), after.keys())
        count = lambda series: {name: len(labels) for name, labels in series.items() if name != "retryd_queue_depth"}
        self.assertEqual(count(before), count(after))
        self.assertEqual(sum(after["retryd_first_deliveries_total"].values()), 50)
        self.assertEqual(after["retryd_delivery_seconds_count"][f'queue="{self.queue}"'], 100)
        self.assertEqual({re.search('cause="([^"]*)"', labels)[1] for labels in after["retryd_stall"]}, CAUSES)
        self.assertEqual(set(after["retryd_stall"].values()), {0})
        self.assertIn("retryd_build_info", after)

    def test_they_are_served_on_tcp_too_where_that_is_asked_for(self):
        daemon = self.retryd('metrics: {listen: "127.0.0.1:%d"}\n' % (port := self.closed_port()) + POLICY % NOWHERE)
        with socket.create_connection(("127.0.0.1", port), 10) as client:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            text = b"".join(iter(lambda: client.recv(65536), b"")).decode()
        self.assertTrue(text.startswith("HTTP/1.1 200 "), text[:100])
        self.assertEqual(self.parsed(text.partition("\r\n\r\n")[2]).keys(), self.parsed(daemon.get("/metrics")[1]).keys())

