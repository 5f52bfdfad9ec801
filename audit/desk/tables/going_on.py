"""A table at a moment: who works there, who plays, with how much, under which limits, and the coups around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.casework.stakes import stake_of
from audit.desk import parts
from audit.desk.complaints.about import complaints_in
from audit.desk.tables.coups import CoupLine, coup_lines
from audit.desk.tables.course import AtTable, Course
from audit.desk.tables.event_sentences import sentence
from audit.desk.tables.limits import equipment_words, limits_of
from audit.desk.tables.moment import Span, clock_in, moment_in
from audit.desk.tables.night_ruler import bar_minutes, night_ruler
from audit.felt.frames import Frame, Playback
from audit.models import Complaint, Finding, LoggedStream
from audit.persons.directory import Directory, PersonId, players, staff
from audit.presentation import (
    clock,
    finding_title,
    language,
    local,
    money_in_prose,
    reference,
    short_name,
    zone,
)
from settlement import RULESETS
from settlement.catalogue.words import word
from settlement.state import Session

TICKS = 200
"""Findings on the ruler, in the order of the clock."""

NEAR = 40
"""How many events away a finding is named as one around the moment."""

SILENCE = timedelta(minutes=5)
"""How long nothing happens before the page says so."""

ON_THE_FELT = ("on", "jail", "won", "lost")
"""The states of stakes that lie on the felt; a lost one does until it is collected."""

CHIEF = "chef_de_table"

ROLES = ("chef_de_partie", "stickman", "employe")
"""Those of the staff who are named where there are any; the croupier and the table's chief always are."""


@dataclass(frozen=True, slots=True)
class Where:
    """What a page about a moment starts from. ``written`` is the clock time that the address has, "" for none."""

    stream: LoggedStream
    span: Span
    course: Course
    playback: Playback
    seq: int
    written: str = ""

    @property
    def frame(self) -> Frame:
        return self.playback.frames[self.playback.index_of(self.seq)]

    def persons(self) -> Iterator[PersonId]:
        """Yield the persons whom the page names beside those of the playback."""
        yield from staff(self.course.staff())
        yield from players(self.course.at(self.seq).seats)


