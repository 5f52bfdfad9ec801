"""The law in a session as PDF: the page with its margin, and what the house register decided of its readings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.utils.translation import gettext, ngettext

from audit.desk.rules.decided import Decisions
from audit.desk.rules.law import ReadingLine, RuleLine, SentenceLine, letters
from audit.exports.pdf import render_pdf
from audit.models import LoggedStream
from audit.presentation import MISSING, labelled, language, night_of
from settlement.catalogue.words import word

TEMPLATE = Path(__file__).with_name("law_page.typ")


def law_pdf(stream: LoggedStream, context: Mapping[str, Any]) -> bytes:
    """Return the page as PDF in the active language. ``context`` is that of the page, of a text that was read."""
    return render_pdf(TEMPLATE, pdf_data(stream, context))


def pdf_data(stream: LoggedStream, context: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the template prints: every text is ready, nothing is left to it."""
    table = stream.table.code if stream.table is not None else MISSING
    night = night_of(stream.gaming_day, with_year=True)
    heading = gettext("%(name)s, as %(table)s kept it") % {"name": context["name"], "table": table}
    day = stream.gaming_day
    return {
        "lang": language(),
        "language": context["text"].language,
        "title": f"{heading}, {night}",
        "date": [day.year, day.month, day.day],
        "heading": heading,
        "subheading": f"{stream.casino} · {night}, {context['hours']} · {stream.ruleset}",
        "stream": labelled(gettext("Session"), stream.name),
        "text": context["text"].title,
        "facts": list(_facts(context)),
        "legend": [
            {"state": each.state, "letter": each.letter, "title": str(each.title), "meaning": str(each.meaning)}
            for each in context["legend"]
        ],
        "paragraphs": [
            {
                "number": each.number,
                "sentences": [_sentence(sentence) for sentence in each.sentences],
            }
            for each in context["paragraphs"]
        ],
        "register": _register(context["decided"], context["register_version"]),
    }


def _facts(context: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield the figures above the text, as the page has them."""
    numbers = {"checked": context["counted"]["checked"], "with_rules": context["with_rules"]}
    yield {
        "name": gettext("Checked in this session"),
        "value": gettext("%(checked)s of %(with_rules)s") % numbers,
        "note": gettext("obligations that a rule checks"),
    }
    families = {"families": context["unchecked"]}
    yield {
        "name": gettext("Not observed"),
        "value": str(context["unseen"]),
        "note": gettext("the table does not report %(families)s") % families
        if context["unchecked"]
        else gettext("the table reports everything that the rules look at"),
    }
    closed, open_ = gettext("events, the session is closed"), gettext("events, the session goes on")
    yield {
        "name": gettext("Looked at"),
        "value": context["events"],
        "note": closed if context["is_closed"] else open_,
    }
    unseen = ngettext(
        "%(number)s obligation could not be checked in full",
        "%(number)s obligations could not be checked in full",
        context["unseen"],
    )
    yield {
        "name": gettext("Found under this text"),
        "value": str(context["found"]),
        "note": unseen % {"number": context["unseen"]}
        if context["unseen"]
        else gettext("every obligation with a rule could be checked in full"),
    }


def _sentence(sentence: SentenceLine) -> dict[str, Any]:
    rules = [*sentence.rules, *sentence.more_rules]
    notes = [*map(_rule, rules), *(note for each in sentence.readings for note in _reading(each))]
    if sentence.defines:
        notes.append(_note("defines", ", ".join(sentence.defines)))
    if sentence.why:
        notes.append(_note("not observable", sentence.why))
    return {
        "state": sentence.mark.state,
        "letter": sentence.mark.letter,
        "number": str(sentence.number or ""),
        "words": sentence.words,
        "notes": notes,
    }


def _rule(rule: RuleLine) -> dict[str, str]:
    if rule.lacks:
        silence = gettext("silent in this session: needs %(families)s") % {"families": rule.lacks_in_words}
        return _note(rule.mark.state, silence, strong=str(rule.title))
    found = ngettext("%(number)s finding", "%(number)s findings", rule.found or 0) % {"number": rule.found}
    needs = gettext("needs %(families)s") % {"families": rule.needs_in_words} if rule.needs else ""
    severity = ", ".join(filter(None, (rule.severity, needs)))
    text = f"{severity} · {found if rule.found else gettext('no finding')}"
    return _note(rule.mark.state, text, strong=str(rule.title))


def _reading(reading: ReadingLine) -> Iterator[dict[str, str]]:
    for each in reading.decided:
        yield _note("reading", f"{each.value}, {gettext('by the register, since %(day)s') % {'day': each.since}}")
    before = f"{gettext('Where no register decides:')} " if reading.decided else ""
    yield _note("reading", before + reading.decision)


def _note(state: str, text: str, *, strong: str = "") -> dict[str, str]:
    return {"state": state, "letter": letters()[state.replace(" ", "_")], "strong": strong, "text": text}


def _register(decided: Decisions, version: int | None) -> dict[str, Any]:
    """Return what the session was read by, every reading that the register of its casino decides."""
    rows = [
        [word("readings", reading, language()), each.table or gettext("every table"), each.value, each.since]
        for reading, lines in sorted(decided.items())
        for each in lines
    ]
    if rows:
        note = gettext("The session was read under version %(version)d of the register.") % {"version": version or 0}
    else:
        note = gettext(
            "No entry in the register applies to this session: each reading is the one next to its sentence."
        )
    headings = [gettext("Reading"), gettext("Table"), gettext("Decided"), gettext("Since")]
    return {"title": gettext("House register"), "note": note, "headings": headings, "rows": rows}
