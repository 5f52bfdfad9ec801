"""What a session is called on the pages of the desk: a table and a night. Its stream's name is its reference."""

from __future__ import annotations

from datetime import date

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import JSONObject
from django.utils.translation import gettext

from audit.models import GamingTable, LoggedStream, Quarantined
from audit.presentation import night_of


def named_table(table: GamingTable) -> str:
    """Return a table as a list shows it: its code, and what the casino calls it."""
    return " · ".join(filter(None, (table.code, table.name)))


def table_name(code: str) -> str:
    """Return what a table of this code is called: “Table R3”; with none, a count, which is of no table: “Count”."""
    return gettext("Table %(table)s") % {"table": code} if code else gettext("Count")


def session_words(table: str, gaming_day: date) -> str:
    """Return a session by its table, "" for a count, and its night: “Table R3 · Night of Thu 19 Nov”."""
    return f"{table_name(table)} · {night_of(gaming_day)}"


def session_name(stream: LoggedStream) -> str:
    """Return a stream as ``session_words`` does; a day of the officers’ trail keeps the name that it has."""
    if stream.is_of_desk:
        return stream.name
    return session_words(stream.table.code if stream.table is not None else "", stream.gaming_day)


def with_session(refused: QuerySet[Quarantined]) -> QuerySet[Quarantined]:
    """Return requests in quarantine, each with the table and the gaming day of the stream that it was for, if any."""
    known = LoggedStream.objects.filter(casino=OuterRef("casino"), name=OuterRef("stream"), is_of_desk=False)
    described = known.values(found=JSONObject(table="table__code", day="gaming_day"))[:1]
    return refused.annotate(known_stream=Subquery(described))


def session_of(refused: Quarantined) -> str:
    """Return the session that a request of ``with_session`` was for, in words; of one that never began, its id."""
    known = refused.known_stream  # type: ignore[attr-defined]  # annotated
    return session_words(known["table"] or "", date.fromisoformat(known["day"])) if known else refused.stream
