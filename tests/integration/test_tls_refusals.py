"""Each wrong certificate is refused, by us or by the broker, with its reason in log and status; what is right connects."""

import contextlib
import os
import shutil
import socket
import ssl
import subprocess

from tls_case import DAY, TRUSTED, Authority, TlsCase, self_signed, server_context
from retryd import eventually


class BrokersCertificate(TlsCase):
    def shown(self, identity, **more):
        """The URI of a server that shows this certificate, and would serve."""
        return self.proxy(context=server_context(identity, **more)).url

    def assert_flows(self, policy):
        daemon = self.retryd(policy)
        before = len(self.app.requests)
        self.send(b"one")
        self.wait_for_requests(self.app, before + 1)
        self.wait_for_flow(daemon)
        daemon.kill()

    def test_a_right_certificate_connects_by_name_by_address_and_by_wildcard(self):
        """And the server is told by SNI which name is meant, where it is one."""
        for host, hosts, more, told in (("127.0.0.1", ["IP:127.0.0.1"], "", None), ("localhost", ["DNS:localhost"], "", "localhost"),
                                        ("LOCALHOST", ["DNS:localhost"], "", "LOCALHOST"),
                                        ("127.0.0.1", ["DNS:*.b.example"], "server_name: a.b.example", "a.b.example")):
            with self.subTest(host=host, hosts=hosts):
                names = []
                context = server_context(self.identity(hosts))
                context.sni_callback = lambda _session, name, _context, names=names: names.append(name)
                uri = self.proxy(context=context).url.replace("127.0.0.1", host)
                self.assert_flows(self.policy(uri, self.tls(more=more)))
                self.assertEqual(set(names), {told})

    def test_another_host_is_refused_with_the_names_that_the_certificate_has(self):
        uri = self.shown(self.identity(["DNS:localhost", "DNS:*.b.example"]))
        self.assert_refused(self.policy(uri, self.tls()), "is for localhost, *.b.example, not for 127.0.0.1")

    def test_a_common_name_does_not_count(self):
        uri = self.shown(self.authority.issue("127.0.0.1"))
        self.assert_refused(self.policy(uri, self.tls()), "names no host", "so not 127.0.0.1 either")

    def test_an_expired_certificate_is_refused_with_its_end(self):
        uri = self.shown(self.identity(start=-2 * DAY, end=-DAY))
        self.assert_refused(self.policy(uri, self.tls()), "(CN=rabbit) has expired: it was valid until 20")

    def test_a_certificate_of_tomorrow_is_refused_with_its_beginning(self):
        uri = self.shown(self.identity(start=DAY, end=2 * DAY))
        self.assert_refused(self.policy(uri, self.tls()), "(CN=rabbit) is not valid yet: it will be from 20")

    def test_an_unknown_authority_is_refused_by_name(self):
        other = Authority(self.folder / "other", "Other Authority")
        uri = self.shown(self.identity())
        for tls in (self.tls(ca=other.cert), self.tls(ca="")):
            self.assert_refused(self.policy(uri, tls if "ca_file" in tls else "heartbeat: 20s"),
                                "comes from an unknown authority: CN=Example Authority is not in")

    def test_a_namesake_of_the_authority_is_refused(self):
        namesake = Authority(self.folder / "namesake", "Example Authority")
        told = self.assert_refused(self.policy(self.shown(self.identity()), self.tls(ca=namesake.cert)), "CN=Example Authority")
        self.assertRegex(told, "signature that is not of|unknown authority")

    def test_a_self_signed_certificate_is_refused_until_it_is_trusted_itself(self):
        own = self_signed(self.folder / "own", "rabbit", "subjectAltName=IP:127.0.0.1")
        uri = self.shown(own)
        self.assert_refused(self.policy(uri, self.tls()), "(CN=rabbit) is self-signed, and it is not in tls.ca_file")
        self.assert_flows(self.policy(uri, self.tls(ca=own.cert)))

    def test_an_authority_between_must_be_shown_or_trusted(self):
        between = Authority(self.folder / "between", "Between", above=self.authority)
        own = between.issue("rabbit", ["IP:127.0.0.1"])
        self.assert_refused(self.policy(self.shown(own), self.tls()), "unknown authority: CN=Between is not in tls.ca_file")
        self.assert_flows(self.policy(self.shown(own), self.tls(ca=between.cert)))
        own.cert.write_bytes(own.cert.read_bytes() + between.cert.read_bytes())
        self.assert_flows(self.policy(self.shown(own), self.tls()))

    def test_a_certificate_for_clients_is_none_for_a_broker(self):
        uri = self.shown(self.identity(extensions=["extendedKeyUsage=clientAuth"]))
        self.assert_refused(self.policy(uri, self.tls()), "(CN=rabbit) is not made for this")

    def test_without_verify_anything_connects_and_the_log_says_so(self):
        uri = self.shown(self.identity(["DNS:elsewhere"], start=-2 * DAY, end=-DAY))
        daemon = self.retryd(self.policy(uri, "tls: {verify: false}"))
        self.wait_for_flow(daemon)
        self.assertIn('"event":"broker_not_verified"', daemon.log())

    def test_what_is_older_than_1_2_is_refused(self):
        with self.broken_server(["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"]) as port:
            self.assert_refused(self.policy(f"amqps://127.0.0.1:{port}", self.tls()), "protocol version", refused=True)

    def test_1_2_will_do(self):
        self.assert_flows(self.policy(self.shown(self.identity(), highest=ssl.TLSVersion.TLSv1_2), self.tls()))

    @contextlib.contextmanager
    def broken_server(self, arguments):
        """openssl s_server, for what Python can't be made to do."""
        own = self.identity()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = ["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", own.cert, "-key", own.key, "-quiet", *arguments]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            eventually(lambda: self.listens(port), what="the server")
            yield port
        finally:
            server.kill()
            server.communicate()

    @staticmethod
    def listens(port):
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0


