"""Alert rules and dashboard name metrics that ``/metrics`` has, and are what Prometheus takes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from django.conf import settings

from audit.consumers import REGISTRY

ROOT = Path(__file__).parent.parent.parent
MONITORING = ROOT / "deploy" / "monitoring"
_METRIC = re.compile(r"\bcabochon_\w+")


def exported() -> set[str]:
    """Return the metrics that ``casino/metrics.py`` names, with their prefix."""
    source = (ROOT / "casino" / "metrics.py").read_text()
    short = re.findall(r'_gauge\("(\w+)"', source) + re.findall(r'"(witness_\w+)": "', source)
    requests = (ROOT / "casino" / "request_metrics.py").read_text()
    return {f"cabochon_{name}" for name in short} | set(re.findall(r'"(cabochon_\w+)"', source + requests))


def expressions_of_alerts() -> list[str]:
    groups = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    return [rule["expr"] + rule["annotations"]["summary"] for rule in rules]


def expressions_of_panels() -> list[str]:
    dashboard = json.loads((MONITORING / "cabochon.json").read_text())
    return [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]


def named_in(expression: str) -> set[str]:
    """Return the metrics of an expression; the parts of a histogram and of a counter are called by its name."""
    return {re.sub("_(count|bucket|total)$", "", name) for name in _METRIC.findall(expression)}


def test_every_metric_of_an_alert_and_of_a_panel_exists() -> None:
    assert len(exported()) >= 16
    for expression in [*expressions_of_alerts(), *expressions_of_panels()]:
        named = named_in(expression)
        assert named or 'up{job="cabochon"}' in expression, expression
        assert named <= exported(), expression


def test_every_metric_is_on_the_dashboard() -> None:
    assert {name for each in expressions_of_panels() for name in named_in(each)} == exported()


@pytest.mark.parametrize("figure", ["stalled", "set_aside"])
def test_every_consumer_that_stands_still_or_sets_something_aside_is_an_alert(figure: str) -> None:
    """A witness that has never cosigned has no age that an alert could be about."""
    about = re.findall(rf"cabochon_consumer_{figure}\b(?:\{{(.*?)\}})?", " ".join(expressions_of_alerts()))
    selectors = [re.findall(r'(\w+)(!?=)"(.*?)"', each) for each in about]
    for consumer in REGISTRY:
        labels = {"consumer": consumer.name, "severity": consumer.severity}
        assert any(
            all((labels[name] == value) is (sign == "=") for name, sign, value in selector) for selector in selectors
        ), consumer.name


def test_the_limits_of_the_alerts_are_those_of_health() -> None:
    limits = {"beat|sequencer": 60, "replay|notify": 120, "night": 1200}
    (expression,) = [each for each in expressions_of_alerts() if "heartbeat_age" in each]
    for processes, limit in limits.items():
        assert re.search(rf'process=~?"{re.escape(processes)}"\}} > {limit}\b', expression)
        for process in processes.split("|"):
            assert getattr(settings, f"CABOCHON_{process.upper()}_STALE_S") == limit


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in json.loads((MONITORING / "cabochon.json").read_text())["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not taken & cells, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells


def test_every_severity_has_a_route_that_ends_at_the_receiver_from_the_environment() -> None:
    alertmanager = yaml.safe_load((MONITORING / "alertmanager.yml").read_text())
    groups = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"]
    assert {rule["labels"]["severity"] for group in groups for rule in group["rules"]} == {"page", "ticket"}
    [receiver] = alertmanager["receivers"]
    routes = [alertmanager["route"], *alertmanager["route"]["routes"]]
    assert {route["receiver"] for route in routes} == {receiver["name"]}
    assert receiver["webhook_configs"] == [{"url_file": "/run/secrets/alert-url", "send_resolved": True}]
    compose = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())
    assert compose["secrets"]["alert-url"] == {"environment": "CABOCHON_ALERT_URL"}
    [target] = yaml.safe_load((MONITORING / "prometheus.yml").read_text())["alerting"]["alertmanagers"]
    assert target["static_configs"] == [{"targets": ["alertmanager:9093"]}]


@pytest.mark.parametrize("url", ["", "https://pager.example/hook"])
def test_without_a_receiver_alertmanager_says_at_its_start_that_no_alert_reaches_anybody(
    tmp_path: Path, url: str
) -> None:
    """The commands of compose, with the paths of this test in them."""
    service = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())["services"]["alertmanager"]
    (tmp_path / "alert-url").write_text(url)
    (tmp_path / "alertmanager").write_text("#!/bin/sh\necho started\n")
    (tmp_path / "alertmanager").chmod(0o755)
    script = (
        service["entrypoint"][-1].replace("/run/secrets/", f"{tmp_path}/").replace("/bin/alert", f"{tmp_path}/alert")
    )
    started = subprocess.run(["/bin/sh", "-c", script], check=True, capture_output=True, text=True)
    assert started.stdout == "started\n"
    assert ("No alert reaches anybody" in started.stderr) is not bool(url)
    asks_first = service["healthcheck"]["test"][-1].partition(" && ")[0].replace("/run/secrets/", f"{tmp_path}/")
    assert (subprocess.run(["/bin/sh", "-c", asks_first], check=False).returncode == 0) is bool(url)


@pytest.mark.parametrize(
    ("program", "about"),
    [("promtool", ("check", "rules", "alerts.yml")), ("amtool", ("check-config", "alertmanager.yml"))],
)
def test_prometheus_and_alertmanager_take_the_files(program: str, about: tuple[str, ...]) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program}")
    *command, file = about
    subprocess.run([program, *command, str(MONITORING / file)], check=True, capture_output=True)
