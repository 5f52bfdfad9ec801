"""Both languages are complete: every text of the desk has its French, nothing else has, and the .mo file is current."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import polib

from tests.trees import nodes_of

ROOT = Path(__file__).parent.parent
CATALOGUE = ROOT / "locale" / "fr" / "LC_MESSAGES" / "django.po"
TRANSLATING = {"_", "gettext", "gettext_lazy", "ngettext", "ngettext_lazy"}
TRANSLATES = re.compile(rf"\b(?:{'|'.join(TRANSLATING)})\s*\(")

# An id is cut at {% plural %}; Django doubles a per cent sign in it.
TRANSLATE = re.compile(r"""(?:{%\s*translate|_\()\s*(["'])(.+?)\1""")
BLOCK = re.compile(r"{%\s*blocktranslate[^%]*%}(.*?){%\s*endblocktranslate\s*%}", re.DOTALL)


@cache
def entries() -> polib.POFile:
    return polib.pofile(str(CATALOGUE))


def translations(entry: polib.POEntry) -> list[str]:
    return list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]


def ids_in_code() -> Iterator[str]:
    """Yield the first argument of every call that translates: a text, never a variable."""
    for module in [*(ROOT / "audit").rglob("*.py"), *(ROOT / "casino").rglob("*.py")]:
        source = module.read_text()
        for node in nodes_of(ast.parse(source)) if TRANSLATES.search(source) else ():
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            match node.args[0]:
                case ast.Constant(value=str(text)) if name in TRANSLATING:
                    yield text


def ids_in_templates() -> Iterator[str]:
    for page in (ROOT / "templates").rglob("*.html"):
        text = page.read_text()
        for _quote, message in TRANSLATE.findall(text):
            yield message.replace("%", "%%")
        for message in BLOCK.findall(re.sub(r"{% plural %}.*?(?={% endblocktranslate %})", "", text, flags=re.DOTALL)):
            yield re.sub(r"{{\s*(\w+)\s*}}", r"%(\1)s", message.replace("%", "%%"))


def test_no_string_is_untranslated_or_in_doubt() -> None:
    catalogue = entries()
    assert len(catalogue) > 100
    assert [entry.msgid for entry in catalogue if entry.fuzzy or not all(translations(entry))] == []


def test_placeholders_are_the_same_in_french() -> None:
    for entry in entries():
        placeholders = sorted(re.findall(r"%\(\w+\)\w", entry.msgid))
        for french in translations(entry):
            assert sorted(re.findall(r"%\(\w+\)\w", french)) == placeholders, entry.msgid


ORDINARY_SPACE = re.compile(r"« | »| [:;?!](?=\s|$)|\d %(?!\()")


def test_french_has_its_no_break_spaces() -> None:
    for entry in entries():
        for french in translations(entry):
            assert not ORDINARY_SPACE.search(french), french


def test_no_string_stands_twice_in_the_catalogue() -> None:
    found = Counter((entry.msgctxt, entry.msgid) for entry in entries())
    assert [string for string, times in found.items() if times > 1] == []


def test_the_compiled_catalogue_is_current() -> None:
    source = {(entry.msgctxt, entry.msgid): translations(entry) for entry in entries()}
    compiled = {
        (entry.msgctxt, entry.msgid): translations(entry) for entry in polib.mofile(str(CATALOGUE.with_suffix(".mo")))
    }
    assert compiled == source


def test_the_catalogue_has_every_string_of_code_and_templates_and_no_other() -> None:
    known = {entry.msgid for entry in entries()}
    used = {*ids_in_code(), *ids_in_templates()}
    assert len(used) > 300
    assert sorted(used - known) == [], "without French"
    assert sorted(known - used) == [], "on no page any more"
