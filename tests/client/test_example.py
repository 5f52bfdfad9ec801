"""The example in C++: compiled, and run through the proxy that cuts and lies while it is killed."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cabochon_client.events import canonical

from tests.casino.processes import until
from tests.client.proxy import proxy
from tests.client.record import ROOT, Record
from tests.client.table_system import event_at, stream_name

SOURCE = ROOT / "client" / "examples" / "table_system.cpp"
LIBRARIES = ("libcurl", "sqlite3", "libcrypto")


def test_the_example_is_short() -> None:
    assert len(SOURCE.read_text().splitlines()) <= 200


@pytest.fixture(scope="session")  # before the record, which a test that is skipped does not need
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, compiled; skipped where there is no compiler or a library is missing."""
    compiler, pkg_config = shutil.which("c++"), shutil.which("pkg-config")
    if compiler is None or pkg_config is None:
        pytest.skip("no C++ compiler or no pkg-config here")
    flags = subprocess.run([pkg_config, "--cflags", "--libs", *LIBRARIES], capture_output=True, text=True, check=False)
    if flags.returncode:
        pytest.skip(f"not installed here, with its headers: {flags.stderr.strip().splitlines()[0]}")
    made_at = tmp_path_factory.mktemp("example") / "table_system"
    words = [
        compiler,
        "-std=c++17",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-o",
        str(made_at),
        str(SOURCE),
        *flags.stdout.split(),
    ]
    compiled = subprocess.run(words, capture_output=True, text=True, check=False)
    assert compiled.returncode == 0, compiled.stderr
    return made_at


@contextmanager
def running(program: Path, *words: str, lines: list[str]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([str(program), *words], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        process.stdin.writelines(lines)
        process.stdin.close()
        try:
            yield process
        finally:
            process.kill()


def test_the_example_stores_each_event_once_while_it_is_killed(
    program: Path, shared_record: Record, tmp_path: Path
) -> None:
    events, stream, spool = 700, stream_name(30), str(tmp_path / "spool.db")
    lines = [json.dumps(event_at(30, seq)) + "\n" for seq in range(1, events + 1)]
    draw = random.Random(3)
    with proxy(shared_record.port, seed=3) as through:
        words = (spool, through.url, shared_record.key, stream)
        for _ in range(2):
            spooled = int(subprocess.check_output([str(program), spool]))
            with running(program, *words, lines=lines[spooled - 1 :]):
                at = len(shared_record.stored(stream)) + draw.randrange(1, 200)
                until(lambda at=at: len(shared_record.stored(stream)) >= min(at, events), "events")  # type: ignore[misc]
        spooled = int(subprocess.check_output([str(program), spool]))
        with running(program, *words, lines=lines[spooled - 1 :]) as process:
            assert process.wait(120) == 0, process.stderr and process.stderr.read()
    assert shared_record.stored(stream) == [
        (seq, canonical({**event_at(30, seq), "stream": stream, "seq": seq})) for seq in range(1, events + 1)
    ]


def test_the_example_stops_at_a_conflict(program: Path, shared_record: Record, tmp_path: Path) -> None:
    stream = stream_name(31)
    for name, actor in (("one", "dev-1"), ("two", "dev-2")):
        words = (str(tmp_path / name), shared_record.url, shared_record.key, stream)
        lines = [json.dumps({**event_at(31, seq), "actor": actor}) + "\n" for seq in (1, 2)]
        with running(program, *words, lines=lines) as process:
            assert process.wait(60) == (0 if name == "one" else 1)
            assert process.stderr is not None
            assert ("conflict" in process.stderr.read()) is (name == "two")
