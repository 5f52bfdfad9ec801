"""What was not done before a closing was proposed: the second officer reads it before deciding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.utils.translation import gettext, ngettext

from audit.desk.approve.note import Note
from audit.models import Case, CaseAction, Finding, VideoRequest


def not_done(cases: Sequence[Case]) -> Iterator[Note]:
    """Yield a note for each step that was left out, of one case or of a batch: three queries for all of them.

    Only a case of a table has video, and only one whose finding names a croupier has somebody to hear.
    """
    ids = [case.pk for case in cases]
    heads = Finding.objects.standing().filter(case__in=ids, heads_case=True).values_list("case", "table", "croupier")
    found = list(heads)
    of_tables = {case for case, table, _croupier in found if table is not None}
    of_croupiers = {case for case, _table, croupier in found if croupier}
    requested = set(VideoRequest.objects.filter(case__in=ids).values_list("case", flat=True))
    heard = set(CaseAction.objects.filter(case__in=ids, type="case.answered").values_list("case", flat=True))
    if number := len(of_tables - requested):
        words = ngettext(
            "No video was asked for in %(number)d case.", "No video was asked for in %(number)d cases.", number
        )
        one = gettext("No video was asked for.")
        yield Note("!", "warn", one if len(ids) == 1 else words % {"number": number})
    if number := len(of_croupiers - heard):
        words = ngettext(
            "The croupier was not heard in %(number)d case.", "The croupier was not heard in %(number)d cases.", number
        )
        one = gettext("The croupier was not heard.")
        yield Note("!", "warn", one if len(ids) == 1 else words % {"number": number})
