"""The small parts of a page that stand for one thing everywhere: priority, who loses, persons, deadlines, states."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from html import escape

from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.casework.priority import reasons
from audit.casework.stakes import Stake
from audit.casework.urgency import HIGHEST, priority_of
from audit.desk.addresses import fixed
from audit.desk.icons import icon
from audit.models import Finding, Officer
from audit.models.adjudication import Severity
from audit.models.cases import Case, State
from audit.presentation import TimeLeft, initials, labelled, officer_name, short_name

BARS = ((0.0, 10.0, 4.0), (3.6, 7.2, 6.8), (7.2, 4.4, 9.6), (10.8, 1.6, 12.4))
"""Left, top and height of each bar of a priority or a severity."""

PIES: Mapping[str, str] = {State.NEW: "0", State.INVESTIGATING: "11", State.SECOND: "22"}
"""How much of a state's circle is filled, in units of its line; a closed case has all of it."""

STATES: Mapping[str, Promise] = {
    State.NEW: _("New"),
    State.INVESTIGATING: _("Under way"),
    State.SECOND: _("Second officer"),
    State.CLOSED: _("Closed"),
}
"""The states of a case in words that are short enough to stand beside each other; a list and a page have the same."""

ROUND = "31.4"
"""The length of the line around a circle of radius five."""


def markup(shown: object) -> str:
    """Return what stands in a page for a text, or for markup as it is: as Django's ``conditional_escape``, which asks
    ten times what it is, for what is written some thousand times in a page."""
    return shown if isinstance(shown, SafeString) else escape(str(shown))


def priority_bars(finding: Finding) -> SafeString:
    """Return four bars, as many of them filled as the priority is high; what it comes from is on hovering."""
    level = priority_of(finding) or 1
    return _bars(level, " · ".join(reasons(finding)), f"{level}/{HIGHEST}", "vh")


def severity(code: str) -> SafeString:
    """Return the severity of a rule or a finding: bars as of a priority, all four for a critical one, and its word.

    It is the law's and never changes; a priority is the queue's. ``code`` is one of ``Severity``.
    """
    return _severity(code, css_class="")


def severity_bars(code: str) -> SafeString:
    """Return the bars of a severity alone, where a title follows; the word is read out, and is on hovering."""
    return _severity(code, css_class="vh")


def _severity(code: str, *, css_class: str) -> SafeString:
    word = capfirst(str(Severity(code).label))
    return _bars(HIGHEST - Severity.values.index(code), labelled(gettext("Severity"), word), word, css_class)


@lru_cache(maxsize=500)
def _bars(level: int, title: str, words: str, css_class: str) -> SafeString:
    rects = format_html_join(
        "",
        '<rect x="{}" y="{}" width="2.6" height="{}" rx=".8" class="{}"/>',
        ((x, y, height, "on" if number < level else "") for number, (x, y, height) in enumerate(BARS)),
    )
    return format_html(
        '<span class="sev s{}" title="{}"><svg viewBox="0 0 14 14" aria-hidden="true">{}</svg><span{}>{}</span></span>',
        level,
        title,
        rects,
        mark_safe(f' class="{css_class}"') if css_class else "",
        words,
    )


def who(stake: Stake, *, with_amount: bool = False) -> SafeString:
    """Return who is owed what: an icon, a colour and words, never a sign."""
    mark = icon(stake.side, is_small=True) if stake.side in ("player", "bank") else SafeString("")
    words = stake.amount if with_amount else stake.words
    return mark_safe(f'<span class="who {escape(stake.side) or "none"}">{mark}{escape(words)}</span>')


def due_ring(left: TimeLeft) -> SafeString:
    """Return a ring of the time that is left, and the time in words; red only when it is late."""
    return mark_safe(
        f'<span class="due {escape(left.css_class)}"><svg viewBox="0 0 14 14" aria-hidden="true"><circle cx="7" cy="7"'
        ' r="5" fill="none" stroke="currentColor" stroke-opacity=".22" stroke-width="2.4"/><circle cx="7" cy="7" r="5"'
        f' fill="none" stroke="currentColor" stroke-width="2.4" stroke-dasharray="{left.share * 31.4:.1f} {ROUND}"'
        f' transform="rotate(-90 7 7)"/></svg>{escape(left.text)}</span>'
    )


def person_address(role: str, casino_id: int, code: str, *, month: str = "") -> str:
    """Return the address of the page of somebody; ``role`` and ``month`` are those of ``person``."""
    address = fixed(f"audit_person_{role}", casino_id, code)
    return f"{address}?month={month}" if month else address


def person(role: str, casino_id: int, code: str, name: str = "", *, month: str = "") -> SafeString:
    """Return somebody named: letters in a square for staff, in a circle for a player, and the name as a link.

    ``role`` is "croupier" for whoever works there, or "player"; ``name`` the person as ``Directory`` writes one, "" for
    the id alone, which is said on hovering. The link leads to the page of the person, in ``month`` ("2026-11") where it
    is given.
    """
    address = escape(person_address(role, casino_id, code, month=month))
    title, named = _with_id(code, name), _named(role, code, name)
    return mark_safe(f'<a class="chip-p" href="{address}" title="{title}">{named}</a>')


def chip(role: str, code: str, name: str = "") -> SafeString:
    """Return somebody named as ``person`` does, without the link: inside of another one."""
    return mark_safe(f'<span class="chip-p" title="{_with_id(code, name)}">{_named(role, code, name)}</span>')


def _with_id(code: str, name: str) -> str:
    shown = short_name(name, code)
    return escape(code if shown == code else f"{shown} ({code})")


def _named(role: str, code: str, name: str) -> str:
    shown = short_name(name, code)
    letters = escape(initials(shown))
    return f'<span class="av {escape(role[0])}" aria-hidden="true">{letters}</span><span>{escape(shown)}</span>'


def officer_square(officer: Officer | None) -> SafeString:
    """Return the letters of an officer, or an empty circle where nobody has the case."""
    if officer is None:
        return SafeString('<span class="av none" aria-hidden="true"></span>')
    name = officer_name(officer)
    return mark_safe(f'<span class="av o" title="{escape(name)}" aria-hidden="true">{escape(initials(name))}</span>')


def state_pie(case: Case) -> SafeString:
    """Return the state of a case: a circle that fills, and its word."""
    return _pie(case.state, str(STATES[case.state]))


@lru_cache(maxsize=100)
def _pie(state: str, words: str) -> SafeString:
    return format_html(
        '<span class="st {}"><svg viewBox="0 0 14 14" aria-hidden="true"><circle cx="7" cy="7" r="5" fill="none"'
        ' stroke="currentColor" stroke-width="1.6"/><circle cx="7" cy="7" r="2.5" fill="none" stroke="currentColor"'
        ' stroke-width="5" stroke-dasharray="{} 31.4" transform="rotate(-90 7 7)"/></svg>{}</span>',
        state,
        f"{float(PIES.get(state, ROUND)) / 2:.1f}",
        words,
    )


def on_two_lines(written: str) -> SafeString:
    """Return what ``date_time`` wrote with the clock time under the day; it is read out, and copied, as it was."""
    day, comma, clock = written.rpartition(", ")
    return format_html('{}<span class="vh">{}</span><small>{}</small>', day, comma, clock)
