"""Shared code names no game: it asks the ruleset.

A *word of a game* is the name of a ruleset or of a game, or a bet, as a text of its own; and any name in the code that
has a game or its equipment in it. They belong in the modules of games, and where those are listed.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from two_coins.ruleset import TOY

from settlement import RULESETS
from settlement.rulesets import registered
from tests.trees import nodes_of

ROOT = Path(__file__).parents[1]

OF_GAMES = (
    # articles, rulesets, and what two rulesets of one game share
    "settlement/fr/",
    "settlement/qc/",
    "settlement/layouts.py",
    "settlement/catalogue/games.py",
    # the texts: what each says, leaves open, and asks of whom
    "settlement/law.py",
    "settlement/quotations.py",
    "settlement/readings.py",
    "settlement/law_coverage/art_",
    "settlement/law_coverage/s_",
    "settlement/eprocess/",
    "audit/felt/geometry.py",
    "audit/simulation/frauds.py",
    "audit/simulation/surveillance.py",
    "audit/simulation/irregularities.py",
)
"""The modules of games, beside those that a game names: a file, or how its name begins."""

LISTS_THEM = ("settlement/rulesets.py", "settlement/events/__init__.py")
"""Where rulesets, and the event types of the contract, are listed."""

RESIDUE = frozenset(
    {
        # The contract lists the markers of ``wager.placed``, and one of them is called as the bet that it is put on.
        "settlement/events/stakes.py",
    }
)
"""Modules that are shared and still name something of a game, by reason. The list may only get shorter.

What is left is a word of the contract, which whoever reads an event has to know, whatever its ruleset.
"""

GAMES = sorted({ruleset.game.rpartition("_")[2] for ruleset in RULESETS.values()})
"""What the games of the rulesets are called in code: a module that has it in its name is one of a game."""

NAMES = re.compile("|".join([*GAMES, "american", "quebec", "québec"]), re.IGNORECASE)


EVENTS_OF_GAMES = frozenset(
    node.name
    for module in (ROOT / "settlement" / "events").glob("*.py")
    if NAMES.search(module.stem)
    for node in ast.parse(module.read_text()).body
    if isinstance(node, ast.ClassDef)
)


def shared_modules() -> list[Path]:
    modules = [*(ROOT / "settlement").rglob("*.py"), *(ROOT / "audit").rglob("*.py"), *(ROOT / "casino").rglob("*.py")]
    named = {path: path.relative_to(ROOT).as_posix() for path in modules if "migrations" not in path.parts}
    listed = (*OF_GAMES, *LISTS_THEM)
    return [path for path, name in sorted(named.items()) if not (name.startswith(listed) or NAMES.search(path.stem))]


def words_of_games() -> frozenset[str]:
    """Return the words that only a game has: bets that are everyday words of code are left out."""
    words = {name for ruleset in RULESETS.values() for name in (ruleset.name, ruleset.game)}
    bets = {bet for ruleset in RULESETS.values() for bet in ruleset.kinds}
    return frozenset(words | bets - {"win", "come", "field", "seven", "pair"})


def found_in(path: Path) -> list[str]:
    """Return the words of games in a module: texts that are one, names that have one in them, imports."""
    tree = ast.parse(path.read_text())
    words, found = words_of_games(), []
    for node in nodes_of(tree):
        match node:
            case ast.Constant(value=str(text)) if text in words:
                found.append(f"{node.lineno}: {text!r}")
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                if NAMES.search(name):
                    found.append(f"{node.lineno}: {name}")
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
                imported = [f"{module}.{each.name}" for each in names]
                is_of_game = re.match(r"settlement\.(fr|qc)\b", module) or any(map(NAMES.search, imported))
                if is_of_game or any(each.name in EVENTS_OF_GAMES for each in names):
                    found.append(f"{node.lineno}: import of {', '.join(imported)}")
    return found


def test_shared_code_names_no_game() -> None:
    modules = {path.relative_to(ROOT).as_posix(): path for path in shared_modules()}
    assert len(modules) > 300
    found = [f"{name}:{each}" for name, path in modules.items() if name not in RESIDUE for each in found_in(path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", sorted(RESIDUE))
def test_what_is_left_over_is_still_there(name: str) -> None:
    assert found_in(ROOT / name) != [], "take it off the list"


def test_pages_and_scripts_name_no_game() -> None:
    files = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "audit" / "static").rglob("*.js")]
    words = "|".join(map(re.escape, words_of_games()))
    found = [
        f"{path.name}: {hit[0]}" for path in files for hit in re.finditer(rf"[\"'](?:{words})[\"']", path.read_text())
    ]
    assert found == []


def test_the_words_are_those_of_every_ruleset() -> None:
    assert {"fr-craps", "american_roulette", "plein", "lay_bet"} <= words_of_games()
    with registered(TOY):
        assert "une_de_chaque" in words_of_games()
