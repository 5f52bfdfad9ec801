"""What the palette finds: in groups, each result an address with a title, and what to know before going there.

All words must match: a person by every word that is no table, a rule or a page by every word. Ids that are typed whole
come first. ``notes_of`` says what there is not: a table, a session or a night.

Everything is within the officer's scope: findings and nights of the casinos whose record they see, names where they may
see names, pages that their capabilities open. Some rows of each kind are shown; the lists have the rest.
"""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice

from django.db.models import Case, Func, Q, QuerySet, Value, When
from django.db.models.functions import Lower
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.html import escape, format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.casework.debts import stake_of_incident, with_money
from audit.casework.priority import with_priority
from audit.casework.titles import incident_title, second_line
from audit.desk import parts
from audit.desk.icons import icon
from audit.desk.names import directory_for
from audit.desk.navigation import Link, is_of_several, navigation
from audit.desk.palette.query import TABLE, Query, folded
from audit.desk.scoped_admin import in_record, scope_of
from audit.desk.tables.moment import moments_of
from audit.models import (
    Finding,
    FindingStatus,
    GamingTable,
    ListState,
    LoggedStream,
    NightReport,
    PaymentOrder,
    Person,
    PersonKind,
)
from audit.models.cases import State
from audit.persons import listings
from audit.persons.directory import Directory, players
from audit.presentation import (
    date_time,
    initials,
    language,
    money_in_prose,
    provision,
    reference,
    referred_to,
    time_left,
)
from audit.presentation import day as written_day
from settlement.catalogue import RULES

SHOWN = 5
"""Results of each kind. Of tables, persons, findings and rules a group says that there are more."""

PERSONS_TRIED = 50
"""Persons of a name whose findings are looked for."""

ACCENTED = "àâäáãåçéèêëíìîïñóòôöõúùûüýÿ"
PLAIN = "aaaaaaceeeeiiiinooooouuuuyy"
"""Letters of names that the database compares without their accents, and what it compares instead."""


@dataclass(frozen=True, slots=True)
class Result:
    """Where to go. ``title`` and ``detail`` have what was typed marked; ``mark`` stands before, ``aside`` behind."""

    address: str
    mark: SafeString
    title: SafeString
    detail: SafeString
    aside: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    title: str | Promise
    results: Sequence[Result]
    has_more: bool


def results_of(request: HttpRequest, query: Query) -> tuple[list[Group], list[str]]:
    """Return what ``query`` finds, in groups that are not empty, and sentences about what there is not."""
    tables = list(_tables(request, query))
    persons = list(_persons(request, query, tables))
    listed = _listed(request, persons)
    moments, nights = list(_moments(request, query, tables)), list(_nights(request, query))
    groups = (
        Group(_("A moment"), moments, has_more=len(tables) > SHOWN),
        _first(_("People"), (_person(request, query, person, listed) for person in persons)),
        _first(_("Payment orders"), _orders(request, query)),
        _first(_("Findings"), _findings(request, query, tables, persons), has_more=len(persons) > PERSONS_TRIED),
        _first(_("Tables"), (_table(query, table) for table in (*tables, *_named_tables(request, query, tables)))),
        Group(_("Nights"), nights, has_more=False),
        _first(_("Rules"), _rules(request, query)),
        Group(_("Go to"), list(_pages(request, query)), has_more=False),
    )
    shown = [group for group in groups if group.results]
    if not scope_of(request, Capability.SEE_RECORD):
        return shown, []
    notes = list(_no_table(query, tables)) if query.clock is not None or not shown else []
    return shown, [*notes, *_no_night(query, tables, has_moment=bool(moments), has_night=bool(nights))]


def _no_table(query: Query, tables: Sequence[GamingTable]) -> Iterator[str]:
    """Yield a sentence for each table that was typed and that there is not."""
    known = {each.code.casefold() for each in tables}
    for word in query.words:
        if TABLE.fullmatch(word) and word.casefold() not in known:
            yield gettext("There is no table “%(table)s”.") % {"table": word}


