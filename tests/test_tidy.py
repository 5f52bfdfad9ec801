"""Checks of the code itself: what ``settlement`` may import, name and write; how long things may grow.

An allow-list, because a deny-list only stops the dependencies somebody thought of.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAW = sorted((ROOT / "settlement").rglob("*.py"))
CODE = [
    path
    for folder in ("settlement", "audit", "casino", "cabochon_witness", "client", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "migrations" not in path.parts
]

ALLOWED = {
    "__future__",
    "collections",
    "contextlib",  # a ruleset for a while: `registered`
    "dataclasses",
    "decimal",  # with a context of its own; never mixed with money
    "datetime",  # dates of laws and instants of events; never the clock, see BANNED_CALLS
    "enum",
    "fractions",
    "functools",
    "hashlib",
    "itertools",
    "json",  # the one reader that shows a name given twice
    "math",
    "msgspec",
    "re",
    "settlement",
    "types",
    "typing",
}
KNOWS_HTTP = ("audit/api/", "audit/desk/", "audit/templatetags/", "casino/", "client/", "benchmarks/")
HTTP = ("django.http", "django.shortcuts", "rest_framework")

READS_THE_LAW = {"law.py": {"importlib"}}
LOOKS_UP_BY_NAME = {"ruleset.py": {"pkgutil"}}
"""A ruleset names what needs the engine, or is of another package: it is looked up when it is first asked for."""
BANNED_CALLS = {"float", "now", "today", "utcnow", "open", "print", "input", "eval", "exec", "time", "random"}

LONGEST_MODULE = 500
LONGEST_FUNCTION = 70
ONE_FILE_BY_DESIGN = {"audit/evidence/verify.py": 650}
"""What is handed out as one file, with nothing to install, may be longer."""

BANNED_NAMES = {"utils", "helpers", "manager", "base", "common", "misc"}
NAMED_BY_DJANGO = {ROOT / "audit" / "event_store" / "any_node" / "base.py"}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", LAW, ids=name_of)
def test_the_law_is_pure(path: Path) -> None:
    allowed = ALLOWED | READS_THE_LAW.get(path.name, set()) | LOOKS_UP_BY_NAME.get(path.name, set())
    for node in ast.walk(ast.parse(path.read_text())):
        where = f"{path.name}:{getattr(node, 'lineno', '?')}"
        match node:
            case ast.Import(names):
                assert {name.name.split(".")[0] for name in names} <= allowed, where
            case ast.ImportFrom(module=str(module), level=0):
                assert module.split(".")[0] in allowed, where
            case ast.ImportFrom():
                pytest.fail(f"{where}: relative import")
            case ast.Constant(value=float()):
                pytest.fail(f"{where}: float literal")
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                assert name not in BANNED_CALLS, f"{where}: {name}()"


@pytest.mark.parametrize("path", [path for path in CODE if not name_of(path).startswith(KNOWS_HTTP)], ids=name_of)
def test_use_cases_know_no_http(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        modules = []
        if isinstance(node, ast.Import):
            modules = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules = [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
        assert not [module for module in modules if module.startswith(HTTP)], f"{path.name}:{node.lineno}"


@pytest.mark.parametrize("path", CODE, ids=name_of)
def test_modules_and_functions_keep_their_length(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= ONE_FILE_BY_DESIGN.get(name_of(path), LONGEST_MODULE)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < LONGEST_FUNCTION, f"{path.name}:{node.lineno} {node.name}"


@pytest.mark.parametrize("path", CODE, ids=name_of)
def test_modules_say_what_they_are(path: Path) -> None:
    assert path.stem not in BANNED_NAMES or path in NAMED_BY_DJANGO
    text = path.read_text()
    if text.strip():
        docstring = ast.get_docstring(ast.parse(text))
        assert docstring, "a module opens with what it is for"


def test_nothing_names_a_machine_of_ours() -> None:
    # Paths of homes and work trees have no place in what others clone.
    home = re.compile(r"/(?:root|home/\w+|work)/")
    for path in [
        *CODE,
        ROOT / "Makefile",
        ROOT / "README.md",
        ROOT / "client" / "README.md",
        *(ROOT / "docs").rglob("*.md"),
    ]:
        if path.exists():
            assert not home.search(path.read_text()), name_of(path)


def test_the_standard_library_is_what_python_3_11_has() -> None:
    assert ALLOWED - {"settlement", "msgspec"} <= set(sys.stdlib_module_names) | {"__future__"}
