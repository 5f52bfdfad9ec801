"""Checks of the code itself: what ``settlement`` may import, name and write; how long things may grow.

An allow-list, because a deny-list only stops the dependencies somebody thought of.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.trees import nodes_of, statements_of

ROOT = Path(__file__).parent.parent
LAW = frozenset((ROOT / "settlement").rglob("*.py"))
CODE = [
    path
    for folder in ("settlement", "audit", "casino", "cabochon_witness", "client", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "migrations" not in path.parts
]

ALLOWED = {
    "__future__",
    "bisect",
    "collections",
    "contextlib",  # a ruleset for a while: `registered`
    "dataclasses",
    "datetime",  # dates of laws and instants of events; never the clock, see BANNED_CALLS
    "decimal",  # with a context of its own; never mixed with money
    "enum",
    "fractions",
    "functools",
    "hashlib",
    "itertools",
    "json",  # the one reader that shows a name given twice
    "math",
    "msgspec",
    "operator",
    "re",
    "settlement",
    "types",
    "typing",
    "weakref",  # what a state has knows the state, and does not keep it
}
KNOWS_HTTP = ("audit/api/", "audit/desk/", "audit/templatetags/", "casino/", "client/", "benchmarks/")
HTTP = ("django.http", "django.shortcuts", "rest_framework")

READS_THE_LAW = {"law.py": {"importlib"}}
LOOKS_UP_BY_NAME = {"ruleset.py": {"pkgutil"}, "rulesets.py": {"importlib"}}
"""A ruleset names what needs the engine, or is of another package: it is looked up when it is first asked for. Rulesets
themselves are named by entry points."""
BANNED_CALLS = {"float", "now", "today", "utcnow", "open", "print", "input", "eval", "exec", "time", "random"}

LONGEST_MODULE = 500
LONGEST_FUNCTION = 70
ONE_FILE_BY_DESIGN = {"audit/evidence/verify.py": 670}
"""What is handed out as one file, with nothing to install, may be longer."""

BANNED_NAMES = {"utils", "helpers", "manager", "base", "common", "misc"}
NAMED_BY_DJANGO = {ROOT / "audit" / "event_store" / "any_node" / "base.py"}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def impurities(path: Path, nodes: list[ast.AST]) -> Iterator[str]:
    """Yield what the law may not import, write or call."""
    allowed = ALLOWED | READS_THE_LAW.get(path.name, set()) | LOOKS_UP_BY_NAME.get(path.name, set())
    name = name_of(path)
    for node in nodes:
        where = f"{name}:{getattr(node, 'lineno', '?')}"
        match node:
            case ast.Import(names):
                if forbidden := {name.name.split(".")[0] for name in names} - allowed:
                    yield f"{where}: import of {sorted(forbidden)}"
            case ast.ImportFrom(module=str(module), level=0):
                if module.split(".")[0] not in allowed:
                    yield f"{where}: import of {module}"
            case ast.ImportFrom():
                yield f"{where}: relative import"
            case ast.Constant(value=float()):
                yield f"{where}: float literal"
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)) if called in BANNED_CALLS:
                yield f"{where}: {called}()"


def imports_of_http(path: Path, nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        modules = []
        if isinstance(node, ast.Import):
            modules = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules = [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
        if any(each.startswith(HTTP) for each in modules):
            yield f"{name_of(path)}:{getattr(node, 'lineno', '?')}"


def too_long(path: Path, nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_function and (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION:
            yield f"{name_of(path)}:{node.lineno} {node.name}"


@cache
def found() -> dict[str, list[str]]:
    """Return what is wrong, by the test that looks for it. Every module is read once, and its tree is not kept."""
    wrong: dict[str, list[str]] = defaultdict(list)
    for path in CODE:
        name, text = name_of(path), path.read_text()
        tree = ast.parse(text)
        statements = statements_of(tree)
        if path in LAW:
            wrong["impure"] += impurities(path, nodes_of(tree))
        if not name.startswith(KNOWS_HTTP):
            wrong["http"] += imports_of_http(path, statements)
        wrong["long"] += too_long(path, statements)
        if text.count("\n") > ONE_FILE_BY_DESIGN.get(name, LONGEST_MODULE):
            wrong["long"].append(name)
        if text.strip() and not ast.get_docstring(tree):
            wrong["silent"].append(name)
    return wrong


def test_the_law_is_pure() -> None:
    assert len(set(LAW) & set(CODE)) > 100
    assert not found()["impure"], "\n".join(found()["impure"])


def test_use_cases_know_no_http() -> None:
    assert not found()["http"], "\n".join(found()["http"])


def test_modules_and_functions_keep_their_length() -> None:
    assert not found()["long"], "\n".join(found()["long"])


def test_modules_say_what_they_are() -> None:
    assert [name_of(path) for path in CODE if path.stem in BANNED_NAMES and path not in NAMED_BY_DJANGO] == []
    assert not found()["silent"], "\n".join(["a module opens with what it is for:", *found()["silent"]])


def test_nothing_names_a_machine_of_ours() -> None:
    # Paths of homes and work trees have no place in what others clone.
    home = re.compile(r"/(?:root|home/\w+|work)/")
    pages = [ROOT / "Makefile", ROOT / "README.md", ROOT / "client" / "README.md", *(ROOT / "docs").rglob("*.md")]
    assert [name_of(path) for path in [*CODE, *pages] if path.exists() and home.search(path.read_text())] == []


def test_the_standard_library_is_what_python_3_11_has() -> None:
    assert ALLOWED - {"settlement", "msgspec"} <= set(sys.stdlib_module_names) | {"__future__"}
