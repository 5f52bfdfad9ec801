"""A text of law, sentence by sentence: as its rulesets read it, and as one session let it be checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib import admin
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.adjudication.results import coverage_of, standing
from audit.desk.rules import counts, decided, law
from audit.desk.scoped_admin import demands, in_record
from audit.models import Finding, LoggedEvent, LoggedStream, RegisterEntry
from audit.presentation import count, day, opening_hours
from audit.reconciliation.wording import families
from settlement.law import LAW_TEXTS
from settlement.law_coverage.session import STATES, SessionSentence

SESSIONS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class SessionLink:
    """A session in which a text was read."""

    address: str
    table: str
    day: str
    casino: str


@demands(Capability.SEE_RECORD)
def law_view(request: HttpRequest, text_id: str) -> HttpResponse:
    """Show a text with what the engine checks of each sentence, and the findings of its rules in the last month."""
    text = LAW_TEXTS.get(text_id)
    if text is None:
        raise Http404
    sentences, rulesets = law.sentences_of(text_id), law.governed_by(text_id)
    of_text = in_record(Finding.objects.standing(), request).filter(ruleset__in=rulesets)
    by_rule = counts.in_last_month(of_text, timezone.localdate())
    entries = in_record(RegisterEntry.objects.all(), request)
    registers = decided.in_force_on(timezone.localdate(), entries, rulesets)
    rules = law.watched(sentences)
    ids = list(LAW_TEXTS)
    at = ids.index(text_id)
    context = {
        **admin.site.each_context(request),
        "title": _("%(text)s, sentence by sentence") % {"text": law.name_of(text)},
        "text": text,
        "name": law.name_of(text),
        "texts": [(law.text_line(each, law.sentences_of(each)), reverse("admin:law", args=(each,))) for each in ids],
        "before": ids[at - 1] if at else None,
        "after": ids[at + 1] if at + 1 < len(ids) else None,
        "number": len(sentences),
        "rules": len(rules),
        "counted": _counted(sentences),
        "with_reading": sum(bool(each.sentence.readings) for each in sentences),
        "in_part": sum(bool(each.sentence.why and each.sentence.rules) for each in sentences),
        "found": sum(by_rule.get(rule, 0) for rule in rules),
        "legend": law.legend(("checked", "reading", "defines", "not observable")),
        "letters": law.letters(),
        "paragraphs": law.paragraphs_of(text, sentences, by_rule, decided=registers),
        "sessions": sessions_under(request, rulesets, text_id),
    }
    return TemplateResponse(request, "admin/audit/rules/law.html", context)


def session_context(request: HttpRequest, stream: LoggedStream, text_id: str) -> dict[str, Any]:
    """Return what the page of a session shows of text ``text_id``; of the first one that was read in it, for another.

    Without ``texts``: nothing was adjudicated.
    """
    adjudication = standing(stream.stream_id)
    every = coverage_of(adjudication) if adjudication is not None else ()
    by_text = {name: list(group) for name, group in groupby(every, key=lambda each: each.sentence.text)}
    if adjudication is None or not by_text:
        return {"texts": []}
    text_id = text_id if text_id in by_text else next(iter(by_text))
    sentences = by_text[text_id]
    text, rules = LAW_TEXTS[text_id], law.watched(sentences)
    by_rule = _findings_of(stream)
    version = adjudication.run.register_version if adjudication.run is not None else None
    missing = frozenset(family for each in sentences for family in each.lacking)
    register = decided.in_session(stream, version)
    own = reverse("admin:audit_loggedstream_coverage", args=(stream.stream_id,))
    return {
        "text": text,
        "name": law.name_of(text),
        "texts": [(law.text_line(each, of_text), f"{own}?text={each}") for each, of_text in by_text.items()],
        "hours": _hours(stream),
        "number": len(sentences),
        "with_rules": sum(bool(each.sentence.rules) for each in sentences),
        "counted": _counted(sentences),
        "unseen": sum(each.state in ("partly checked", "not checked") for each in sentences),
        "unchecked": families(sorted(missing)),
        "events": count(adjudication.events),
        "is_closed": adjudication.closed,
        "found": sum(by_rule.get(rule, 0) for rule in rules),
        "legend": law.legend(STATES),
        "letters": law.letters(),
        "paragraphs": law.paragraphs_of(text, sentences, by_rule, missing, register),
        "decided": register,
        "register_version": version,
        "sessions": sessions_under(request, (stream.ruleset or "",), text_id, of_table=stream),
    }


def sessions_under(
    request: HttpRequest, rulesets: Collection[str], text_id: str, of_table: LoggedStream | None = None
) -> Sequence[SessionLink]:
    """Return the last sessions that were played under ``rulesets``: of the table of ``of_table``, where it is given."""
    streams = in_record(LoggedStream.objects.filter(is_of_desk=False, table__isnull=False), request)
    streams = streams.filter(ruleset__in=rulesets)
    if of_table is not None:
        streams = streams.filter(table=of_table.table_id).exclude(stream_id=of_table.stream_id)
    last = streams.select_related("table", "casino").order_by("-gaming_day", "-opened_at")[:SESSIONS_SHOWN]
    return [
        SessionLink(
            f"{reverse('admin:audit_loggedstream_coverage', args=(each.stream_id,))}?text={text_id}",
            each.table.code if each.table else "",
            day(each.gaming_day),
            str(each.casino),
        )
        for each in last
    ]


def _counted(sentences: Sequence[SessionSentence]) -> Mapping[str, int]:
    """Return how many ``sentences`` are in each state, by the name of its class: templates take no blanks."""
    return {
        state.replace(" ", "_"): sum(each.state == state for each in sentences)
        for state in STATES
    }  # fmt: skip


def _findings_of(stream: LoggedStream) -> dict[str, int]:
    """Return how many findings of a session stand, by rule: one query."""
    of_stream = Finding.objects.standing().filter(stream_id=stream.stream_id).order_by()
    return dict(of_stream.values_list("rule").annotate(count=Count("pk")))


def _hours(stream: LoggedStream) -> str:
    """Return from when to when a session has events, by the clock of its table: two rows of an index."""
    instants = LoggedEvent.objects.filter(stream_id=stream.stream_id).values_list("occurred_at", flat=True)
    first, last = instants.order_by("seq").first(), instants.order_by("-seq").first()
    assert first is not None, "a stream begins with an event"
    assert last is not None
    return opening_hours(first, last, stream.casino)
