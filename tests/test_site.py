"""The documentation site: it builds with strict links, loads nothing from elsewhere, and has every rule, drawn."""

from __future__ import annotations

import html
import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from settlement.catalogue import RULES

pytestmark = pytest.mark.faults  # `make check` builds the site with strict links

ROOT = Path(__file__).parent.parent
EXTERNAL = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=["']?((?:https?:)?//[^"'\s>]+)""")


UNDRAWN = frozenset({"ledger-imbalance"})
"""Rules of the engine that only a fault of the engine raises: their pages have no example."""

OF_NO_LAYOUT = frozenset({"unknown-ruleset"})
"""Rules whose example is a table under rules that have no layout: an unknown game."""


def build(configuration: Path, site: Path) -> subprocess.CompletedProcess[str]:
    mkdocs = [str(Path(sys.executable).with_name("mkdocs")), "build", "--config-file", str(configuration)]
    return subprocess.run(
        [*mkdocs, "--site-dir", str(site)], cwd=configuration.parent, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built."""
    folder = tmp_path_factory.mktemp("site")
    built = build(ROOT / "mkdocs.yml", folder)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_every_page_of_the_docs_is_in_it(site: Path) -> None:
    pages = {path.with_suffix(".html").name for path in (ROOT / "docs").glob("*.md")}
    assert pages <= {path.name for path in site.glob("*.html")}
    assert {"coverage.html", "coverage.fr.html", "changes.html", "client.html"} <= {
        path.name for path in site.iterdir()
    }


def test_it_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > len(RULES)
    assert {link for page in pages for link in EXTERNAL.findall(page.read_text(encoding="utf-8"))} == set()
    styles = "".join(style.read_text(encoding="utf-8") for style in site.rglob("*.css"))
    assert not re.findall(r"url\(\s*[\"']?(?:https?:)?//", styles)


def test_a_rule_has_a_page_with_its_message_and_a_table_that_breaks_it(site: Path) -> None:
    wrong = []
    for name, rule in RULES.items():
        page = html.unescape((site / "rules" / f"{name}.html").read_text(encoding="utf-8"))
        words = " ".join(re.sub(r"<[^>]+>", "", page).split())
        is_drawn = rule.raised_by != "record" and name not in UNDRAWN
        wrong += [
            f"{name}: {what}"
            for what, is_right in (
                ("its title", rule.title.fr in page),
                ("its explanation", " ".join(rule.explanation.en.split())[:40] in words),
                ("no stream shows it", ("No stream of a sound engine shows it." in page) == (name in UNDRAWN)),
                ("its message", not is_drawn or "The officer reads:" in page),
                ("its felt", not is_drawn or ('class="felt ' in page) != (name in OF_NO_LAYOUT)),
            )
            if not is_right
        ]
    assert not wrong, "\n".join(wrong)


def test_a_french_page_is_in_french(site: Path) -> None:
    french = [path.with_suffix(".html").name for path in (ROOT / "docs").glob("*.fr.md")]
    assert len(french) > 4
    for name in french:
        assert '<html lang="fr"' in (site / name).read_text(encoding="utf-8"), name
        english = site / name.replace(".fr.html", ".html")
        assert not english.exists() or '<html lang="en"' in english.read_text(encoding="utf-8"), name


def test_a_french_page_shows_the_french_picture_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    hooks = importlib.import_module("site_hooks")
    page = "![Constats](images/desk/queue.png)\n\n[Sur un téléphone](images/desk/queue-390.png)\n"
    assert hooks.in_french(page, {"images/desk/queue.png", "images/desk/queue-390.png"}) == page
    shown = hooks.in_french(page, {"images/desk/queue.png", "images/desk/fr-queue.png"})
    assert shown == page.replace("queue.png", "fr-queue.png")
    assert hooks.in_french(shown, {"images/desk/fr-queue.png"}) == shown


def test_a_link_that_leads_nowhere_stops_the_build(tmp_path: Path) -> None:
    configuration = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    alone = {key: configuration[key] for key in ("site_name", "strict", "use_directory_urls", "theme", "validation")}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(alone))
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "site.css", tmp_path / "docs")
    page = tmp_path / "docs" / "index.md"
    page.write_text("# Page\n\n[here](#page)\n")
    whole = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert whole.returncode == 0, whole.stderr
    for link in ("[there](there.md)", "[below](#below)"):
        page.write_text(f"# Page\n\n{link}\n")
        assert build(tmp_path / "mkdocs.yml", tmp_path / "site").returncode == 1
