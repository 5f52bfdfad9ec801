"""Alert rules and dashboard name metrics that ``/metrics`` has, and are what Prometheus takes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent
MONITORING = ROOT / "deploy" / "monitoring"
_METRIC = re.compile(r"\bcabochon_\w+")


def exported() -> set[str]:
    """Return the metrics that ``casino/metrics.py`` names, with their prefix."""
    source = (ROOT / "casino" / "metrics.py").read_text()
    short = re.findall(r'_gauge\("(\w+)"', source) + re.findall(r'"(witness_\w+)": "', source)
    return {f"cabochon_{name}" for name in short} | set(re.findall(r'"(cabochon_\w+)"', source))


def expressions_of_alerts() -> list[str]:
    groups = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    return [rule["expr"] + rule["annotations"]["summary"] for rule in rules]


def expressions_of_panels() -> list[str]:
    dashboard = json.loads((MONITORING / "cabochon.json").read_text())
    return [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]


def test_every_metric_of_an_alert_and_of_a_panel_exists() -> None:
    assert len(exported()) >= 16
    for expression in [*expressions_of_alerts(), *expressions_of_panels()]:
        named = set(_METRIC.findall(expression))
        assert named or 'up{job="cabochon"}' in expression, expression
        assert named <= exported(), expression


def test_every_metric_is_on_the_dashboard() -> None:
    assert {name for each in expressions_of_panels() for name in _METRIC.findall(each)} == exported()


def test_the_limits_of_the_alerts_are_those_of_health() -> None:
    settings = (ROOT / "casino" / "settings.py").read_text().replace("_", "")
    limits = {"beat|sequencer": 60, "replay": 120, "night": 1200}
    (expression,) = [each for each in expressions_of_alerts() if "heartbeat_age" in each]
    for processes, limit in limits.items():
        assert re.search(rf'process=~?"{re.escape(processes)}"\}} > {limit}\b', expression)
        for process in processes.split("|"):
            assert f'CABOCHON{process.upper()}STALES", default={limit}.0' in settings


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in json.loads((MONITORING / "cabochon.json").read_text())["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not taken & cells, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells


def test_prometheus_takes_the_rules() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("there is no promtool")
    subprocess.run([promtool, "check", "rules", str(MONITORING / "alerts.yml")], check=True, capture_output=True)
