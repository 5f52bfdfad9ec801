"""Both languages are complete: every string of the desk has its French, and what is compiled is what is written."""

from __future__ import annotations

import re
from pathlib import Path

import polib

ROOT = Path(__file__).parent.parent
CATALOGUE = ROOT / "locale" / "fr" / "LC_MESSAGES" / "django.po"


def forms(entry: polib.POEntry) -> list[str]:
    return list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]


def test_no_string_is_untranslated_or_in_doubt() -> None:
    catalogue = polib.pofile(str(CATALOGUE))
    assert len(catalogue) > 100
    assert [entry.msgid for entry in catalogue if entry.fuzzy or not all(forms(entry))] == []


def test_placeholders_are_the_same_in_french() -> None:
    for entry in polib.pofile(str(CATALOGUE)):
        wanted = sorted(re.findall(r"%\(\w+\)\w", entry.msgid))
        assert all(sorted(re.findall(r"%\(\w+\)\w", french)) == wanted for french in forms(entry)), entry.msgid


def test_the_compiled_catalogue_is_current() -> None:
    written = {entry.msgid: forms(entry) for entry in polib.pofile(str(CATALOGUE))}
    compiled = {entry.msgid: forms(entry) for entry in polib.mofile(str(CATALOGUE.with_suffix(".mo")))}
    assert compiled == written


def test_every_string_of_the_templates_and_of_the_code_is_in_the_catalogue() -> None:
    known = {entry.msgid for entry in polib.pofile(str(CATALOGUE))}
    used = {
        string
        for page in (ROOT / "templates").rglob("*.html")
        for string in re.findall(r'{% translate "([^"]+)"', page.read_text())
    } | {
        "".join(re.findall(r'"([^"]*)"', parts))  # a string may be written in parts
        for module in [*(ROOT / "audit").rglob("*.py"), *(ROOT / "casino").rglob("*.py")]
        for parts in re.findall(r'\b(?:_|n?gettext)\(\s*((?:"[^"]+"\s*)+)', module.read_text())
    }
    assert len(used) > 80
    assert used - known == set()