def _no_night(query: Query, tables: Sequence[GamingTable], *, has_moment: bool, has_night: bool) -> Iterator[str]:
    """Yield a sentence if the night that was typed has no report, or the table no session of it."""
    if query.day is None:
        return
    if tables and query.clock is not None and not has_moment:
        yield gettext("%(table)s has no session on that day.") % {"table": tables[0].code}
    elif not tables and not has_night:
        yield gettext("There is no report of the night of %(day)s.") % {"day": written_day(query.day)}


def _first(title: str | Promise, results: Iterable[Result], *, has_more: bool = False) -> Group:
    found = list(islice(results, SHOWN + 1))
    return Group(title, found[:SHOWN], has_more or len(found) > SHOWN)


def _tables(request: HttpRequest, query: Query) -> QuerySet[GamingTable]:
    """Return the tables whose code is one of the words."""
    if not query.words:
        return GamingTable.objects.none()
    named = reduce(operator.or_, (Q(code__iexact=word) for word in query.words))
    tables = in_record(GamingTable.objects.filter(named), request)
    return tables.select_related("casino").order_by("casino__code", "code")


def _named_tables(request: HttpRequest, query: Query, others: Sequence[GamingTable]) -> QuerySet[GamingTable]:
    """Return the tables whose name has every word, without ``others``, which were found by their codes."""
    if not any(len(word) > 1 for word in query.words):
        return GamingTable.objects.none()
    named = reduce(operator.and_, (Q(name__icontains=word) for word in query.words))
    tables = in_record(GamingTable.objects.filter(named), request).exclude(pk__in=[each.pk for each in others])
    return tables.select_related("casino").order_by("casino__code", "code")[: SHOWN + 1]


def _persons(request: HttpRequest, query: Query, tables: Sequence[GamingTable]) -> QuerySet[Person]:
    """Return the persons whom every word names that is no table: a part of the name, or the whole id or card.

    Those of an id or a card come first. Accents and capitals do not matter.
    """
    codes = {table.code.casefold() for table in tables}
    words = [word for word in query.words if word.casefold() not in codes]
    words.sort(key=len, reverse=True)  # the fewest names have the longest, and PostgreSQL looks for the others in these
    if not any(len(word) > 1 for word in words):
        return Person.objects.none()
    is_id = [Q(code__iexact=word) | Q(card_or_licence__iexact=word) for word in words]
    named = (Q(folded_name__contains=folded(word)) | exact for word, exact in zip(words, is_id, strict=True))
    without_accents = Func(Lower("name"), Value(ACCENTED), Value(PLAIN), function="translate")
    known = Person.objects.alias(folded_name=without_accents).filter(reduce(operator.and_, named))
    persons = scope_of(request, Capability.SEE_NAMES).rows(known)
    by_id = Case(When(reduce(operator.or_, is_id), then=0), default=1)
    return persons.select_related("casino").order_by(by_id, "name", "pk")[: PERSONS_TRIED + 1]


def _orders(request: HttpRequest, query: Query) -> Iterator[Result]:
    """Yield the payment orders, waivers and kept sums of the numbers that were typed, one a casino."""
    if not query.orders:
        return
    orders = in_record(PaymentOrder.objects.filter(reference__in=query.orders), request).select_related("casino")
    for order in orders.order_by("casino__code", "reference"):
        amount = money_in_prose(order.amount, order.currency)
        yield Result(
            reverse("admin:audit_paymentorder_change", args=(order.pk,)),
            icon("cash_out"),
            _marked(f"{order.reference} · {order.get_kind_display()}", query),
            _marked(f"{amount} · {order.get_state_display()} · {order.casino}", query),
        )


def _moments(request: HttpRequest, query: Query, tables: Sequence[GamingTable]) -> Iterator[Result]:
    if query.clock is None:
        return
    streams = in_record(LoggedStream.objects.all(), request)
    for moment in moments_of(tables[:SHOWN], query.clock, streams=streams, day=query.day):
        words = {
            "table": moment.table.code,
            "day": written_day(moment.stream.gaming_day),
            "instant": date_time(moment.at, moment.stream.casino),
        }
        where = f"{moment.stream.casino} · {gettext('night of %(day)s') % words}"
        if not moment.is_open:
            where += " · " + gettext("closed at %(clock)s") % {"clock": f"{moment.clock:%H:%M}"}
        yield Result(
            moment.address,
            icon("clock"),
            _marked(gettext("Table %(table)s at %(instant)s") % words, query),
            _marked(where, query),
        )


