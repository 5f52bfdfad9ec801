"""The examples of ``docs/ingestion.md`` run against the real application."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from django.db import connections

from tests.audit.api.web import Web
from tests.audit.tables import Tenant

PAGE = Path(__file__).parents[3] / "docs" / "ingestion.md"

pytestmark = pytest.mark.django_db(transaction=True)


def examples() -> dict[str, Any]:
    """Return the functions that the Python examples of the page define."""
    defined: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), defined)
    return defined


class Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    way = Web()

    def application(environ: Any, start_response: Any) -> Any:
        try:
            return list(way(environ, start_response))
        finally:
            connections.close_all()

    with make_server("localhost", 0, application, handler_class=Quiet) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.skipif(not shutil.which("curl"), reason="no curl here")
def test_the_first_request_of_the_page_is_run_as_it_stands(url: str, tmp_path: Path) -> None:
    """Only the key, its casino and the address are another's: the page has those of a sandbox beside ``make run``."""
    tenant = Tenant(code="harbour")
    block = re.search(
        r"```console\n\$ export CABOCHON_URL=.*?\n(\$ DAY=.*?)\n\{\"sandbox\"", PAGE.read_text(), re.DOTALL
    )
    assert block is not None
    commands = re.sub(r"^\$ ", "", block[1], flags=re.MULTILINE).replace('"harbour-sandbox"', '"harbour"')
    for _ in range(2):
        script = ["bash", "-euc", f"CABOCHON_URL={url} CABOCHON_KEY={tenant.secret}\n{commands}"]
        sent = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=True)
        receipt = json.loads(sent.stdout)
        assert (receipt["first_seq"], receipt["last_seq"], receipt["next_seq"]) == (1, 2, 3), sent.stdout
        commands = commands[commands.index("curl ") :]  # the same again
        commands = f"DAY=$(date +%F)\n{commands}"


@pytest.mark.parametrize("is_sandbox", [False, True], ids=["casino", "sandbox"])
def test_the_client_on_the_page_sends_retries_and_verifies_its_receipt(url: str, is_sandbox: bool) -> None:
    page, tenant = examples(), Tenant(is_sandbox=is_sandbox)
    stream = "documented"
    night = tenant.session(stream, 2)
    night[0]["data"]["table"] = tenant.table.code
    receipt = page["send"](url, tenant.secret, stream, night)
    assert (receipt["first_seq"], receipt["last_seq"], receipt["next_seq"]) == (1, 2, 3)
    assert page["send"](url, tenant.secret, stream, night) == receipt

    with page["urllib"].request.urlopen(f"{url}/api/v1/log/key") as answer:
        keys = json.load(answer)["keys"]
    assert page["is_signed"](receipt, keys)
    assert not page["is_signed"](receipt | {"last_seq": 3}, keys)
    assert not page["is_signed"](receipt, [key for key in keys if key["purpose"] != "receipt"])
