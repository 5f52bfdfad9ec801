"""Both languages are complete: every string of the desk has its French, and what is compiled is what is written."""

from __future__ import annotations

import gettext
from pathlib import Path

import polib

CATALOGUE = Path(__file__).parent.parent / "locale" / "fr" / "LC_MESSAGES" / "django.po"


def test_no_string_is_untranslated_or_in_doubt() -> None:
    catalogue = polib.pofile(str(CATALOGUE))
    assert len(catalogue) > 100
    assert [entry.msgid for entry in catalogue if not entry.msgstr or entry.fuzzy] == []


def test_placeholders_are_the_same_in_french() -> None:
    for entry in polib.pofile(str(CATALOGUE)):
        assert entry.msgid.count("%(") == entry.msgstr.count("%("), entry.msgid


def test_the_compiled_catalogue_is_current() -> None:
    written = {entry.msgid: entry.msgstr for entry in polib.pofile(str(CATALOGUE))}
    with CATALOGUE.with_suffix(".mo").open("rb") as compiled:
        spoken = gettext.GNUTranslations(compiled)
    assert {msgid: spoken.gettext(msgid) for msgid in written} == written


def test_every_string_of_the_templates_is_in_the_catalogue() -> None:
    import re

    known = {entry.msgid for entry in polib.pofile(str(CATALOGUE))}
    templates = CATALOGUE.parents[3] / "templates"
    said = {
        string
        for page in templates.rglob("*.html")
        for string in re.findall(r'{% translate "([^"]+)"', page.read_text())
    }
    assert said
    assert said <= known
