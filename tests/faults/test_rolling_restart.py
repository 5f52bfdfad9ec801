"""A rolling restart by the documentation: two web servers behind nginx, one stopped and started after the other.

    table systems ──TLS──► nginx ─┬─► web server      stopped, started, answers at /health/accepts, two seconds more
                                  └─► web server      then the other

The table systems try nothing twice: what is lost here, a table would have had to send again.
"""

from __future__ import annotations

import time

import pytest

from tests.casino.processes import is_ready, until
from tests.faults.test_brokers import nights
from tests.faults.test_deployment import (
    STARTS_WITHIN_S,
    Deployment,
    deployment,
    folder,
    free_ports,
    install,
    under_load,
)

pytestmark = pytest.mark.faults

__all__ = ["deployment", "folder"]

LEFT_OUT_S = 2
"""What the documentation says to wait: nginx leaves a web server out for a second after it did not answer."""


def test_a_rolling_restart_of_two_web_servers_loses_and_stalls_no_request(deployment: Deployment) -> None:
    deployment.more_web_ports = free_ports()[:1]
    key = install(deployment)
    servers: list[tuple[str, int | None, int]] = [("web", None, deployment.web_port)]
    servers += [(f"web-{port}", port, port) for port in deployment.more_web_ports]
    for _, _, port in servers:
        until(lambda port=port: is_ready(f"http://127.0.0.1:{port}"), "both", timeout_s=STARTS_WITHIN_S)  # type: ignore[misc]
    with under_load(deployment, key, nights("deauville")[1:7], ["https"]) as load:
        for name, own, port in servers:
            before = deployment.running[name]
            before.terminate()
            assert before.wait(60) == 0
            deployment.start("web", port=own)
            until(lambda port=port: is_ready(f"http://127.0.0.1:{port}"), name, timeout_s=STARTS_WITHIN_S)  # type: ignore[misc]
            time.sleep(LEFT_OUT_S)
        assert all(deployment.running[name].poll() is None for name, *_ in servers)
    load.assert_nobody_noticed()
