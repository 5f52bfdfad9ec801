"""How a time, a person, an amount, a value and a finding are written: once, for page, list, file and message.

Everything is written in the active language, ``language()``. A caller that needs another one, as a mail to a
subscriber does, activates it with ``django.utils.translation.override``.

An instant is written in the time zone of the casino it belongs to. Without a casino it is written in UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import TypeAlias, cast
from unicodedata import bidirectional
from zoneinfo import ZoneInfo

from django.db.models import Q
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.functional import Promise, lazy
from django.utils.translation import get_language, gettext, ngettext

from audit.models import AccountRequest, Casino, Escalation, Finding, Officer, RunCause
from settlement import catalogue
from settlement.catalogue import BET_LABELS, RULES, Language
from settlement.catalogue.rule import Kind
from settlement.catalogue.sentences import Writer, amount, amount_in_prose, exponent, format_fact
from settlement.catalogue.sentences import multiple as multiple_in
from settlement.catalogue.words import WORDS, word
from settlement.provisions import label_in
from settlement.rulesets import RULESETS

MISSING = ""
"""What stands where there is nothing to write: no dash, which is read as a value that is not known."""

FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"

DIRECTION_CONTROLS = "\u202a-\u202e\u2066-\u2069"
"""The controls of the writing direction, as a set of characters in a pattern."""

_DIRECTION_CONTROL = re.compile(f"[{DIRECTION_CONTROLS}]")

MINUTE_S, HOUR_S = 60, 3_600

MONTHS_EN = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MONTHS_FR = (
    *("janv.", "févr.", "mars", "avr.", "mai", "juin"),
    *("juill.", "août", "sept.", "oct.", "nov.", "déc."),
)
WEEKDAYS_EN = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
WEEKDAYS_FR = ("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche")


def language() -> Language:
    """Return the language of the page or file: French where French is active, else English."""
    return "fr" if (get_language() or "").startswith("fr") else "en"


def _family_name(family: str) -> str:
    return word("families", family, language())


_lazy_family_name = cast(Callable[[str], Promise], lazy(_family_name, str))

FAMILY_NAMES: Mapping[str, Promise] = {family: _lazy_family_name(family) for family in WORDS["families"]}
"""The families of events that a table may report."""


def local(moment: datetime, casino: Casino | None) -> datetime:
    """Return the same instant in the time zone of ``casino``; in UTC if ``casino`` is None."""
    return moment.astimezone(ZoneInfo(casino.time_zone) if casino is not None else UTC)


def date_time(moment: datetime, casino: Casino | None, *, seconds: bool = False, with_year: bool | None = None) -> str:
    """Return day, time and zone: “19 Nov, 23:41 CET”. Every instant on a page or in a file is written by this.

    ``with_year``: a file always has the year; None, as on a page, only where it is not the present one.
    """
    here = local(moment, casino)
    clock = f"{here:%H:%M:%S}" if seconds else f"{here:%H:%M}"
    return f"{day(here.date(), with_year=with_year)}, {clock} {zone(moment, casino)}"


def zone(moment: datetime, casino: Casino | None) -> str:
    """Return what the casino's clocks call their zone at ``moment``: “CET”, “CEST”; “UTC−3” where it has no name."""
    name = local(moment, casino).tzname() or "UTC"
    return name if name.isalpha() else f"UTC{name}".replace("-", "−")


def clock(moment: datetime, casino: Casino | None) -> str:
    """Return the time of day to the second, for events of one session, beside their zone: “20:00:09”."""
    return f"{local(moment, casino):%H:%M:%S}"


def opening_hours(begin: datetime, end: datetime, casino: Casino | None) -> str:
    """Return the hours between two instants of one night, with their zone: “16:00–04:30 CET”."""
    return f"{local(begin, casino):%H:%M}–{local(end, casino):%H:%M} {zone(end, casino)}"


def day(date: date, *, with_weekday: bool = False, with_year: bool | None = None) -> str:
    """Return a day: “19 Nov”, « jeudi 19 nov. ». ``with_year`` is that of ``date_time``."""
    is_french = language() == "fr"
    months, weekdays = (MONTHS_FR, WEEKDAYS_FR) if is_french else (MONTHS_EN, WEEKDAYS_EN)
    number = "1er" if date.day == 1 and is_french else str(date.day)
    has_year = date.year != timezone.now().year if with_year is None else with_year
    parts = (
        *([weekdays[date.weekday()]] if with_weekday else []),
        number,
        months[date.month - 1],
        *([str(date.year)] if has_year else []),
    )
    return " ".join(parts)


