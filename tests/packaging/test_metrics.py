"""Rules, dashboard and documentation speak of the metrics that there are."""

import json
import pathlib
import re
import unittest

from retryd import Retryd, eventually

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ROOT / "deploy/prometheus/rules.yaml"
DASHBOARD = ROOT / "deploy/grafana/retryd.json"
DOCUMENT = ROOT / "docs/metrics.md"
NO_BROKER = "amqp://guest:guest@127.0.0.1:9/"
NAME = re.compile(r"\bretryd_[a-z_]+\b")


def names_in(path):
    return set(NAME.findall(path.read_text(encoding="utf-8")))


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        daemon = Retryd('queues: {orders: "unix:/nonexistent/app.sock"}\n', amqp=NO_BROKER)
        cls.addClassCleanup(daemon.end)
        daemon.start(wait_ready=False)
        eventually(lambda: daemon.answers("/livez"), what="/livez")
        cls.text = daemon.get("/metrics")[1]
        families = dict(re.findall(r"^# TYPE (\S+) (\S+)$", cls.text, re.MULTILINE))
        cls.families = set(families)
        parts = {name + part for name, kind in families.items() if kind == "histogram" for part in ("_bucket", "_sum", "_count")}
        cls.names = cls.families | parts

    def test_the_scrape_has_what_is_looked_for(self):
        self.assertIn("retryd_deliveries_total", self.families)
        self.assertIn("retryd_delivery_seconds_bucket", self.names)

    def test_rules_and_dashboard_name_only_metrics_that_exist(self):
        for path in (RULES, DASHBOARD):
            with self.subTest(path.name):
                self.assertGreater(len(names_in(path)), 5)
                self.assertEqual(names_in(path) - self.names, set())

    def test_the_dashboard_shows_every_metric(self):
        shown = {re.sub("_(bucket|sum|count)$", "", name) for name in names_in(DASHBOARD)}
        self.assertEqual(self.families - shown, set())

    def test_the_recording_rules_that_the_dashboard_uses_exist(self):
        recorded = set(re.findall(r"record: (\S+)", RULES.read_text(encoding="utf-8")))
        used = set(re.findall(r"\bretryd:[a-z0-9_:]+", DASHBOARD.read_text(encoding="utf-8")))
        self.assertTrue(used)
        self.assertEqual(used - recorded, set())

    def test_the_dashboard_is_one_that_can_be_loaded(self):
        panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        for panel in panels:
            self.assertTrue(panel["title"] and panel["targets"])
            for target in panel["targets"]:
                self.assertEqual(target["expr"].count("("), target["expr"].count(")"))

    def test_the_document_explains_every_metric_and_no_other(self):
        self.assertEqual(names_in(DOCUMENT), self.families)

    def test_the_document_explains_every_label_value(self):
        document = DOCUMENT.read_text(encoding="utf-8")
        values = set(re.findall(r'(?:outcome|reason|cause)="([^"]*)"', self.text))
        self.assertGreater(len(values), 20)
        self.assertEqual({value for value in values if f"`{value}`" not in document}, set())
