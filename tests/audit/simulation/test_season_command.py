"""``manage.py simulate --fraud``: a season in a folder, a stream a file, with its counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

SMALL = ("--tables", "1", "--nights", "2", "--coups", "5", "--gaming-day", "2026-11-19")


def test_a_season_is_written_with_its_counts(tmp_path: Path) -> None:
    call_command("simulate", "--fraud", "skim", "--strength", "700", *SMALL, "--out", str(tmp_path))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "deauville.R1.2026-11-19.1.ndjson",
        "deauville.R1.2026-11-20.1.ndjson",
        "deauville.count.2026-11-19.EUR.ndjson",
        "deauville.count.2026-11-20.EUR.ndjson",
    ]
    events = [[json.loads(line) for line in (tmp_path / name).read_text().splitlines()] for name in names]
    assert [each["seq"] for each in events[2]] == list(range(1, len(events[2]) + 1))
    bought = sum(each["data"]["amount"] for each in events[1] if each["type"] == "buy_in.recorded")
    [counted] = [each["data"] for each in events[3] if each["type"] == "drop.counted"]
    assert (counted["session"], counted["amount"]) == ("deauville.R1.2026-11-20.1", bought), "skimmed from night 8 on"


def test_a_season_needs_a_folder(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="folder"):
        call_command("simulate", "--fraud", "skim", *SMALL, "--out", str(tmp_path / "season.ndjson"))
    assert list(tmp_path.iterdir()) == []
