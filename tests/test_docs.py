"""The docs name what exists: files, functions, layers, environment variables, links."""

from __future__ import annotations

import ast
import gettext
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from settlement.catalogue import BET_WORDS
from tests.words import GLOSSARY, rows

ROOT = Path(__file__).parent.parent
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CHANGELOG.md"]
ARCHITECTURE = ROOT / "docs" / "architecture.md"
DEPLOYMENT = ROOT / "docs" / "deployment.md"

TOP = "audit|benchmarks|casino|deploy|docker|docs|locale|settlement|templates|tests"
_PATH = re.compile(rf"`((?:{TOP})/[\w./-]*)(?:: (\w+(?:\.\w+)?))?`")

_LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)")
_SQL = re.compile(r"create (?:or replace )?(?:function|table|trigger|view) (?:\w+\.)?(\w+)", re.I)

REFERENCES = sorted(
    {(page.name, path, name) for page in PAGES for path, name in _PATH.findall(page.read_text())},
)


@cache
def defined_in(path: Path) -> frozenset[str]:
    """Return the functions, classes, methods and constants of a module, or the functions and tables of a SQL file."""
    if path.suffix == ".sql":
        return frozenset(_SQL.findall(path.read_text()))
    names: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.ClassDef(name=name, body=body):
                functions = (each for each in body if isinstance(each, ast.FunctionDef))
                names |= {name, *(f"{name}.{each.name}" for each in functions)}
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.Assign(targets=targets):
                names |= {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
    return frozenset(names)


def test_what_a_page_names_exists() -> None:
    missing = []
    for page, path, name in REFERENCES:
        if not (ROOT / path).exists():
            missing.append(f"{page} names {path}, which does not exist")
        elif name and name not in defined_in(ROOT / path):
            missing.append(f"{page} names {path}: {name}, which is not defined there")
    assert not missing, "\n".join(missing)


def test_the_map_names_many_things() -> None:
    assert len([name for page, _path, name in REFERENCES if page == "architecture.md" and name]) > 40


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    assert [link for link in _LINK.findall(page.read_text()) if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_row_of_a_table_follows_its_heading(page: Path) -> None:
    """A blank line ends a table in Markdown; what follows it is printed with its bars."""
    lines = page.read_text().splitlines()
    for above, line, below in zip(["", *lines], lines, [*lines[1:], ""], strict=False):
        assert not line.startswith("|") or above.startswith("|") or below.startswith("|-"), line


def test_every_page_is_linked_from_the_readme_or_from_another() -> None:
    linked = {(page.parent / link).resolve() for page in PAGES for link in _LINK.findall(page.read_text())}
    assert [page.name for page in PAGES if page.parent == ROOT / "docs" and page not in linked] == []


def test_the_layers_are_those_that_import_linter_holds() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each.get("containers") == ["audit"])
    held = [sorted(re.findall(r"\w+", layer)) for layer in layers]
    drawn = [sorted(re.findall(r"`(\w+)`", row[0])) for row in rows("Layers inside `audit`", ARCHITECTURE.read_text())]
    assert drawn == held


def test_every_package_of_audit_is_in_a_layer() -> None:
    drawn = {name for row in rows("Layers inside `audit`", ARCHITECTURE.read_text()) for name in row[0].split("`")}
    found = {path.parent.name for path in (ROOT / "audit").glob("*/__init__.py")} - {"migrations"}
    found |= {path.stem for path in (ROOT / "audit").glob("*.py")} - {"__init__"}
    assert found <= drawn


# Chapters in French, beside the English page of the same name

CHAPTERS = [
    page for page in sorted((ROOT / "docs").glob("*.fr.md")) if Path(str(page).replace(".fr.md", ".md")).exists()
]
FRENCH_STATES = {
    "[*]": "–",
    "new": "nouveau",
    "investigating": "en cours",
    "second": "second agent",
    "closed": "clos",
    "running": "en cours",
    "complete": "complet",
    "failed": "en échec",
    "pending": "en attente",
    "standing": "en vigueur",
    "superseded": "remplacé",
}
_DIAGRAM = re.compile(r"```mermaid\n.*?```", re.S)
_TRANSITION = re.compile(r"^ *(\S+) --> (\S+): ", re.M)
_LABEL = re.compile(r"(?<![*\w])\*([^*\n]+)\*(?![*\w])|^#+ (.+)$", re.M)
_QUOTED = re.compile(r"```.*?```|^    [^\n]*$|`[^`\n]*`|\]\([^)]*\)", re.S | re.M)


_FRENCH_PICTURE = re.compile(r"(images/desk/)fr-")


def english_of(page: Path) -> Path:
    return page.with_name(page.name.replace(".fr.md", ".md"))


def shape(text: str) -> list[str]:
    """Return the outline of a page: each heading by its level, each row of a table by its cells, lists and pictures."""
    outline = re.findall(r"^#+ |^\|.*\|$|^ *(?:\*|\d+\.) |^!\[[^\]]*\]\([^)]*\)$", text, re.M)
    return [
        f"{each.count('|')} cells" if each.startswith("|") else re.sub(r"!\[[^\]]*\]", "", each) for each in outline
    ]


def labels(text: str) -> list[str]:
    """Return what a page has as a heading or in italics, in order; among it what the desk calls its buttons."""
    return [" ".join((italic or heading).split()) for italic, heading in _LABEL.findall(_DIAGRAM.sub("", text))]


def test_the_chapters_for_officers_are_in_both_languages() -> None:
    assert {"desk.fr.md", "casework.fr.md", "night.fr.md", "standing.fr.md"} <= {page.name for page in CHAPTERS}


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.name)
class TestFrenchChapter:
    def test_each_says_at_its_head_where_the_other_is(self, page: Path) -> None:
        english = english_of(page)
        assert page.read_text().split("\n\n")[1] == f"[This page in English]({english.name})"
        assert english.read_text().split("\n\n")[1] == f"[Cette page en français]({page.name})"

    def test_it_has_the_outline_of_the_english_page(self, page: Path) -> None:
        diagrams = _DIAGRAM.findall(english_of(page).read_text())
        rows_of = ["\n".join(["| | | |"] * (2 + len(_TRANSITION.findall(each)))) for each in diagrams]
        english = _DIAGRAM.sub(lambda _: rows_of.pop(0), english_of(page).read_text())
        assert shape(_FRENCH_PICTURE.sub(r"\1", page.read_text())) == shape(english)

    def test_its_pictures_are_of_the_desk_in_french(self, page: Path) -> None:
        pictures = re.findall(r"\]\((images/desk/[^)]*)\)", page.read_text())
        assert [each for each in pictures if not _FRENCH_PICTURE.match(each)] == []
        assert [each for each in pictures if not (page.parent / each).exists()] == []

    def test_its_tables_of_transitions_are_the_diagrams(self, page: Path) -> None:
        drawn = [way for each in _DIAGRAM.findall(english_of(page).read_text()) for way in _TRANSITION.findall(each)]
        tables = re.findall(r"^\| de \| vers \| par \|\n\|[-|]+\|\n((?:\|.*\|\n)*)", page.read_text(), re.M)
        written = [tuple(re.split(r" *\| *", row)[1:3]) for table in tables for row in table.splitlines()]
        assert [tuple(each.strip("*") for each in way) for way in written] == [
            tuple(FRENCH_STATES[state] for state in way) for way in drawn
        ]

    def test_it_names_the_same_files_codes_and_commands(self, page: Path) -> None:
        codes = re.compile(r"`([^`\n]+)`")
        french, english = (
            sorted(codes.findall(_DIAGRAM.sub("", each.read_text()))) for each in (page, english_of(page))
        )
        assert [each.replace("DOSSIER", "FOLDER").replace("NOM", "NAME") for each in french] == english

    def test_it_leads_to_the_french_page_where_there_is_one(self, page: Path) -> None:
        def links(text: str) -> list[str]:
            return sorted(link for link in re.findall(r"\]\(([^)\s]+)\)", text.split("\n\n", 2)[2]))

        def led(link: str) -> str:
            french = link.replace(".md", ".fr.md")
            return french if (page.parent / french.split("#")[0]).exists() else link

        french = _FRENCH_PICTURE.sub(r"\1", page.read_text())
        assert links(french) == sorted(led(link) for link in links(english_of(page).read_text()))

    def test_it_calls_a_button_what_the_desk_calls_it_in_french(self, page: Path) -> None:
        desk = gettext.translation("django", ROOT / "locale", ["fr"])
        called = {label: " ".join(desk.gettext(label).split()) for label in labels(english_of(page).read_text())}
        on_the_page = set(labels(page.read_text()))
        assert {
            label: french for label, french in called.items() if french not in on_the_page and french != label
        } == {}

    def test_its_spaces_are_those_of_french(self, page: Path) -> None:
        prose = _QUOTED.sub("``", page.read_text())
        assert re.findall(r".{0,20}(?: [;?!»]|« | :(?=\s)|\d (?:\d{3}\b|€|%)|').{0,10}", prose) == []