class NoTls(TlsCase):
    def test_a_broker_that_speaks_in_clear_is_told_apart(self):
        uri = os.environ["RETRYD_TEST_AMQP"].replace("amqp:", "amqps:")
        self.assert_refused(self.policy(uri, self.tls()), "what answers there does not speak TLS", refused=False)

    def test_nobody_there_is_said_as_it_is(self):
        with socket.socket() as taken:  # bound, and nobody listens
            taken.bind(("127.0.0.1", 0))
            uri = f"amqps://127.0.0.1:{taken.getsockname()[1]}"
            self.assert_refused(self.policy(uri, self.tls()), "Connection refused", refused=False)

    def test_a_handshake_that_is_not_answered_ends_in_time(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            uri = f"amqps://127.0.0.1:{silent.getsockname()[1]}"
            policy = self.policy(uri, self.tls()).replace("connect_timeout: 5s", "connect_timeout: 500ms")
            self.assert_refused(policy, "no answer in the TLS handshake", refused=False)

    def test_a_daemon_in_such_a_handshake_stops_at_once(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            uri = f"amqps://127.0.0.1:{silent.getsockname()[1]}"
            daemon = self.retryd(self.policy(uri, self.tls()).replace("connect_timeout: 5s", "connect_timeout: 5m"), wait_ready=False)
            connection, _ = silent.accept()
            connection.recv(1)
            self.assertEqual(daemon.stop(), 0)
            connection.close()

    def test_in_clear_to_a_port_of_tls_is_a_trouble_too(self):
        uri = os.environ["RETRYD_TEST_AMQPS"].replace("amqps:", "amqp:")
        self.assert_refused(self.policy(uri, "heartbeat: 20s"), "login: ", refused=False)


class OurCertificate(TlsCase):
    """What the broker itself says of it."""

    def assert_broker_refuses(self, identity, *words):
        uri = os.environ["RETRYD_TEST_AMQPS"]
        return self.assert_refused(self.policy(uri, self.tls(TRUSTED / "ca.pem", identity)), *words)

    def test_the_broker_asks_for_one_that_is_not_there(self):
        self.assert_broker_refuses(None, "the broker asks for a client certificate: set tls.cert_file and tls.key_file")

    def test_the_broker_does_not_know_its_authority(self):
        self.assert_broker_refuses(self.authority.issue("guest"), "the broker refuses our certificate (tls.cert_file): ",
                                   "does not know the authority")

    def test_it_has_expired(self):
        expired = self.of_the_brokers_authority(start=-2 * DAY, end=-DAY)
        self.assert_broker_refuses(expired, "the broker refuses our certificate (tls.cert_file): it has expired")

    def of_the_brokers_authority(self, name="guest", **more):
        """Signed by the broker's authority, with records of its own."""
        own = self.authority
        own.cert, own.key = TRUSTED / "ca.pem", TRUSTED / "ca.key"
        return own.issue(name, **more)

    def test_external_takes_the_name_in_it_for_the_user(self):
        uri = os.environ["RETRYD_TEST_AMQPS"].replace("guest:guest@", "")
        daemon = self.retryd(self.broker_policy(uri, more=", auth: external"))
        self.send(b"one")
        self.wait_for_requests(self.app, 1)
        self.assertNotIn("guest@", daemon.log())
        daemon.kill()
        nobody = self.of_the_brokers_authority("nobody")
        tls = self.tls(TRUSTED / "ca.pem", nobody)
        self.app.requests.clear()
        self.assert_refused(self.policy(uri, tls, ", auth: external"), "403 ACCESS_REFUSED", "EXTERNAL")

    def test_external_where_it_is_not_offered_is_said(self):
        """Something before the broker ends TLS, so it sees no certificate."""
        uri = self.proxy(context=server_context(self.identity())).url.replace("guest:guest@", "")
        policy = self.policy(uri, self.tls(identity=self.client()), ", auth: external")
        self.assert_refused(policy, "the broker does not offer the way of login that broker.auth asks for")

    def test_a_renewed_certificate_needs_no_restart(self):
        mine = self.authority.issue("guest")  # whom the broker does not know
        tls = self.tls(TRUSTED / "ca.pem", mine)
        daemon = self.retryd(self.policy(os.environ["RETRYD_TEST_AMQPS"], tls), wait_ready=False)
        eventually(lambda: "does not know the authority" in self.trouble(daemon), 40, "a refusal")
        shutil.copy(TRUSTED / "client.pem", mine.cert)
        eventually(lambda: "is not the key of the certificate in" in self.trouble(daemon), 60, "half of the renewal to be seen")
        shutil.copy(TRUSTED / "client.key", mine.key)
        self.wait_for_flow(daemon, 60)