def night_of(gaming_day: date, *, with_year: bool | None = None) -> str:
    """Return the name of a night, by its gaming day, whatever the clock says: “Night of Thu 19 Nov”."""
    return gettext("Night of %(day)s") % {"day": day(gaming_day, with_weekday=True, with_year=with_year)}


def day_in_full(day: date) -> str:
    """Return a day for a title: “Thursday 19 November”, « jeudi 1er novembre ». Another year than this one is named."""
    text = date_format(day, "l j F" if day.year == timezone.now().year else "l j F Y")
    return text.replace(" 1 ", " 1er ") if language() == "fr" else text


def month_of(first: date) -> str:
    """Return a month with its year: “Nov 2026”."""
    return f"{(MONTHS_FR if language() == 'fr' else MONTHS_EN)[first.month - 1]} {first.year}"


def money(minor: int, currency: str) -> str:
    """Return an amount with its currency: “€1,234.50”, « 1 234,50 € ». ``minor`` is in minor units."""
    return _amount(minor, currency, language())


_amount = lru_cache(maxsize=8192)(amount)  # a page with a felt has the same few amounts some thousand times


def money_in_prose(minor: int, currency: str) -> str:
    """Return an amount as ``money`` does, without decimals where they are all zeros: “€864”.

    This is for sentences, titles and what is said of a single finding; tables, figures, files and papers keep them.
    """
    return amount_in_prose(minor, currency, language())


WriteMoney: TypeAlias = Callable[[int, str], str]
"""How an amount in minor units is written with its currency: ``money`` or ``money_in_prose``."""


