"""A client in TypeScript that openapi-generator makes of the interface's document compiles, and sends an event.

The generator is a program in Java: its wheel is downloaded, and tsc from npm, once, where the registries are reached.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.client.record import CASINO, Record, record

pytestmark = pytest.mark.faults

SESSION = Path(__file__).with_name("typed_session.ts")
GENERATOR, COMPILER = "openapi-generator-cli==7.26.0", "typescript@5.9.3"
COMPILED = {
    "compilerOptions": {
        "strict": True,
        "target": "es2020",
        "module": "commonjs",
        "lib": ["es2020", "dom"],
        "outDir": "compiled",
    },
    "include": ["**/*.ts"],
    "exclude": ["node_modules", "compiled"],
}


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``generator.jar`` and tsc."""
    if missing := [program for program in ("java", "node", "npm") if not shutil.which(program)]:
        pytest.skip(f"there is no {missing[0]}")
    folder = tmp_path_factory.mktemp("typescript")
    fetched = run(folder, sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", ".", GENERATOR)
    if fetched.returncode:
        pytest.skip(f"pip does not reach {GENERATOR}")
    if run(folder, "npm", "install", "--silent", "--no-audit", "--no-fund", COMPILER).returncode:
        pytest.skip(f"npm does not reach {COMPILER}")
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive, (folder / "generator.jar").open("wb") as jar:
        [name] = [each for each in archive.namelist() if each.endswith(".jar")]
        jar.write(archive.read(name))
    return folder


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, migrated_template: str) -> Iterator[Record]:
    with record(tmp_path_factory.mktemp("typescript") / "record", migrated_template) as started:
        yield started


def test_the_generated_client_compiles_and_sends_an_event(folder: Path, running: Record) -> None:
    with urllib.request.urlopen(f"{running.url}/api/v1/schema/?format=json", timeout=60) as answer:
        (folder / "openapi.json").write_bytes(answer.read())
    options = ["generate", "--input-spec", "openapi.json", "--generator-name", "typescript-fetch", "--output", "client"]
    generated = run(folder, "java", "-jar", "generator.jar", *options)
    assert generated.returncode == 0, generated.stdout + generated.stderr
    assert (folder / "client" / "apis" / "WebhooksApi.ts").exists(), "webhooks are compiled too"

    shutil.copy(SESSION, folder / "session.ts")
    (folder / "tsconfig.json").write_text(json.dumps(COMPILED))
    compiled = run(folder, "node_modules/.bin/tsc", "--project", ".")
    assert (compiled.returncode, compiled.stdout) == (0, "")

    day = datetime.now(UTC).date().isoformat()
    sent = run(folder, "node", "compiled/session.js", running.url, running.key, CASINO, day)
    assert (sent.returncode, sent.stdout) == (0, f"2 2 {CASINO}\n"), sent.stderr
    assert [seq for seq, _ in running.stored("harbour.T1.typescript")] == [1]
