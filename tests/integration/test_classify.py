"""What a reply means: the policy's rules first, then what the consumer states, then problem+json, then the status."""

import json

import amqp_codec as codec
from consumer import Answer
from integration_case import IntegrationCase
from retryd import eventually

PROBLEM = {"type": "https://errors.example/out-of-stock", "title": "Out of stock", "detail": "bin 7 is empty",
           "dependency": "store"}
RETRY = "retry: {quick: none, delays: [100ms], jitter: 0%, spread: 1}"


class Classify(IntegrationCase):
    def outcomes(self, reply, rules="", count=1, **properties):
        """The outcomes of one message that is delivered `count` times."""
        self.declare_work_queue()
        self.app, self.daemon = self.serve(reply, f"classify: [{rules}], {RETRY}, hold: {{delays: [100ms]}}")
        self.send(b"m", **properties)
        eventually(lambda: sum(self.daemon.deliveries(self.queue).values()) >= count, what=f"{count} outcomes")
        return self.daemon.deliveries(self.queue)

    def assert_dead_letter(self, error_type):
        message = self.wait_for_lot("dlq")
        self.assertEqual(message.headers["retryd-error-type"], error_type)
        self.assertEqual(message.headers["retryd-reason"], "permanent")
        return message.headers

    # --- rules

    def test_a_rule_by_status_overrides_the_default(self):
        self.assertEqual(self.outcomes(lambda request: 418, "{status: [418, 500-502], as: success}"), {"success": 1})

    def test_a_rule_by_status_leaves_other_statuses_alone(self):
        reply = lambda request: 200 if request.seen else 503
        self.assertEqual(self.outcomes(reply, "{status: [418, 500-502], as: success}", 2), {"transient": 1, "success": 1})

    def test_a_rule_by_error_type_makes_a_failure_permanent(self):
        reply = lambda request: Answer(500, {"Retryd-Error-Type": "com.example.SchemaError"})
        self.assertEqual(self.outcomes(reply, '{error_type: ["*.SchemaError", Other], as: permanent}'), {"permanent": 1})
        self.assert_dead_letter("com.example.SchemaError")

    def test_a_rule_by_error_message_may_be_an_expression(self):
        reply = lambda request: Answer(500, {"Retryd-Error-Message": "duplicate key 4711"})
        self.assertEqual(self.outcomes(reply, '{error_message: "re:^duplicate key [0-9]+$", as: drop}'), {"drop": 1})

    def test_a_rule_by_a_header_of_the_message_applies_to_that_message_only(self):
        rule = '{header: {x-provider: "fx-*"}, status: 5xx, as: permanent}'
        outcomes = self.outcomes(lambda request: 500, rule, headers=[codec.text("x-provider", "fx-eur")])
        self.assertEqual(outcomes, {"permanent": 1})
        self.send(b"other", headers=[codec.text("x-provider", "bank")])
        self.assertEqual(self.wait_for_lot("parked").body, b"other")

    def test_a_rule_by_routing_key_sees_the_key_that_the_message_was_published_with(self):
        exchange = f"ex.{self.token}"
        self.declare_work_queue()
        self.wire.declare_exchange(exchange, "topic")
        self.addCleanup(self.wire.delete_exchange, exchange)
        self.wire.bind(self.queue, exchange, "#")
        reply = lambda request: 503 if request.seen == 0 else 500
        app, _ = self.serve(reply, f'classify: [{{routing_key: "eu.*", status: 500, as: permanent}}], {RETRY}')
        self.wire.publish("eu.orders", b"m", exchange=exchange)
        self.assert_dead_letter("http.500")  # on its second delivery, which came from the lane
        self.assertEqual(len(app.requests), 2)

    def test_a_rule_by_type_sees_the_type_property(self):
        rule = "{type: [order.created, order.paid], status: 5xx, as: permanent}"
        self.assertEqual(self.outcomes(lambda request: 500, rule, type=b"order.paid"), {"permanent": 1})

    def test_the_first_rule_that_matches_decides(self):
        rules = "{status: 500, error_type: A, as: drop}, {status: 500, as: permanent}, {status: 5xx, as: success}"
        self.assertEqual(self.outcomes(lambda request: 500, rules), {"permanent": 1})

    def test_a_rule_goes_before_what_the_consumer_states(self):
        reply = lambda request: Answer(200, {"Retryd-Outcome": "transient", "Retryd-Error-Type": "Known"})
        self.assertEqual(self.outcomes(reply, "{error_type: Known, as: permanent}"), {"permanent": 1})

    # --- what the consumer states

    def test_what_the_consumer_states_goes_before_the_status(self):
        reply = lambda request: Answer(200, {"Retryd-Outcome": "permanent", "Retryd-Error-Type": "Rejected"})
        self.assertEqual(self.outcomes(reply), {"permanent": 1})
        self.assert_dead_letter("Rejected")

    def test_a_dropped_message_is_done_and_lies_nowhere(self):
        self.assertEqual(self.outcomes(lambda request: Answer(500, {"Retryd-Outcome": "drop"})), {"drop": 1})
        self.wait_for_nothing_left()

    def test_an_outcome_that_does_not_exist_is_a_bad_reply_and_transient(self):
        self.outcomes(lambda request: Answer(200, {"Retryd-Outcome": "maybe"}), count=2)
        message = self.wait_for_lot("parked")
        self.assertEqual((message.headers["retryd-error-type"], message.headers["retryd-attempts"]), ("retryd.BadReply", 2))

    def test_a_problem_document_says_what_went_wrong(self):
        body = json.dumps(PROBLEM).encode()
        self.outcomes(lambda request: Answer(422, {"Content-Type": "application/problem+json; charset=utf-8"}, body))
        headers = self.assert_dead_letter(PROBLEM["type"])
        self.assertEqual(headers["retryd-dependency"], "store")
        self.assertIn("bin 7 is empty", headers["retryd-error-message"])

    def test_a_rule_may_match_the_type_of_a_problem_document(self):
        reply = lambda request: Answer(500, {"Content-Type": "application/problem+json"}, json.dumps(PROBLEM).encode())
        self.assertEqual(self.outcomes(reply, '{error_type: "*/out-of-stock", as: drop}'), {"drop": 1})

    def test_a_broken_problem_document_leaves_the_decision_to_the_status(self):
        self.outcomes(lambda request: Answer(422, {"Content-Type": "application/problem+json"}, b'{"type": "x'))
        self.assert_dead_letter("http.422")

    # --- the status

    def test_every_other_status_has_its_default_meaning(self):
        meanings = {200: "success", 204: "success", 299: "success", 408: "transient", 409: "transient", 425: "transient",
                    429: "throttled", 500: "transient", 503: "transient", 599: "transient", 400: "permanent", 410: "permanent",
                    413: "permanent", 422: "permanent", 431: "permanent"}
        self.declare_work_queue()
        reply = lambda request: 200 if request.seen else int(request.body)
        app, daemon = self.serve(reply, f"{RETRY}, hold: {{delays: [100ms]}}")
        for number, (status, meaning) in enumerate(meanings.items(), 1):
            before = daemon.deliveries(self.queue).get(meaning, 0)
            self.send(b"%d" % status)
            eventually(lambda: daemon.deliveries(self.queue).get(meaning, 0) > before, what=f"{status} is {meaning}")
        expected = {meaning: list(meanings.values()).count(meaning) for meaning in meanings.values()}
        expected["success"] += expected["transient"] + expected["throttled"]
        eventually(lambda: daemon.deliveries(self.queue) == expected, what=str(expected))