def money_in_units(minor: int, currency: str) -> str:
    """Return an amount to the nearest unit: “€541” for 540.75."""
    unit = 10 ** exponent(currency)
    whole = (abs(minor) + unit // 2) // unit * unit
    return money_in_prose(-whole if minor < 0 else whole, currency)


def money_in_thousands(minor: int, currency: str) -> str:
    """Return an amount of a thousand units or more in thousands, to the tenth: “€13.2k”, « 13,2 k€ »; else in units."""
    unit = 10 ** exponent(currency)
    if abs(minor) < 1_000 * unit:
        return money_in_units(minor, currency)
    tenths = (abs(minor) + 50 * unit) // (100 * unit)
    digits = f"{tenths // 10:,}.{tenths % 10}"
    sign = "−" if minor < 0 else ""
    symbol = re.sub(r"[\d\s.,−]", "", money(0, currency))
    if language() == "fr":
        return f"{sign}{digits.replace(',', chr(0x202F)).replace('.', ',')}\N{NO-BREAK SPACE}k{symbol}"
    return f"{sign}{symbol}{digits}k"


def labelled(label: str, text: str) -> str:
    """Return a text after what it is about: “R4: not counted”, « R4 : non compté »."""
    return f"{label}\N{NO-BREAK SPACE}: {text}" if language() == "fr" else f"{label}: {text}"


def signed_money(minor: int, currency: str, write: WriteMoney = money) -> str:
    """Return an amount as ``write`` does, with a plus sign before what is more than zero."""
    return ("+" if minor > 0 else "") + write(minor, currency)


def units(minor: int, currency: str) -> Decimal:
    """Return an amount in units of its currency, with all their decimals, as files have it: 864.00."""
    return Decimal(minor).scaleb(-exponent(currency))


def reference(finding: Finding) -> str:
    """Return the name of a finding that is short enough to read out, “DEA-26-0143”; "" for one that has never stood.

    No other casino has its code. One from before there were codes, or numbers, keeps the reference that may be printed
    in a letter: F and its number in its casino, or F and its id.
    """
    if finding.number is not None and finding.year is not None:
        return f"{finding.reference_code or 'F'}-{finding.year % 100:02d}-{finding.number:04d}"
    return f"F-{finding.opened_at:%y}-{finding.pk:04d}" if finding.stood_at is not None else MISSING


REFERENCE = re.compile(r"\b(?P<code>F|[A-Z]{3})-(?P<year>\d\d)-(?P<number>\d{1,15})\b", re.IGNORECASE)
"""What ``reference`` writes, as somebody types it: “DEA-26-0143”, “dea-26-0143”, “F-26-0143”."""

CENTURY = 2_000


def referred_to(match: re.Match[str]) -> Q:
    """Return the condition for the findings that a match of ``REFERENCE`` names: with F, one at each casino may be."""
    year, number, code = CENTURY + int(match["year"]), int(match["number"]), match["code"].upper()
    if code != "F":
        return Q(number=number, year=year, reference_code=code)
    from_before = Q(number=None, pk=number, opened_at__year=year, stood_at__isnull=False)
    return Q(number=number, year=year, reference_code="") | from_before


def payment_error(minor: int, currency: str, *, of_several: bool = False) -> str:
    """Return what was paid less what was due, without a sign: “€2.00 overpaid”, “€864.00 owed to the player”.

    ``minor`` is more than zero where the player has too much; ``of_several`` if it is the sum of several wagers.
    """
    amount = {"amount": money(abs(minor), currency)}
    if minor > 0:
        return gettext("%(amount)s overpaid") % amount
    if not minor:
        return amount["amount"]
    words = gettext("%(amount)s owed to players") if of_several else gettext("%(amount)s owed to the player")
    return words % amount


def officer_name(officer: Officer | None) -> str:
    """Return an officer's name, that of the account if no other is known; "" if there is no officer."""
    return isolated(officer.get_full_name() or officer.get_username()) if officer is not None else MISSING


def passed_to(escalation: Escalation) -> str:
    """Return to whom a late case passed: the deputy of that time, or the administrators of the casino."""
    return officer_name(escalation.deputy) if escalation.deputy is not None else gettext("the administrators")


def request_title(request: AccountRequest) -> str:
    """Return what a request about an account is for: “second officer, Casino de Deauville”."""
    if request.casino is not None:
        return f"{request.get_role_display()}, {request.casino}"
    return f"{request.get_kind_display()} {request.email}".strip()


_WORD = re.compile(r"\w+")


def initials(name: str) -> str:
    """Return the one or two letters that stand for a name in a small square."""
    words = _WORD.findall(name)
    letters = words[0][:2] if len(words) == 1 else "".join(word[0] for word in (*words[:1], *words[-1:]))
    return letters.upper()


def person(code: str, name: str = "") -> str:
    """Return a player or somebody of the staff as “Name (id)”, or the id alone if there is no name."""
    return f"{isolated(name)} ({code})" if name else code


def isolated(text: str) -> str:
    """Return a name, or words from outside, as they stand in a sentence.

    What is written from right to left is isolated, so that it leaves the order of the sentence around it alone. Of a
    control of the writing direction it shows U+FFFD.
    """
    shown = _DIRECTION_CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
    is_right_to_left = any(bidirectional(letter) in ("R", "AL") for letter in shown)
    return f"{FIRST_STRONG_ISOLATE}{shown}{POP_ISOLATE}" if is_right_to_left else shown


def short_name(name: str, code: str) -> str:
    """Return somebody without the id that may follow the name, “Name (id)”; the id where there is no name."""
    return name.removesuffix(f" ({code})") or code


def value(fact: object, kind: Kind | None, currency: str, write: Writer = amount) -> str | None:
    """Return what a rule expected or what was recorded, as its kind is written; None if there is none.

    ``kind`` is ``Rule.expected_is`` or ``Rule.recorded_is``; ``currency`` that of the session; an amount is written by
    ``write``.
    """
    return format_fact(fact, kind, language(), currency, write)


def wager_status(status: str, currency: str) -> str:
    """Return the status of a wager in words."""
    return value(status, "status", currency) or status


def sentence_end(text: str) -> str:
    """Return ``text`` with the period that ends its sentence: a time may end with one of its own, as in “2:04 p.m.”."""
    return text if text.endswith(".") else f"{text}."


def correction_name(event_type: str, seq: int) -> str:
    """Return what an event that acts on an earlier one is called: “correction #13”, “annulment #13”."""
    match event_type:
        case "entry.corrected":
            return gettext("correction #%(seq)d") % {"seq": seq}
        case "entry.annulled":
            return gettext("annulment #%(seq)d") % {"seq": seq}
        case _:
            return gettext("result declared void by #%(seq)d") % {"seq": seq}


def superseded_by(finding: Finding) -> str:
    """Return what superseded a finding: “run 2: correction #13”; "" unless a run did.

    The corrections are those of ``finding.removed_by``, to be looked up before.
    """
    run = finding.superseded_by_run
    if run is None:
        return ""
    if run.pk == finding.run_id:
        return gettext("run %(number)d: a later event changed the finding") % {"number": run.number}
    match run.cause:
        case RunCause.CORRECTION if finding.removed_by:
            why = ", ".join(correction_name(type, seq) for seq, type in finding.removed_by.items())
        case RunCause.CORRECTION:  # without which the stream is read again
            why = gettext("a correction that waits for two officers")
        case RunCause.ENGINE:
            why = gettext("engine version %(version)s") % {"version": run.engine_version}
        case RunCause.REGISTER:
            why = gettext("version %(version)d of the house register") % {"version": run.register_version or 0}
        case _:
            why = run.get_cause_display()
    return gettext("run %(number)d: %(why)s") % {"number": run.number, "why": why}


def finding_title(rule: str) -> str:
    """Return the title of the findings of a rule. ``rule`` is the rule's name in the catalogue."""
    return RULES[rule].title.in_language(language())


def ruleset_label(name: str) -> str:
    """Return a ruleset in words; its name if it is none of ours."""
    return RULESETS[name].title.in_language(language()) if name in RULESETS else name


def bet_label(ruleset: str | None, bet: str) -> str:
    """Return a bet of a ruleset in words, or the code of one that the ruleset has not."""
    return catalogue.bet_label(ruleset, bet, language())


def bet_in_every_game(bet: str) -> str:
    """Return a bet in the words of every ruleset that has it, or the code of one that none has."""
    labels = [label[language()] for (_ruleset, name), label in BET_LABELS.items() if name == bet]
    return " / ".join(dict.fromkeys(labels)) or bet


def event_name(type: str) -> str:
    """Return what a type of the contract’s events is called: “closing of the count”; any other type as it was sent."""
    return word("event", type, language())


def provision(label: str) -> str:
    """Return a provision, an article or an instrument as one cites it: “s. 95.17 (2)”, « art. 95.17 (2) ».

    ``label`` is one of ``settlement.provisions``, ``LawText.article`` or ``Instrument.cited_as``.
    """
    return label_in(label, language())


def count(number: int) -> str:
    """Return a whole number with its thousands grouped."""
    return number_format(number, force_grouping=True)


def whole_times(number: int) -> str:
    """Return how many times a stake has become, as the record keeps it: a power of ten where it is very many.

    ``multiple`` writes it in a language.
    """
    if number < 10**9:
        return f"{number:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")
    return power_of_ten(len(str(number)) - 1)