def _findings(
    request: HttpRequest, query: Query, tables: Sequence[GamingTable], persons: Sequence[Person]
) -> Iterator[Result]:
    """Yield standing findings, of the table and the persons, the newest first; or those of the reference, one a casino.

    The latter may be superseded: a letter that names it stays valid.
    """
    standing = in_record(Finding.objects.standing(), request)
    if query.reference is not None:
        found = _current(in_record(Finding.objects.stood_once(), request).filter(referred_to(query.reference)))
    else:
        named = list(_about(persons))
        found = standing
        if tables:
            found = found.filter(table__in=tables)
        elif query.words:
            named += [Q(**{f"{field}__in": query.ids}) for field in ("player", "croupier", "wager")]
        if named:
            found = found.filter(reduce(operator.or_, named))
        if query.day is not None:
            found = found.filter(stream__gaming_day=query.day)
        if not (tables or named):
            return
    shown = found.select_related("case", "casino", "table", "stream").order_by("-occurred_at", "-pk")
    shown = with_money(with_priority(shown))
    rows = list(shown[: SHOWN + 1])
    named_at: dict[int, list[str]] = defaultdict(list)
    for each in rows:
        named_at[each.casino_id].append(each.player)
    names = {casino_id: directory_for(request, casino_id, players(codes)) for casino_id, codes in named_at.items()}
    names_casino = query.reference is not None or is_of_several(request)
    for finding in rows:
        yield _finding(query, finding, names[finding.casino_id], names_casino=names_casino)


def _current(referred: QuerySet[Finding]) -> QuerySet[Finding]:
    """Return of the findings of a reference the one of each casino that stands, or else the last that did."""
    is_superseded = Case(When(status=FindingStatus.STANDING, then=0), default=1)
    current = referred.order_by("casino_id", is_superseded, "-pk").distinct("casino_id").values("pk")
    return Finding.objects.filter(pk__in=current)


def _finding(query: Query, finding: Finding, names: Directory, *, names_casino: bool) -> Result:
    stake = stake_of_incident(finding, names.player(finding.player) if finding.player else "")
    title = incident_title(finding, stake)
    facts = [
        second_line(finding, title),
        "" if stake.side or stake.text in title else stake.text,
        reference(finding),
        str(finding.casino) if names_casino else "",
        finding.table.code if finding.table else "",
        date_time(finding.occurred_at, finding.casino).replace(" ", "\N{NO-BREAK SPACE}"),
        gettext("superseded") if finding.superseded_at is not None else "",
    ]
    case = finding.case
    due = ""
    if case is not None and case.state != State.CLOSED and finding.superseded_at is None:
        due = parts.due_ring(time_left(case.deadline, since=case.opened_at))
    return Result(
        reverse("admin:audit_finding_change", args=(finding.pk,)),
        parts.priority_bars(finding),
        _marked(title, query),
        _marked(" · ".join(filter(None, facts)), query),
        due,
    )


def _about(persons: Iterable[Person]) -> Iterator[Q]:
    """Yield what is true of the findings about somebody of ``persons``: a list for each casino and role, as PostgreSQL
    looks a code up in a list once, and compares each of as many alternatives with every row."""
    codes: dict[tuple[int, str], list[str]] = defaultdict(list)
    for each in persons:
        codes[each.casino_id, _field(each)].append(each.code)
    for (casino_id, field), known in codes.items():
        yield Q(casino_id=casino_id, **{f"{field}__in": known})


def _field(person: Person) -> str:
    return "player" if person.kind == PersonKind.PLAYER else "croupier"


def _listed(request: HttpRequest, persons: Sequence[Person]) -> Mapping[tuple[int, str], list[str]]:
    """Return on which lists persons are, in words, by casino and id, where the officer sees the record."""
    found: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    of_players = defaultdict(list)
    for each in persons:
        if each.kind == PersonKind.PLAYER and scope_of(request, Capability.SEE_RECORD).includes(each.casino_id):
            of_players[each.casino].append(each.code)
    for casino, codes in of_players.items():
        for listing in listings.listings_of(casino, codes, timezone.now()):
            if listing.state != ListState.WAITING:
                found[casino.pk, listing.code].append(listing.get_kind_display())
    return found


