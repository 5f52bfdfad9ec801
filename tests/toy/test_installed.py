"""The package of the toy, built and installed beside Cabochon, in processes that have imported nothing before."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from settlement import rulesets
from tests.databases import new_database, server_url

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "adding-a-ruleset.md"
OURS = [each.name for each in rulesets.OURS]

Run = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as pip installs it, built by the ``pyproject.toml`` of the page."""
    source, site = tmp_path_factory.mktemp("two-coins"), tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "tests" / "toy" / "two_coins", source / "two_coins")
    (source / "pyproject.toml").write_text(re.search(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)[1])
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    done = subprocess.run([*pip, "--target", str(site), str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return site


def python(*words: str, path: Path, **variables: str) -> Run:
    """Run Python in the checkout, with the packages of ``path``."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(path), str(ROOT)]), **variables}
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "first",
    ["settlement", "two_coins.ruleset", "settlement.night.one_draw", "settlement.fr.roulette", "settlement.law"],
)
def test_it_is_there_whatever_is_imported_first_and_without_django(first: str, site: Path) -> None:
    done = python(
        "-c",
        f"import {first}, sys; from settlement import RULESETS; print(*RULESETS, 'django' in sys.modules)",
        path=site,
    )
    assert done.stdout.split() == [*OURS, "toy-two-coins", "False"], done.stderr


@pytest.fixture
def database(migrated_template: str) -> Iterator[str]:
    yield from new_database(server_url(), template=migrated_template)


def test_it_plays_from_the_stake_to_the_page_of_a_finding(site: Path, database: str) -> None:
    variables = {"DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    done = python("-m", "tests.toy.played", path=site, **variables)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["rulesets"] == [*OURS, "toy-two-coins"]
    assert seen["pair"] == {
        "fr-roulette": "pair — even",
        "fr-american-roulette": "pair — even",
        "fr-boule": "pair — even",
        "toy-two-coins": "la paire — a pair",
    }
    toy, roulette = seen["toy"], seen["roulette"]
    assert (toy["status"], roulette["status"]) == (200, 200)
    assert "Coins tossed before the call" in toy["page"]
    assert 'class="felt toy-two-coins"' in toy["page"]
    assert "LA PAIRE" in toy["page"]
    assert 'class="felt fr-roulette"' in roulette["page"]
    assert "la paire" not in roulette["page"].lower()


@pytest.fixture
def naming(tmp_path: Path) -> Callable[[str], Path]:
    """A function that installs a distribution with an entry point, and a module ``other``."""

    def install(entry_point: str, module: str = "") -> Path:
        metadata = tmp_path / "other-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[cabochon.rulesets]\n{entry_point}\n")
        (tmp_path / "other.py").write_text(module)
        return tmp_path

    return install


COPY = """
from dataclasses import replace
from settlement.fr.roulette import FR_ROULETTE
AGAIN = replace(FR_ROULETTE, {})
"""


@pytest.mark.parametrize(
    ("entry_point", "module", "reason"),
    [
        ("mine = other:MINE", "", "module 'other' has no attribute 'MINE'"),
        ("mine = nowhere:MINE", "", "No module named 'nowhere'"),
        ("mine = settlement.fr.roulette:FR_ROULETTE", "", "is not the ruleset 'mine'"),
        ("fr-roulette = other:AGAIN", COPY.format(""), "there is a ruleset 'fr-roulette' already"),
        (
            "mine = other:AGAIN",
            COPY.format("name='mine', game_name=FR_ROULETTE.title.__class__('Roulette', 'la roulette')"),
            "there is a game 'french_roulette' already, which is not the same",
        ),
    ],
)
def test_what_cannot_be_had_is_named(
    entry_point: str, module: str, reason: str, naming: Callable[[str, str], Path]
) -> None:
    done = python("-c", "import settlement", path=naming(entry_point, module))
    assert done.returncode == 1
    message = done.stderr.strip().splitlines()[-1]
    assert message.startswith(
        f"settlement.rulesets.RulesetNotLoaded: entry point '{entry_point.split()[0]}' of other ("
    )
    assert reason in message
