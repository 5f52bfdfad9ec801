"""Tables that benchmarks write into a page, between two marks."""

from __future__ import annotations

from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
RESULTS = Path(__file__).parent / "results"


def write(mark: str, lines: list[str], page: Path, module: str = "fraud") -> None:
    """Replace what is between the marks of a page."""
    begin, end = f"<!-- {mark}: python -m benchmarks.{module} -->", f"<!-- end of {mark} -->"
    before, _begin, rest = page.read_text().partition(begin)
    _old, _end, after = rest.partition(end)
    page.write_text(f"{before}{begin}\n\n" + "\n".join(lines) + f"\n\n{end}{after}")
