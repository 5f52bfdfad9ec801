"""What the page of a player shows of a month: what is owed to him, his stakes and their luck, tables, findings.

His play is read from what the nights kept of each session, and never from the events. Wins are those of the house.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from math import isqrt
from typing import Any

from django.db.models import Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.charts.days import DayColumn, draw_days
from audit.charts.interval import draw_luck
from audit.desk.addresses import fixed
from audit.desk.complaints.about import complaints_in
from audit.desk.icons import icon
from audit.desk.names import directory_for, sees_names
from audit.desk.persons.concerning import Concerning, concerning, facts_of, in_words, questions_of
from audit.desk.scoped_admin import officer_of
from audit.models import Casino, Complaint, LoggedStream
from audit.persons import listings
from audit.persons.directory import players
from audit.persons.play import sessions_of
from audit.presentation import count, money, money_in_prose, month_of, signed_money
from audit.presentation import day as shown_day
from audit.reconciliation import wording
from audit.reconciliation.month import month_after
from settlement.persons.stream_money import OfPlayer, Play


@dataclass(slots=True)
class Sum:
    """Play and exchanges of one table, or of one night."""

    play: Play = field(default_factory=Play)
    into_chips: int = 0
    into_money: int = 0
    days: set[str] = field(default_factory=set)
    stream_id: int = 0

    def add(self, own: OfPlayer, stream_id: int) -> None:
        """Count what one session keeps."""
        self.play = self.play + (own.play or Play())
        self.into_chips += sum(each.amount for each in own.exchanges if each.direction == "in" and not each.is_stake)
        self.into_money += sum(each.amount for each in own.exchanges if each.direction == "out")
        self.days.add(own.gaming_day)
        self.stream_id = stream_id


WITH_MORE = ("pair-luck", "pair-concentration", "pair-voids", "player-concentration")
"""Kinds of processes about a player and a croupier, or a rule."""


def tests_about(code: str) -> Q:
    """Return the condition on processes of the ledger that they are about a player."""
    about = Q(kind__in=("player-luck", "late-luck", "corrected-luck", "shooter"), subject=code)
    return about | Q(kind__in=WITH_MORE, subject__startswith=f"{code}, ")


def player_context(request: HttpRequest, casino: Casino, code: str, first: date) -> dict[str, Any]:
    """Return the context of the page of a player in the month that begins on ``first``."""
    found = concerning(casino, "player", code, first)
    directory = directory_for(request, casino.pk, players([code]))
    sees_money = sees_names(request, casino.pk)
    context = {
        "found": found,
        "name": directory.player(code),
        "name_on_paper": directory.for_paper().player(code),
        "rows": found.rows(request),
        "sees_money": sees_money,
        "complaints": complaints_in(Complaint.objects.filter(casino=casino, player=code)),
        "to_pay": _to_pay(found),
        "listings": listings.listings_of(casino, [code], timezone.now()),
        "may_list": listings.may_propose(officer_of(request), casino.pk),
        **facts_of(found),
        **questions_of(request, casino, tests_about(code)),
    }
    claims = {each.incident: each.croupier for each in found.found if each.side}
    errors = Counter(claims.values())
    for each in context["dealers"]:
        each["errors"] = errors[each["code"]]
    if not sees_money:
        return context
    return {**context, **_play(casino, code, first, found.marks(), has_question=bool(context["processes"]))}


def _to_pay(found: Concerning) -> dict[str, str] | None:
    """Return what is owed to the player, with the finding, or the list of several; None for nothing."""
    owed = found.owed_to("player")
    sums: Counter[tuple[str, str]] = Counter()
    for each in owed:
        sums[each.side, each.currency] += each.amount
    if not owed:
        return None
    one = fixed("audit_finding_change", owed[0].pk) if len({each.incident for each in owed}) == 1 else ""
    return {"amount": in_words(sums, money_in_prose), "address": one or found.address(owed="player")}


def _play(
    casino: Casino, code: str, first: date, marks: dict[date, list[str]], *, has_question: bool
) -> dict[str, Any]:
    """Return what somebody staked and won in the month. ``has_question``: a question is about him, so his luck is
    compared with chance."""
    sessions = sessions_of(casino, code, first, month_after(first))
    handles: Counter[str] = Counter()
    for _stream, own in sessions:
        handles[own.currency] += own.play.handle if own.play else 0
    if not handles:
        return {"days": _days(first, {}, marks)}
    currency = max(sorted(handles), key=lambda each: handles[each])
    total, tables, nights = Sum(), {}, {}  # type: tuple[Sum, dict[str, Sum], dict[str, Sum]]
    for stream_id, own in sessions:
        if own.currency != currency:
            continue
        total.add(own, stream_id)
        nights.setdefault(own.gaming_day, Sum()).add(own, stream_id)
        if own.table:
            tables.setdefault(own.table, Sum()).add(own, stream_id)
    games = _games({each.stream_id for each in tables.values()})
    wagers = {date.fromisoformat(day): each.play.wagers for day, each in nights.items()}
    play = total.play
    return {
        "currency": currency,
        "other_currencies": sorted(set(handles) - {currency}),
        "worked": _worked(nights, play),
        "staked": money(play.handle, currency),
        "stakes": ngettext("%(number)s stake", "%(number)s stakes", play.wagers) % {"number": count(play.wagers)},
        "average": money_in_prose(play.handle // play.wagers, currency) if play.wagers else "",
        "result": stayed_with(play.recorded, currency),
        "bridge": bridge_of(play, currency),
        "luck_chart": luck_chart(play, currency) if has_question else "",
        "days": _days(first, wagers, marks),
        "tables": [
            {
                "name": name,
                "game": games[each.stream_id],
                "address": reverse("admin:audit_loggedstream_table", args=(each.stream_id,)),
                "nights": len(each.days),
                "staked": money(each.play.handle, currency),
                "stayed": stayed_with(each.play.recorded, currency),
            }
            for name, each in sorted(tables.items(), key=lambda item: (-item[1].play.handle, item[0]))
        ],
        "nights": [
            {
                "title": shown_day(date.fromisoformat(day), with_weekday=True),
                "address": money_address(casino, code, day),
                "staked": money(each.play.handle, currency),
                "into_chips": money(each.into_chips, currency),
                "into_money": money(each.into_money, currency),
            }
            for day, each in sorted(nights.items(), reverse=True)
        ],
    }


def _games(streams: Iterable[int]) -> dict[int, str]:
    """Return what is played in each stream, in words: one query."""
    games = LoggedStream.objects.filter(pk__in=streams).values_list("pk", "game")
    return {stream_id: wording.game(game) if game else "" for stream_id, game in games}


def money_address(casino: Casino, player: str, gaming_day: str) -> str:
    """Return the address of a player's money of a gaming day, ``2026-11-19``."""
    return reverse("admin:audit_person_money", args=(casino.pk, gaming_day, player))


