"""The console blocks of the documents: what a reader types. ``python -m tests.console_blocks`` lists and counts them.

    <!-- not run: WHY -->            the next block is not run
    <!-- goes on after: TEXT -->     its command does not end: it is at work once it has printed TEXT
    <!-- file: NAME -->              the next block is saved as NAME

A block ``sh`` is commands alone. In a block ``console`` each command stands after ``$``; the other lines are what is
printed, with ``…`` for what differs from run to run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "client" / "README.md",
    ROOT / "packages" / "settlement" / "README.md",
]
LANGUAGES = frozenset({"sh", "console"})

_MARK = re.compile(r" *<!-- (not run|goes on after|file): (.+) -->")
_FENCE = re.compile(r"( *)```(\w*)")
_HEREDOC = re.compile(r"<<'?(\w+)'?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class Block:
    """One block: its page, its line there and the heading above it."""

    page: str
    line: int
    section: str
    language: str
    lines: tuple[str, ...]
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def is_console(self) -> bool:
        return self.language in LANGUAGES

    @property
    def why_not(self) -> str:
        """Why it is not run, "" if it is."""
        return self.marks.get("not run", "")

    @property
    def commands(self) -> str:
        return "\n".join(line for line, is_command in self._typed() if is_command)

    @property
    def printed(self) -> list[re.Pattern[str]]:
        """What it prints, in this order: a pattern for each line. Every date is that of today's reader."""
        lines = [line for line, is_command in self._typed() if not is_command and line not in ("", "…")]
        return [re.compile(".*".join(map(_escaped, line.split("…")))) for line in lines]

    def _typed(self) -> Iterator[tuple[str, bool]]:
        """Yield each line, and whether it is typed: after ``$``, or what a command before it goes on with."""
        if self.language == "sh":
            yield from ((line, True) for line in self.lines)
            return
        goes_on, end = False, ""
        for line in self.lines:
            is_command = line.startswith("$ ") or goes_on or bool(end)
            if not is_command:
                yield line, False
                continue
            typed = line if goes_on or end else line.removeprefix("$ ")
            yield typed, True
            heredoc = _HEREDOC.search(typed) if not end else None
            end = heredoc[1] if heredoc else "" if line == end else end
            goes_on = not end and typed.endswith("\\")


def _escaped(text: str) -> str:
    return r"\d{4}-\d\d-\d\d".join(map(re.escape, _DATE.split(text)))


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page that are typed, or that are saved as a file."""
    found: list[Block] = []
    section, marks, inside = "", dict[str, str](), None
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        if inside is not None:
            indent, begun, language, lines = inside
            if line.strip() == "```":
                block = Block(str(page.relative_to(ROOT)), begun, section, language, tuple(lines), marks)
                if block.is_console or "file" in marks:
                    found.append(block)
                inside, marks = None, {}
            else:
                lines.append(line.removeprefix(indent))
        elif fence := _FENCE.match(line):
            inside = (fence[1], number, fence[2], list[str]())
        elif mark := _MARK.fullmatch(line):
            marks = {**marks, mark[1]: mark[2]}
        else:
            marks = {}
            section = line.removeprefix("## ") if line.startswith("## ") else section
    return found


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def main() -> None:
    """Print each block that is not run with its reason, and how many are."""
    typed = [block for block in BLOCKS if block.is_console]
    not_run = [block for block in typed if block.why_not]
    for block in not_run:
        print(f"{block.name:32} {block.why_not}")
    print(f"{len(typed)} console blocks: {len(typed) - len(not_run)} run, {len(not_run)} not run.")


if __name__ == "__main__":
    main()