# Environment variables


def read_by_the_code() -> dict[str, str]:
    """Return the variables that the deployment reads, each with its default; "" if that is computed."""
    found: dict[str, str] = {}
    call = re.compile(
        r"""(?:env\.\w+|number|os\.environ\.get)\(\s*["']([A-Z_]+)["'](?:,\s*(?:default=)?(?:"([^"]*)"|([\d_.* ]+)))?"""
    )
    for path in [*(ROOT / "casino").rglob("*.py"), *(ROOT / "audit" / "management").rglob("*.py")]:
        for name, text, number in call.findall(path.read_text()):
            found[name] = text or number.strip() or found.get(name, "")
    return found


NOT_OURS = {"NOTIFY_SOCKET", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"}


def documented() -> dict[str, str]:
    table = rows("Environment variables", DEPLOYMENT.read_text())
    return {name.strip("`"): default for name, _meaning, default in table}


def test_every_variable_of_the_code_is_documented_and_no_other() -> None:
    assert set(documented()) == set(read_by_the_code()) - NOT_OURS


@pytest.mark.parametrize(("name", "written"), sorted(read_by_the_code().items()))
def test_a_documented_default_is_that_of_the_code(name: str, written: str) -> None:
    if name in NOT_OURS or not written or name == "CABOCHON_EMAIL_URL":
        return
    default = documented()[name].strip("`")
    if re.fullmatch(r"[\d_.* ]+", written):
        factors = [float(factor.replace("_", "")) for factor in written.split("*")]
        product = 1.0
        for factor in factors:
            product *= factor
        assert float(default) == product
    else:
        assert default == written


# The glossary


@pytest.mark.parametrize("row", rows("Standard terms", GLOSSARY.read_text()), ids=lambda row: row[0])
def test_a_standard_term_is_found_in_the_docstring_of_its_module(row: list[str]) -> None:
    term, _meaning, module = row
    docstring = ast.get_docstring(ast.parse((ROOT / module.strip("`")).read_text())) or ""
    says_it = bool(re.search(rf"\b{term}s?\b", " ".join(docstring.split()), re.I))
    assert says_it, f"the docstring of {module} does not say {term}: {docstring.splitlines()[0]}"


def test_the_glossary_has_every_bet_by_the_word_of_its_law() -> None:
    words = {word for row in rows("Words of the law", GLOSSARY.read_text()) for word in re.findall(r"`(\w+)`", row[1])}
    assert words == {bet for _ruleset, bet in BET_WORDS}


def test_no_concept_is_in_the_glossary_twice() -> None:
    sections = ("The event store", "The transparency log", "The law", "The table", "Reconciliation", "Officers")
    concepts = [row[0] for section in sections for row in rows(section, GLOSSARY.read_text())]
    assert len(concepts) == len(set(concepts)) > 50