def stayed_with(recorded: int, currency: str) -> SafeString:
    """Return with whom a result stayed, in words: “house €257”; ``recorded`` is the win of the house."""
    if not recorded:
        return format_html('<span class="dim">{}</span>', _("nobody"))
    words = _("house %(amount)s") if recorded > 0 else _("player %(amount)s")
    shown = words % {"amount": money_in_prose(abs(recorded), currency)}
    return format_html("{} {}", icon("bank" if recorded > 0 else "player", is_small=True), shown)


def bridge_of(play: Play, currency: str) -> list[dict[str, Any]]:
    """Return how the theoretical win leads to what was recorded, with signs: plus is for the house."""
    theoretical = round(play.theoretical)
    staked = {"amount": money_in_prose(play.handle, currency)}
    lines = [
        (_("Theoretical win, %(amount)s staked") % staked, theoretical),
        (_("Luck"), play.adjudicated - theoretical),
        (_("Payout errors"), play.payout_errors),
        (_("Not adjudicated"), play.unadjudicated),
    ]
    shown = [{"label": label, "amount": signed_money(amount, currency)} for label, amount in lines[:2]]
    shown += [{"label": label, "amount": signed_money(amount, currency)} for label, amount in lines[2:] if amount]
    return [*shown, {"label": _("Result"), "amount": signed_money(play.recorded, currency), "is_total": True}]


def luck_chart(play: Play, currency: str) -> SafeString:
    """Return the luck of the house with a player, in the interval in which 19 results of 20 fall; "" without play."""
    wide = 196 * isqrt(max(0, int(play.variance))) // 100
    if not wide:
        return SafeString("")
    luck = round(play.luck)
    texts = {"luck": signed_money(luck, currency, money_in_prose), "wide": money_in_prose(wide, currency)}
    described = _("luck %(luck)s; 19 in 20 such results lie within %(wide)s of 0") % texts
    end = {"amount": money_in_prose(wide, currency)}
    chart = draw_luck(
        wide,
        luck,
        value=texts["luck"],
        ends=(_("player %(amount)s") % end, _("as the rules give"), _("house %(amount)s") % end),
        title=_("Luck"),
        description=described,
    )
    return format_html('{}<p class="dim small">{}</p>', mark_safe(chart), described)  # our own drawing


def _worked(nights: dict[str, Sum], play: Play) -> str:
    number = ngettext("%(number)d night", "%(number)d nights", len(nights)) % {"number": len(nights)}
    stakes = ngettext("%(number)s stake", "%(number)s stakes", play.wagers) % {"number": count(play.wagers)}
    return f"{number}, {stakes}"


def _days(first: date, wagers: dict[date, int], marks: dict[date, list[str]]) -> SafeString:
    """Return the stakes of each day of the month as a chart, with incidents as marks."""
    days: Iterable[date] = (first + timedelta(days=each) for each in range((month_after(first) - first).days))
    columns: Sequence[DayColumn] = [DayColumn(day.day, wagers.get(day, 0), marks.get(day, ())) for day in days]
    described = "; ".join(f"{column.number}: {count(column.amount)}" for column in columns if column.amount)
    title = _("Stakes of each night, %(month)s") % {"month": month_of(first)}
    return mark_safe(draw_days(columns, title=title, description=described))  # our own drawing
