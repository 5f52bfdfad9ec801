"""How a time, a person, an amount, a value and a finding are written: once, for page, list, file and message.

Everything is written in the active language, ``language()``. A caller that needs another one, as a mail to a
subscriber does, activates it with ``django.utils.translation.override``.

An instant is written in the time zone of the casino it belongs to. Without a casino it is written in UTC.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from unicodedata import bidirectional
from zoneinfo import ZoneInfo

from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.translation import get_language, gettext, ngettext

from audit.models import Casino, Finding, Officer, RunCause
from settlement.catalogue import RULES, Language
from settlement.catalogue.rule import Kind
from settlement.catalogue.sentences import amount, format_fact

MISSING = "—"

FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"

MINUTE_S, HOUR_S = 60, 3_600


def language() -> Language:
    """Return the language of the page or file: French where French is active, else English."""
    return "fr" if (get_language() or "").startswith("fr") else "en"


def local(moment: datetime, casino: Casino | None) -> datetime:
    """Return the same instant in the time zone of ``casino``; in UTC if ``casino`` is None."""
    return moment.astimezone(ZoneInfo(casino.time_zone) if casino is not None else UTC)


def instant(moment: datetime, casino: Casino | None) -> str:
    """Return day and time to the second, as lists sort them: “2026-11-19 20:00:09”."""
    return f"{local(moment, casino):%Y-%m-%d %H:%M:%S}"


def clock(moment: datetime, casino: Casino | None) -> str:
    """Return the time of day to the second, for events of one session: “20:00:09”."""
    return f"{local(moment, casino):%H:%M:%S}"


def date_time(moment: datetime, casino: Casino | None, format: str = "DATETIME_FORMAT") -> str:
    """Return day and time in words of the page's language; without a casino it ends in “UTC”.

    ``format`` is one of Django's named formats.
    """
    text = date_format(local(moment, casino), format)
    return text if casino is not None else f"{text} UTC"


def money(minor: int, currency: str) -> str:
    """Return an amount with its currency: “€1,234.50”, « 1 234,50 € ». ``minor`` is in minor units."""
    return amount(minor, currency, language())


def signed_money(minor: int, currency: str) -> str:
    """Return an amount as ``money`` does, with a plus sign before what is more than zero."""
    return ("+" if minor > 0 else "") + money(minor, currency)


def officer_name(officer: Officer | None) -> str:
    """Return an officer's name; “—” if there is none."""
    return str(officer) if officer is not None else MISSING


def person(code: str, name: str = "") -> str:
    """Return a player or somebody of the staff as “Name (id)”, or the id alone if there is no name.

    A name that is written from right to left is isolated, so that it leaves the order of the text around it alone.
    """
    if not name:
        return code
    is_right_to_left = any(bidirectional(letter) in ("R", "AL") for letter in name)
    return f"{FIRST_STRONG_ISOLATE}{name}{POP_ISOLATE} ({code})" if is_right_to_left else f"{name} ({code})"


def value(fact: object, kind: Kind | None, currency: str) -> str | None:
    """Return what a rule expected or what was recorded, as its kind is written; None if there is none.

    ``kind`` is ``Rule.expected_is`` or ``Rule.recorded_is``; ``currency`` that of the session.
    """
    return format_fact(fact, kind, language(), currency)


def wager_status(status: str, currency: str) -> str:
    """Return the status of a wager in words."""
    return value(status, "status", currency) or status


def superseded_by(finding: Finding) -> str:
    """Return what superseded a finding: “run 2: correction #13”; "" unless a run did."""
    run = finding.superseded_by_run
    if run is None:
        return ""
    match run.cause:
        case RunCause.CORRECTION:
            why = gettext("correction #%(seq)d") % {"seq": run.corrections_through}
        case RunCause.ENGINE:
            why = gettext("engine version %(version)s") % {"version": run.engine_version}
        case _:
            why = run.get_cause_display()
    return gettext("run %(number)d: %(why)s") % {"number": run.number, "why": why}


def finding_title(rule: str) -> str:
    """Return the title of the findings of a rule. ``rule`` is the rule's name in the catalogue."""
    return RULES[rule].title.in_language(language())


def count(number: int) -> str:
    """Return a whole number with its thousands grouped."""
    return number_format(number, force_grouping=True)


def duration(seconds: float) -> str:
    """Return a duration rounded to the second, the minute or the hour: “59 seconds”, “2 hours”."""
    whole = round(seconds)
    if whole < MINUTE_S:
        return ngettext("%(number)d second", "%(number)d seconds", whole) % {"number": whole}
    if whole < HOUR_S:
        minutes = round(whole / MINUTE_S)
        return ngettext("%(number)d minute", "%(number)d minutes", minutes) % {"number": minutes}
    hours = round(whole / HOUR_S)
    return ngettext("%(number)d hour", "%(number)d hours", hours) % {"number": hours}


@dataclass(frozen=True, slots=True)
class Countdown:
    """The time from now to a deadline, or since it. ``hours`` and ``days`` are whole and never negative."""

    until: datetime
    is_overdue: bool
    is_near: bool  # less than a day is left, or it is overdue
    hours: int
    days: int

    @property
    def text(self) -> str:
        """“5 h left”, or “5 h overdue”."""
        words = gettext("%(hours)d h overdue") if self.is_overdue else gettext("%(hours)d h left")
        return words % {"hours": self.hours}

    @property
    def css_class(self) -> str:
        return "overdue" if self.is_overdue else "near" if self.is_near else ""


def countdown(until: datetime) -> Countdown:
    """Return the time that is left until ``until``."""
    left = until - timezone.now()
    hours = int(abs(left).total_seconds() // HOUR_S)
    return Countdown(until, left < timedelta(0), left < timedelta(hours=24), hours, hours // 24)
