"""No module imports itself by way of others, under ``TYPE_CHECKING`` and inside functions included."""

from __future__ import annotations

from functools import cache
from graphlib import TopologicalSorter

import grimp

from settlement.rulesets import OURS


@cache
def imports() -> dict[str, set[str]]:
    """Return what each module of ours imports, read from the sources."""
    graph = grimp.build_graph("settlement", "audit", "casino", cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def test_there_is_no_circle_of_imports() -> None:
    found = imports()
    assert "settlement.engine" in found["settlement.streams"]
    TopologicalSorter(found).prepare()  # which names the circle


def test_a_ruleset_is_imported_by_its_entry_point_alone() -> None:
    rulesets = {each.module for each in OURS}
    named = {module: rulesets & imported for module, imported in imports().items()}
    assert {module: each for module, each in named.items() if each} == {}
    assert rulesets <= named.keys()
