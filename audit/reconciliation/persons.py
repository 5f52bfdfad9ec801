"""Money per person of a gaming day: what was kept of its streams, joined, and the findings that it makes.

    sessions of the day ───────────┐
    count rooms of the day ────────┼──► Day ──► findings on the streams of the day, the registre des changes, pages
    the same of the day before ────┘      ▲     (for the 24 hours that reach back)
    the same of a month before ──► Holdings     (for the chips that players kept)

No event says that somebody was identified; a player whom the directory of the casino names counts as identified.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta

from audit.adjudication import stream_reader
from audit.event_store import read
from audit.models import Casino, Finding, LoggedStream, Person, PersonKind
from audit.reconciliation import kept, sessions
from audit.reconciliation.instants import dated
from audit.reconciliation.stored_findings import replace_findings
from audit.register.in_force import approved
from audit.transparency.integrity_findings import integrity_finding
from settlement.catalogue.persons import PERSONS
from settlement.persons.cash_desk import CashDesk
from settlement.persons.day import Day
from settlement.persons.findings import findings_of
from settlement.persons.holdings import KEPT, Holdings
from settlement.persons.money_finding import MoneyFinding
from settlement.persons.stream_money import StreamMoney
from settlement.persons.thresholds import Thresholds

RULES_OF_PERSONS = tuple(rule.name for rule in PERSONS)

Amounts = Mapping[int, int]
"""The last event to read of each stream, by stream id."""


def day_of(casino: Casino, gaming_day: date, currency: str, through: Amounts | None = None) -> Day:
    """Return the money of a gaming day in a currency, joined with that of the day before.

    ``through`` says how far to read the streams of the day; those that it does not have are read to their ends.
    """
    streams = streams_of(casino, [gaming_day - timedelta(days=1), gaming_day], currency)
    money = _money_of(streams, through or {})
    return Day.of(money, casino=casino.code, gaming_day=gaming_day.isoformat(), currency=currency)


def _money_of(streams: Sequence[LoggedStream], through: Amounts) -> list[StreamMoney]:
    """Return what is kept of streams, each through an event of ``through`` or else its last one."""
    heads = {**read.last_seqs([stream.stream_id for stream in streams]), **through}
    last_seqs = {stream.stream_id: heads[stream.stream_id] for stream in streams if heads.get(stream.stream_id)}
    stored = kept.money_of(last_seqs)
    return [
        stored.get(stream.stream_id) or money_of(stream, last_seqs[stream.stream_id])
        for stream in streams
        if stream.stream_id in last_seqs
    ]


def holdings_before(casino: Casino, gaming_day: date, currency: str) -> Holdings:
    """Return the chips that players may have kept of the gaming days before one."""
    days = [gaming_day - timedelta(days=back) for back in range(1, KEPT.days)]
    by_day: dict[str, list[StreamMoney]] = {}
    for each in _money_of(streams_of(casino, days, currency), {}):
        by_day.setdefault(each.gaming_day, []).append(each)
    holdings = Holdings()
    for earlier, money in sorted(by_day.items()):
        holdings.add(Day.of(money, casino=casino.code, gaming_day=earlier, currency=currency))
    return holdings


def currencies_of(casino: Casino, gaming_day: date) -> list[str]:
    """Return the currencies that a gaming day was played or counted in."""
    streams = LoggedStream.objects.filter(casino=casino, gaming_day=gaming_day, is_of_desk=False)
    return sorted(set(streams.values_list("currency", flat=True)))


def streams_of(casino: Casino, days: Iterable[date], currency: str) -> list[LoggedStream]:
    """Return the sessions and the count rooms of some gaming days, by stream id."""
    streams = LoggedStream.objects.filter(casino=casino, gaming_day__in=list(days), currency=currency, is_of_desk=False)
    return list(streams.order_by("stream_id"))


def money_of(stream: LoggedStream, last_seq: int) -> StreamMoney:
    """Return what is kept of a session or a count room through ``last_seq``, computed unless it is stored."""
    if stream.table_id is not None:
        return sessions.money_of(stream.stream_id, last_seq)
    key = sessions.key_of(stream.stream_id, last_seq, "")
    return sessions.stored_money(key) or sessions.keep_money(key, read_cash_desk(stream.stream_id, last_seq))


def read_cash_desk(stream_id: int, last_seq: int) -> StreamMoney:
    corrections = stream_reader.corrections_of(stream_id, known_through=last_seq)
    desk = CashDesk(corrections, held=stream_reader.held_in(stream_id, corrections) if corrections else ())
    for page in stream_reader.pages(stream_id, 1, last_seq):
        desk.feed(page)
    return desk.money()


def identified_at(casino: Casino, players: Iterable[str]) -> frozenset[str]:
    """Return which of some players the directory of a casino names."""
    named = Person.objects.filter(casino=casino, kind=PersonKind.PLAYER, code__in=list(players)).exclude(name="")
    return frozenset(named.values_list("code", flat=True))


def thresholds_of(casino: Casino, gaming_day: date) -> Thresholds:
    """Return the amounts that the house register gives for a gaming day, and the law's where it gives none.

    Only entries of the whole casino and of every ruleset say so: a person's day is not of one table.
    """
    entries = approved(casino.pk).filter(table=None, ruleset="", reading__in=Thresholds.__struct_fields__)
    decided = {entry.reading: entry.value for entry in entries if entry.covers(gaming_day)}
    return Thresholds.of({reading: value for reading, value in decided.items() if value is not None})


def findings_at(casino: Casino, day: Day) -> list[MoneyFinding]:
    """Return the findings and questions of a gaming day, by the casino's register and directory."""
    gaming_day = date.fromisoformat(day.gaming_day)
    return findings_of(
        day,
        thresholds_of(casino, gaming_day),
        identified=identified_at(casino, day.persons),
        holdings=holdings_before(casino, gaming_day, day.currency),
    )


def raise_findings(casino: Casino, gaming_day: date, currency: str, through: Amounts) -> int:
    """Store the findings of a day's money, supersede those it no longer has, and return how many stand."""
    day = day_of(casino, gaming_day, currency, through)
    streams = {stream.name: stream for stream in streams_of(casino, [gaming_day], currency)}
    rows = dated([_row(streams[finding.stream], finding) for finding in findings_at(casino, day)])
    ids = [stream.stream_id for stream in streams.values()]
    return replace_findings(rows, streams=ids, rules=RULES_OF_PERSONS)


def _row(stream: LoggedStream, finding: MoneyFinding) -> Finding:
    row = integrity_finding(
        stream,
        finding.rule,
        finding.seq,
        occurred_at=stream.opened_at,
        facts=finding.facts,
        expected=finding.expected,
        recorded=finding.recorded,
    )
    row.evidence = list(finding.evidence)
    row.wager = finding.wager or ""
    row.player = finding.player or ""
    return row
