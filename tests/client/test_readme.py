"""The README for integrators: what it shows runs, and what it names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.client.record import ROOT, Record, command

README = ROOT / "client" / "README.md"


def test_the_session_of_the_readme_is_recorded(
    shared_record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [block] = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    code = block.replace("http://localhost:8000", shared_record.url).replace("cab_…", shared_record.key)
    code = code.replace("{today}.1", "{today}.readme")  # a session of its own
    monkeypatch.chdir(tmp_path)
    defined: dict[str, object] = {}
    exec(compile(code, str(README), "exec"), defined)
    stored = shared_record.stored(f"harbour.T1.{defined['today']}.readme")
    assert [seq for seq, _ in stored] == [1, 2, 3, 4]


def test_every_command_of_the_readme_exists() -> None:
    named = set(re.findall(r"`?cabochon (check|send|status|lost|retry|receipts|[a-z]+)\b", README.read_text()))
    help_text = command("--help").stdout
    assert named
    assert {name for name in named if f"\n    {name}" not in help_text} == set()


def test_the_links_of_the_readme_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", README.read_text())
    assert links
    assert [link for link in links if not (README.parent / link).exists()] == []