def multiple(kept: str) -> str:
    """Return what ``whole_times`` gave, in the active language: “3,696”, « 3 696 »."""
    return multiple_in(kept, language())


def power_of_ten(exponent: int) -> str:
    """Return a power of ten as it is written by hand: ``10¹⁵``."""
    return f"10{str(exponent).translate(_RAISED)}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


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


SOON = timedelta(hours=6)
"""How much time is left when little of it is."""


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """The time to a deadline in words, “3 h 20 left”, and its share of the time there was."""

    text: str
    share: float
    css_class: str


def time_left(until: datetime, *, since: datetime) -> TimeLeft:
    """Return the time that is left of the time from ``since`` to ``until``; how late it is where none is."""
    left = until - timezone.now()
    minutes = int(abs(left).total_seconds() // MINUTE_S)
    hours, days = minutes // 60, minutes // 1440
    if days:
        text = gettext("%(days)d d %(hours)d h") % {"days": days, "hours": hours % 24}
    elif hours:
        text = gettext("%(hours)d h %(minutes)02d") % {"hours": hours, "minutes": minutes % 60}
    else:
        text = gettext("%(minutes)d min") % {"minutes": minutes}
    if left < timedelta(0):
        return TimeLeft(gettext("%(time)s late") % {"time": text}, 1.0, "late")
    share = min(1.0, left / max(until - since, timedelta(seconds=1)))
    return TimeLeft(gettext("%(time)s left") % {"time": text}, share, "soon" if left < SOON else "")


def countdown(until: datetime) -> Countdown:
    """Return the time that is left until ``until``."""
    left = until - timezone.now()
    hours = int(abs(left).total_seconds() // HOUR_S)
    return Countdown(until, left < timedelta(0), left < timedelta(hours=24), hours, hours // 24)