def day_in(text: str) -> date | None:
    """Return a gaming day as an address has it; None for anything else."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Found:
    """The standing findings of a session: those that its ruler has, ``TICKS`` at most, and those at the events that the
    page replays; both in the order of the clock."""

    on_ruler: Sequence[Finding]
    replayed: Sequence[Finding]


def found_in(where: Where) -> Found:
    """Look up the findings of a page: in one query, in two where the session has more than the ruler."""
    rows = Finding.objects.standing().filter(stream_id=where.stream.pk).select_related("casino")
    in_order = rows.order_by("occurred_at", "pk")
    first, last = where.playback.frames[0].event.seq, where.playback.frames[-1].event.seq
    on_ruler = list(in_order[:TICKS])
    if len(on_ruler) < TICKS:
        return Found(on_ruler, [each for each in on_ruler if first <= each.seq <= last])
    return Found(on_ruler, list(in_order.filter(seq__range=(first, last))))


def moment_context(where: Where, directory: Directory, found: Found) -> dict[str, Any]:
    """Return what the page says of a moment."""
    stream, playback, course = where.stream, where.playback, where.course
    session = playback.session
    frame, at_table = where.frame, course.at(where.seq)
    casino, currency, now = stream.casino, playback.currency, frame.event.occurred_at
    staked = _staked(frame)
    return {
        **_clocks(where),
        "zone": zone(now, casino),
        "headline": list(_headline(where, at_table, len(staked), directory)),
        **_neighbours(where),
        "last_at": f"{clock(now, casino)} {zone(now, casino)}",
        "point": frame.point,
        "result": frame.result,
        "duty": _duty(where, at_table, directory),
        "is_staff_seen": _sees(playback.session, "staff"),
        "seats": _seats(playback.session, at_table, where),
        "on_felt": money_in_prose(sum(staked.values()), currency) if _sees(playback.session, "wagers") else "",
        "limits": limits_of(session.minimum, session.maximum, currency, session.ruleset)
        if session is not None
        else None,
        "bank": money_in_prose(at_table.bank, currency) if at_table.bank is not None else "",
        "bank_at": f"{local(at_table.bank_at, casino):%H:%M}" if at_table.bank_at is not None else "",
        "equipment": equipment_words(course.opener.data) if course.opener is not None else [],
        "is_bank_seen": _sees(playback.session, "bank"),
        "players": list(_players(stream, currency, staked, at_table, directory)),
        "silent_min": _silent_min(where),
        "ruler": night_ruler(stream, where.span, course, found.on_ruler, directory, now),
        "bar_minutes": bar_minutes(where.span),
        "coups": [_coup(line, where) for line in _lines(where, found.replayed)],
        "complaints": complaints_in(Complaint.objects.filter(stream_id=stream.pk)),
        "findings": [
            {
                "finding": each,
                "title": finding_title(each.rule),
                "reference": reference(each),
                "who": _owed(each),
            }
            for each in found.replayed
            if abs(each.seq - where.seq) <= NEAR
        ][:6],
    }


def _clocks(where: Where) -> dict[str, str]:
    """Return the clock of the page, and the one that was asked for if the table was closed then."""
    wanted, stream = clock_in(where.written), where.stream
    now = f"{local(where.frame.event.occurred_at, stream.casino):%H:%M}"
    if wanted is None or stream.table is None:
        return {"clock": now, "closed_at": ""}
    if moment_in(stream, stream.table, wanted, where.span).is_open:
        return {"clock": f"{wanted:%H:%M}", "closed_at": ""}
    return {"clock": now, "closed_at": f"{wanted:%H:%M}"}


def _sees(session: Session | None, family: str) -> bool:
    return session is not None and family in session.observes


def _staked(frame: Frame) -> Counter[str]:
    staked: Counter[str] = Counter()
    for stake in frame.stakes.values():
        if stake.state in ON_THE_FELT and not stake.is_collected:
            staked[stake.wager.player or ""] += stake.wager.standing
    return staked


def _headline(where: Where, at_table: AtTable, betting: int, directory: Directory) -> Iterator[str]:
    """Yield the sentences under the title: the game, the coup and its result, who is at the table."""
    stream, course = where.stream, where.course
    ruleset = RULESETS.get(stream.ruleset or "")
    if ruleset is not None:
        yield ruleset.title.in_language(language())
    coup = course.coup_at(where.seq)
    number = coup.number if coup is not None else 0
    if coup is not None and where.frame.result is not None:
        result = sentence(coup.event, language(), where.playback.currency, where.playback.ruleset, directory)
        yield _("coup %(number)d of %(all)d") % {"number": number, "all": len(course.coups)}
        yield result
    elif number < len(course.coups):
        yield _("coup %(number)d of %(all)d, no result yet") % {"number": number + 1, "all": len(course.coups)}
    elif number:
        yield ngettext("after %(number)d coup", "after all %(number)d coups", number) % {"number": number}
    if at_table.croupiers:
        names = ", ".join(short_name(directory.staff(code), code) for code in at_table.croupiers)
        words = ngettext(
            "%(who)s for %(number)d player with stakes", "%(who)s for %(number)d players with stakes", betting
        )
        yield words % {"who": names, "number": betting}


def _owed(finding: Finding) -> str:
    """Return who loses how much by a finding; "" where nobody does."""
    stake = stake_of(finding)
    return parts.who(stake, with_amount=True) if stake.side else ""


def _neighbours(where: Where) -> dict[str, str]:
    page = reverse("admin:audit_loggedstream_table", args=(where.stream.pk,))
    before, after = where.course.around(where.seq)
    return {
        "coup_before": f"{page}?at={before.seq}" if before is not None else "",
        "coup_after": f"{page}?at={after.seq}" if after is not None else "",
    }


def _duty(where: Where, at_table: AtTable, directory: Directory) -> list[dict[str, Any]]:
    """Return who works at the table, role by role, the croupiers and the chief of the table even if nobody does."""
    casino = where.stream.casino
    roles = ["croupier", CHIEF, *(role for role in ROLES if at_table.in_role(role))]
    return [
        {
            "role": word("role", role, language()).capitalize(),
            "people": [
                {
                    "person": parts.person("croupier", casino.pk, code, directory.staff(code)),
                    "since": f"{local(since, casino):%H:%M} {zone(since, casino)}",
                }
                for code in at_table.in_role(role)
                for since in (at_table.since[code, role],)
            ],
        }
        for role in roles
    ]


def _seats(session: Session | None, at_table: AtTable, where: Where) -> str:
    """Return how many sit at the table, of how many seats; "" where that is not reported."""
    opener = where.course.opener
    seats = len(session.seats) if session is not None else 0
    if opener is None or not (_sees(session, "seating") or at_table.seats):
        return ""
    number = len(at_table.seats)
    if not seats:
        return ngettext("%(number)d player", "%(number)d players", number) % {"number": number}
    return ngettext("%(number)d of %(seats)d seat", "%(number)d of %(seats)d seats", seats) % {
        "number": sum(bool(seat) for seat in at_table.seats.values()),
        "seats": seats,
    }


def _players(
    stream: LoggedStream, currency: str, staked: Counter[str], at_table: AtTable, directory: Directory
) -> Iterator[dict[str, Any]]:
    """Yield who has stakes on the felt, the highest first, and then who sits there without."""
    for player, amount in sorted(staked.items(), key=lambda item: (-item[1], item[0])):
        yield {
            "person": parts.person("player", stream.casino_id, player, directory.player(player)) if player else "",
            "seat": at_table.seats.get(player, ""),
            "staked": money_in_prose(amount, currency),
        }
    for player, seat in sorted(at_table.seats.items()):
        if player not in staked:
            named = parts.person("player", stream.casino_id, player, directory.player(player))
            yield {"person": named, "seat": seat, "staked": ""}


def _silent_min(where: Where) -> int:
    """Return for how many minutes nothing happens after the moment, 0 for less than ``SILENCE``."""
    frames, index = where.playback.frames, where.playback.index_of(where.seq)
    if index + 1 >= len(frames):
        return 0
    gap = frames[index + 1].event.occurred_at - frames[index].event.occurred_at
    return int(gap.total_seconds() // 60) if gap >= SILENCE else 0


def _lines(where: Where, findings: Sequence[Finding]) -> list[CoupLine]:
    is_whole = where.playback.frames[-1].event.seq >= where.span.last_seq
    return coup_lines(where.playback, where.course, findings, is_whole=is_whole)


def _coup(line: CoupLine, where: Where) -> dict[str, Any]:
    stream, currency = where.stream, where.playback.currency
    current = where.course.coup_at(where.seq)
    page = reverse("admin:audit_loggedstream_table", args=(stream.pk,))

    def sum_of(minor: int | None) -> str:
        return "" if minor is None else money_in_prose(minor, currency)

    return {
        "line": line,
        "address": f"{page}?at={line.coup.seq}",
        "clock": f"{local(line.coup.at, stream.casino):%H:%M}",
        "staked": sum_of(line.staked),
        "paid": sum_of(line.paid),
        "stayed": sum_of(abs(line.stayed)) if line.stayed is not None else "",
        "with_bank": line.stayed is not None and line.stayed >= 0,
        "is_current": current is not None and line.coup.seq == current.seq,
        "findings": [
            {
                "finding": each,
                "title": finding_title(each.rule),
                "who": _owed(each),
            }
            for each in line.findings[:3]
        ],
        "certain": [{"finding": each, "title": finding_title(each.rule)} for each in line.certain[:3]],
    }
