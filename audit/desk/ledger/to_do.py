"""What an officer can do about a process, step by step, by what it is about: inspect, watch, compare, answer.

Nothing is to be done about what has not asked. Of a wheel or of dice near the threshold an inspection is offered,
because it harms nobody; of persons nothing is, below the level.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from audit.desk.addresses import page_of
from audit.desk.findings.person_filters import findings_address
from audit.desk.findings.todo import Step
from audit.desk.ledger.coups import Coup
from audit.desk.ledger.inspection_order import inspected
from audit.desk.nights.tables import Link
from audit.desk.sessions import session_name
from audit.models import Casino, Finding, LedgerPoint, LedgerProcess
from audit.models.cases import State
from audit.presentation import date_time, day, local, sentence_end
from settlement.eprocess.kinds import KINDS

SESSIONS_SHOWN = 3
"""Sessions to watch."""


class Todo(NamedTuple):
    """A step: its title, which may name what it is about as ``who`` or ``what``, and its detail."""

    title: str | Promise
    detail: str | Promise = ""


_WHEEL = Todo(
    gettext_lazy("Inspect the wheel %(what)s"),
    gettext_lazy("The level of the bowl, the separators and the ball track."),
)
_TWICE = Todo(
    gettext_lazy("Check in the table system whether spins were recorded twice"),
    gettext_lazy(
        "For the owner of the equipment: the same pocket again at once is an error of the record before it is "
        "anything else."
    ),
)
_DICE = Todo(
    gettext_lazy("Take the dice out of play and measure them"),
    gettext_lazy("Edges, faces, pips and balance; other dice are used meanwhile."),
)
_OTHER_HANDS = Todo(
    gettext_lazy("Let other croupiers deal for two nights"),
    gettext_lazy("An ordinary rota. If the pattern stays, it is the wheel."),
)
_COMPARE = Todo(
    gettext_lazy("Compare with the other tests on the same subject"),
    gettext_lazy("The list below shows whether the pattern stays with the dice or with the table."),
)
_COUNTS = Todo(
    gettext_lazy("Compare counts, slips, fills and credits of the sessions that moved it most"),
    gettext_lazy("An amount noted twice, or never, throws the figures out the same way each time."),
)
_OTHER_COUNT = Todo(
    gettext_lazy("Have others count for two nights"),
    gettext_lazy("If the drift persists, it is not down to who counts."),
)
_WAGERS = Todo(
    gettext_lazy("Check on video when the wagers of %(who)s were placed, and when they were moved"),
    gettext_lazy("Above all those shortly before or after the call."),
)
_PLAYER = Todo(gettext_lazy("Look at the page of %(who)s"), gettext_lazy("What was won and lost, and with whom."))
_ERRORS = Todo(
    gettext_lazy("Look at the payment errors of %(who)s one by one"),
    gettext_lazy("Whether they are all of one kind of wager, at one hour or with one player."),
)
_HEARING = Todo(
    gettext_lazy("Hear %(who)s"),
    gettext_lazy("Show the errors: a rule half known is more often the cause than bad faith."),
)
_FINDINGS = Todo(
    gettext_lazy("Look at these findings one by one"),
    gettext_lazy("Whether one player, one bet or one hour has them all, or a fault of the table system."),
)
_HEARING_OF_FINDINGS = Todo(
    gettext_lazy("Hear the croupier"),
    gettext_lazy("Show the findings: a rule half known is more often the cause than bad faith."),
)
_VOIDS = Todo(
    gettext_lazy("Watch the coups that were called void"),
    gettext_lazy("Whether each had a reason that the rules allow, and who called it."),
)
_OTHER_TABLE = Todo(
    gettext_lazy("Let %(who)s deal at another table for two nights"),
    gettext_lazy("An ordinary rota. What goes with the croupier is not the table."),
)
_OTHER_CLOSER = Todo(
    gettext_lazy("Have another person close these tables for two nights"),
    gettext_lazy("If the drift persists, it is not down to who closes."),
)

STEPS: Mapping[str, Sequence[Todo]] = {
    "wheel": (_WHEEL, _OTHER_HANDS),
    "wheel-displacement": (_TWICE, _WHEEL, _OTHER_HANDS),
    "wheel-memory": (_WHEEL, _OTHER_HANDS),
    "croupier-displacement": (
        _WHEEL,
        Todo(
            gettext_lazy("Let %(who)s deal at another wheel for two nights"),
            gettext_lazy("An ordinary rota. What goes with the croupier is the hand, what stays is the wheel."),
        ),
    ),
    "die": (_DICE, _COMPARE),
    "dice-supply": (_DICE, _COMPARE),
    "dice-pair": (_DICE, _COMPARE),
    "shooter": (
        Todo(
            gettext_lazy("Watch how %(who)s throws"),
            gettext_lazy("Whether the dice turn, and reach the far end of the table."),
        ),
        Todo(gettext_lazy("Inspect the dice that were thrown"), _DICE.detail),
    ),
    "void-call": (_VOIDS, _DICE),
    "table-luck": (
        Todo(
            gettext_lazy("Check the payments of table %(what)s first"),
            gettext_lazy("Errors have findings of their own; luck is what remains."),
        ),
        Todo(
            gettext_lazy("Inspect the wheel or the dice of the table"),
            gettext_lazy("Any fault there shows in the luck of the house."),
        ),
    ),
    "table-drift": (_COUNTS, _OTHER_COUNT),
    "team-drift": (_COUNTS, _OTHER_COUNT),
    "shift-drift": (_COUNTS, _OTHER_COUNT),
    "closer-drift": (_COUNTS, _OTHER_CLOSER),
    "duty-drift": (_COUNTS, _OTHER_TABLE),
    "croupier-voids": (_VOIDS, _OTHER_TABLE),
    "pair-voids": (_VOIDS, _PLAYER),
    "player-concentration": (_FINDINGS, _PLAYER),
    "player-luck": (_WAGERS, _PLAYER),
    "late-luck": (_WAGERS, _PLAYER),
    "corrected-luck": (_WAGERS, _PLAYER),
    "pair-luck": (
        _WAGERS,
        _PLAYER,
        Todo(
            gettext_lazy("Let another croupier deal when %(who)s plays"),
            gettext_lazy("An ordinary rota. If the luck persists, it is not the two of them."),
        ),
    ),
    "croupier-luck": (
        Todo(
            gettext_lazy("Check on video when the wagers that won with %(who)s were placed"),
            gettext_lazy("Above all those shortly before or after the call."),
        ),
        _OTHER_TABLE,
    ),
    "concentration": (_FINDINGS, _HEARING_OF_FINDINGS),
    "pair-concentration": (_FINDINGS, _HEARING_OF_FINDINGS),
    "payout-lean": (_ERRORS, _HEARING),
    "payout-rate": (_ERRORS, _HEARING),
}
"""What can be done before the answer, by kind."""


def steps_of(
    process: LedgerProcess,
    subject: Sequence[Link],
    moved: Sequence[LedgerPoint],
    finding: Finding | None,
    *,
    coups: Sequence[Coup] = (),
    is_near_threshold: bool,
    ask: SafeString | None = None,
    order: str = "",
    may_answer: bool,
    may_take_apart: bool,
) -> list[Step]:
    """Return the steps about a process; none where there is nothing to do. No query.

    ``subject`` is what it is about, as the page names it. ``moved`` are the sessions that added most, the largest
    first, and ``coups`` those to look at in them. ``finding``, with its case, asks the question; None of a process that
    has not asked. ``ask`` is the button that asks for the video of the coups, None where there is nothing to ask for or
    for whoever may not. ``order`` is the address of the order to inspect what it is about, "" for whoever may not give
    one.
    """
    words = {"who": subject[0].text, "what": subject[-1].text}
    if finding is None:
        if not is_near_threshold or not process.is_going_on or KINDS[process.kind].half != "equipment":
            return []
        return [_step(process, STEPS[process.kind][0], words, subject, order, may_take_apart=may_take_apart)]
    todos = [each for each in STEPS[process.kind] if each is not _DICE or not process.variant]  # a wheel has no dice
    steps = [_step(process, each, words, subject, order, may_take_apart=may_take_apart) for each in todos]
    steps.insert(1, _coups(process.casino, coups, ask) if coups else _sessions(moved))
    steps.append(_answer(finding, may_answer=may_answer))
    first = next((each for each in steps if not each.is_done), None)
    return [replace(each, is_first=each is first) for each in steps]


def _step(
    process: LedgerProcess,
    todo: Todo,
    words: Mapping[str, str],
    subject: Sequence[Link],
    order: str,
    *,
    may_take_apart: bool,
) -> Step:
    link = None
    if todo in (_WHEEL, _DICE) and process.is_going_on:
        link = SafeString("")
        if order and inspected(process) is not None:
            link += _link(order, _("Inspection order"))
        if may_take_apart and _is_noted(process):
            link += _link("#apart", _("Record that it was taken apart"))
    elif todo is _COMPARE:
        link = _link("#others", _("The other tests"))
    elif todo is _PLAYER and subject[0].address:
        link = _link(subject[0].address, _("The page"))
    elif todo is _ERRORS:
        link = _link(findings_address(croupier=process.subject), _("The findings"))
    elif process.kind == "table-luck" and subject[0].address:
        link = _link(subject[0].address, _("The findings"))
    return Step(str(todo.title) % words, str(todo.detail), link)


def _is_noted(process: LedgerProcess) -> bool:
    """Whether an officer can note on the page of a process that its equipment was taken apart."""
    return process.kind in ("wheel", "wheel-displacement", "wheel-memory", "die", "dice-pair")


def _coups(casino: Casino, coups: Sequence[Coup], ask: SafeString | None) -> Step:
    """Return the step that looks at coups, each a link to the table as it stood, and says until when there is video.

    ``ask`` is the button that asks for it. The video of a coup at another table is asked for there.
    """
    number = len(coups)
    title = ngettext(
        "Look at %(number)d coup of the sessions that moved it most",
        "Look at %(number)d coups of the sessions that moved it most",
        number,
    )
    days = sorted({local(each.at, casino).date() for each in coups})
    kept = timedelta(days=settings.CABOCHON_VIDEO_DAYS)
    today = datetime.now(UTC).date()
    until = [
        (_("%(day)s: video until %(until)s") if each + kept >= today else _("%(day)s: video was kept until %(until)s"))
        % {"day": day(each), "until": day(each + kept)}
        for each in days
    ]
    lines = format_html_join(
        "", '<span class="coup"><a class="link" href="{}">{}</a>{}{}{}</span>', _lines(casino, coups)
    )
    words = _("The clearest. Each leads to the table as it stood.")
    detail = format_html('{}<span class="coups">{}</span>{}', words, lines, sentence_end("; ".join(until)))
    return Step(title % {"number": number}, detail, ask, all(each.is_requested for each in coups))


def _lines(casino: Casino, coups: Sequence[Coup]) -> Iterator[tuple[Any, ...]]:
    for each in coups:
        address = reverse("admin:audit_loggedstream_table", args=(each.stream_id,))
        pockets = [
            format_html('<span class="pk {}">{}</span>', colour, words) if words else ""
            for words, colour in zip((each.before, each.result), each.colours, strict=True)
        ]
        tag = format_html('<span class="tag ok">{}</span>', _("video asked for")) if each.is_requested else ""
        yield f"{address}?at={each.seq}", date_time(each.at, casino, seconds=True), *pockets, tag


def _sessions(moved: Sequence[LedgerPoint]) -> Step:
    """Return the step that watches the sessions which added most, each with how long there is video of it."""
    title = _("Watch the sessions that moved it most")
    links = format_html_join(" · ", '<a class="link" href="{}">{}</a> {}', _videos(moved))
    return Step(title, links or _("They are in the list above."))


def _videos(moved: Sequence[LedgerPoint]) -> Iterator[tuple[str, str, str]]:
    today = datetime.now(UTC).date()
    for point in [each for each in moved if each.batch.stream_id is not None][:SESSIONS_SHOWN]:
        assert point.batch.stream is not None, "it has an id"
        until = point.batch.gaming_day + timedelta(days=settings.CABOCHON_VIDEO_DAYS)
        words = _("video until %(day)s") if until >= today else _("video was kept until %(day)s")
        address = reverse("admin:audit_loggedstream_table", args=(point.batch.stream_id,))
        yield address, session_name(point.batch.stream), words % {"day": day(until)}


def _answer(finding: Finding, *, may_answer: bool) -> Step:
    is_closed = finding.case is not None and finding.case.state == State.CLOSED
    link = _link(page_of("finding", finding.pk), _("Answer the question")) if may_answer and not is_closed else None
    title = _("Write what was found; a second officer reads it")
    return Step(title, _("“Nothing found” is an answer."), link, is_closed)


def _link(address: str, words: str) -> SafeString:
    return format_html('<a class="btn sm" href="{}">{}</a>', address, words)
