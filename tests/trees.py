"""The nodes of modules, for tests that read the code: ``ast.walk`` took half of their time, most of it for nothing."""

from __future__ import annotations

import ast
from functools import cache

_NO_NODES = {"ctx", "op", "ops", "id", "attr", "name", "arg", "asname", "module", "level", "kind", "type_comment"}
"""Fields without nodes, or with one that only says whether a name is read and which operator it is."""

_OF_STATEMENTS = {"body", "orelse", "handlers", "finalbody", "cases"}


def nodes_of(tree: ast.Module) -> list[ast.AST]:
    """Return every node of a module, itself first, but those that say how a name is used and which operator it is."""
    nodes: list[ast.AST] = [tree]
    for node in nodes:  # which grows meanwhile
        for name in _fields(type(node)):
            value = getattr(node, name, None)
            if type(value) is list:
                nodes += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST):
                nodes.append(value)
    return nodes


@cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    return () if kind is ast.Constant else tuple(name for name in kind._fields if name not in _NO_NODES)


def statements_of(tree: ast.Module) -> list[ast.AST]:
    """Return a module and every statement in it: imports, functions and classes are among them."""
    nodes: list[ast.AST] = [tree]
    for node in nodes:
        for name in _of_statements(type(node)):
            nodes += getattr(node, name)
    return nodes


@cache
def _of_statements(kind: type[ast.AST]) -> tuple[str, ...]:
    return () if issubclass(kind, ast.expr) else tuple(name for name in kind._fields if name in _OF_STATEMENTS)
