"""Every console block is marked as one, is whole, and says why if nobody runs it; the cheap ones are run here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.console_blocks import BLOCKS, PAGES, ROOT, Block

PROGRAMS = re.compile(
    r"(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?(?:(?:python3?|pip|make|docker|psql|curl|git|cabochon|systemctl"
    r"|rabbitmqctl|manage\.py|export) |pg_\w+ )"
)
"""How a line begins that is typed."""

CHEAP = ("docs/account.md", pytest.param("docs/adding-a-rule.md", marks=pytest.mark.faults))
"""Pages of which all that is run takes seconds, and needs no server."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_is_typed_is_in_a_console_block(page: Path) -> None:
    """An indented block, or one of another language, would be run by nobody."""
    text = re.sub(r"^( *)```(?:sh|console|text)\n.*?^\1```$", "", page.read_text(), flags=re.S | re.M)
    outside = [line for line in text.splitlines() if line.startswith("    ") and PROGRAMS.match(line.strip())]
    fenced = [line for block in re.findall(r"^```\w*\n(.*?)^```$", text, re.S | re.M) for line in block.splitlines()]
    assert outside + [line for line in fenced if PROGRAMS.match(line)] == []


@pytest.mark.parametrize("block", [each for each in BLOCKS if each.is_console], ids=lambda block: block.name)
def test_a_block_is_what_a_shell_reads(block: Block) -> None:
    assert block.commands
    checked = subprocess.run(["bash", "-n"], input=block.commands, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_a_reason_names_what_does_it_instead() -> None:
    """Where a reason names a test, that is there."""
    named = [(block, path) for block in BLOCKS for path in re.findall(r"\btests/[\w/.]*\w", block.why_not)]
    assert named
    assert [(block.name, path) for block, path in named if not (ROOT / path).exists()] == []
    assert [block.name for block in BLOCKS if block.is_console and block.why_not and len(block.why_not) < 12] == []


@pytest.mark.parametrize("page", CHEAP)
def test_the_cheap_pages_are_run(page: str, tmp_path: Path) -> None:
    """In a folder of its own, from which the checkout is reached by links."""
    for path in (ROOT / name for name in ("manage.py", "audit", "casino", "settlement", "templates", "locale", "docs")):
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (tmp_path / ".venv" / "bin" / "python").chmod(0o755)
    ours = [block for block in BLOCKS if block.page == page and not block.why_not]
    for block in ours:
        if name := block.marks.get("file"):
            (tmp_path / name).write_text("\n".join(block.lines) + "\n")
    typed = "\n".join(block.commands for block in ours if block.is_console)
    done = subprocess.run(
        ["bash", "-euo", "pipefail"],
        input=typed,
        cwd=tmp_path,
        env={**os.environ, "CABOCHON_DATA": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout
