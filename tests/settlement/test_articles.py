"""Every article module is laid out alike: its law, in force, scope and gaps first; then tables, public, private."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import settlement

PACKAGE = Path(settlement.__file__).parent
ARTICLES = sorted([*PACKAGE.glob("fr/art_*.py"), *PACKAGE.glob("qc/s_*.py")])

USED_BY_TABLES = {"by_number", "_on"}
"""Functions that the tables of odds are made with, so that they come before them."""


@pytest.mark.parametrize("path", ARTICLES, ids=lambda path: path.stem)
def test_an_article_says_its_law_its_time_its_scope_and_what_is_missing(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
    labels = re.findall(r"^(Law|In force|Scope|Missing) +\S", docstring, re.MULTILINE)
    assert labels == ["Law", "In force", "Scope", "Missing"]
    title = docstring.splitlines()[0]
    country, *numbers = re.findall(r"^Art|^S|\d+", title)
    assert path.stem.startswith("_".join([country.lower(), *numbers])), title


@pytest.mark.parametrize("path", ARTICLES, ids=lambda path: path.stem)
def test_public_functions_come_before_private_ones(path: Path) -> None:
    names = [node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
    names = [name for name in names if name not in USED_BY_TABLES]
    assert names == sorted(names, key=lambda name: name.startswith("_"))


def test_there_is_a_module_for_every_article_that_is_supplied() -> None:
    assert len(ARTICLES) == len(list((PACKAGE / "law_texts").iterdir()))