def _person(request: HttpRequest, query: Query, person: Person, listed: Mapping[tuple[int, str], list[str]]) -> Result:
    role = _field(person)
    address = parts.person_address(role, person.casino_id, person.code)
    mark = format_html('<span class="av {}" aria-hidden="true">{}</span>', role[0], initials(person.name))
    lists = listed.get((person.casino_id, person.code), ()) if role == "player" else ()
    facts = (person.get_kind_display(), *lists, person.code, person.card_or_licence, str(person.casino))
    detail = " · ".join(filter(None, facts))
    return Result(address, mark, _marked(person.name, query), _marked(detail, query))


def _table(query: Query, table: GamingTable) -> Result:
    address = reverse("admin:audit_loggedstream_changelist") + "?" + urlencode({"table": table.pk})
    title = gettext("Table %(table)s") % {"table": table.code}
    detail = " · ".join(filter(None, (table.name, str(table.casino))))
    return Result(address, icon("tables"), _marked(title, query), _marked(detail, query))


def _nights(request: HttpRequest, query: Query) -> Iterator[Result]:
    """Yield the newest version of each night of the day that was typed."""
    if query.day is None:
        return
    reports = in_record(NightReport.objects.filter(gaming_day=query.day), request).select_related("casino")
    newest = reports.order_by("casino__code", "currency", "-version").distinct("casino__code", "currency")
    for report in newest:
        title = gettext("Night of %(day)s") % {"day": written_day(report.gaming_day, with_weekday=True)}
        yield Result(
            reverse("admin:audit_nightreport_change", args=(report.pk,)),
            icon("nights"),
            _marked(title, query),
            _marked(f"{report.casino} · {report.currency} · {report.get_state_display()}", query),
        )


def _rules(request: HttpRequest, query: Query) -> Iterator[Result]:
    """Yield the rules whose title has every word, or whose clause is of the article that was typed."""
    words = [folded(word) for word in query.words if folded(word) not in ("art", "article")]
    if not words or not scope_of(request, Capability.SEE_RECORD):
        return
    for name, rule in RULES.items():
        clauses = sorted({provision(label) for labels in rule.provisions.values() for label in labels})
        text = folded(" ".join((rule.title.en, rule.title.fr, name, *clauses)))
        if not all(word in text for word in words):
            continue
        yield Result(
            reverse("admin:rule", args=(name,)),
            icon("rules"),
            _marked(rule.title.in_language(language()), query),
            _marked(", ".join(clauses), query),
        )


def _pages(request: HttpRequest, query: Query) -> Iterator[Result]:
    """Yield the pages of the navigation whose title has every word; all of them while nothing is typed."""
    own = navigation(request)
    assert own is not None, "the admin site lets nobody else in"
    links = [link for _title, group in own.groups for link in _with_children(group)]
    words = [folded(word) for word in query.words]
    if query.text and not words:
        return
    complaint = gettext("Enter a complaint")
    if scope_of(request, Capability.WORK_CASES) and words and all(word in folded(complaint) for word in words):
        address = reverse("admin:audit_complaint_add")
        yield Result(address, icon("findings"), _marked(complaint, query), SafeString(""))
    for link in links:
        if all(word in folded(str(link.title)) for word in words):
            yield Result(link.address, icon(link.icon or "more"), _marked(str(link.title), query), SafeString(""))


def _with_children(links: Iterable[Link]) -> Iterator[Link]:
    for link in links:
        yield link
        yield from _with_children(link.children)


def _marked(text: str, query: Query) -> SafeString:
    """Return a text with what was typed marked in it. The text is escaped: nothing in it is trusted."""
    if not query.marked:
        return SafeString(escape(text))
    pattern = re.compile("|".join(re.escape(word) for word in query.marked), re.IGNORECASE)
    pieces, end = [], 0
    for found in pattern.finditer(text):
        pieces += [escape(text[end : found.start()]), f"<mark>{escape(found[0])}</mark>"]
        end = found.end()
    return mark_safe("".join([*pieces, escape(text[end:])]))  # every piece is escaped above
