"""docs/library.md: every example on the page does what the page shows."""

from __future__ import annotations

import doctest
from pathlib import Path

import settlement

PAGE = Path(settlement.__file__).parents[1] / "docs" / "library.md"


def test_every_example_of_the_page_is_true() -> None:
    # A fence would be read as output.
    text = "\n".join("" if line.startswith("```") else line for line in PAGE.read_text().splitlines())
    examples = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(examples.examples) > 20
    problems: list[str] = []
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=problems.append)
    assert results.failed == 0, "".join(problems)
