"""What is sent out about findings, held against them: the feed, the numbers of references, where messages go.

The feed and the counters follow from the findings, which the log keeps: each that stood was opened, what is superseded
last is so in the feed, and positions have no gap. Only the feed says when a change became known, and how far a
receiver has come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from audit.event_store import binary_copy
from audit.event_store.audit_trail import address_mark
from audit.models import FIRST_SANDBOX_ID, CaseContacts, Webhook
from audit.projections.entries import Entry, entries
from audit.projections.faults import WrongRow

_POSITIONS = """
select c.casino_id, count(c.position), count(distinct c.position), coalesce(min(c.position), 0), max(c.position)
from audit_findingchange c where %b::bigint is null or c.casino_id = %b::bigint
group by 1 having count(c.position) > 0 order by 1
"""

_CHANGES = """
with published as (
  select c.finding_id, count(*) filter (where c.kind = 'opened') as opened,
         (array_agg(c.kind order by c.id desc)
            filter (where c.kind in ('opened', 'reinstated', 'superseded')))[1] as last,
         bool_and(c.casino_id = f.casino_id and c.table_id is not distinct from f.table_id) as is_own
  from audit_findingchange c left join audit_finding f on f.id = c.finding_id group by c.finding_id)
select coalesce(s.name, ''), f.seq, coalesce(f.rule, ''), coalesce(p.finding_id, f.id), f.id is null,
       coalesce(p.opened, 0), coalesce(p.last, ''), f.status, coalesce(p.is_own, true)
from audit_finding f full join published p on p.finding_id = f.id left join log.stream s on s.stream_id = f.stream_id
where (%b::bigint is null or f.casino_id = %b::bigint) and (f.id is null or f.stream_id < %b::bigint)
  and (f.id is null
       or p.is_own is false
       or (f.stood_at is not null)::int <> coalesce(p.opened, 0)
       or f.stood_at is not null
          and (p.last = 'superseded') is distinct from (f.status = 'superseded'))
order by f.stream_id, f.seq, 4
"""

_COUNTERS = """
select coalesce(f.casino_id, k.casino_id), coalesce(f.year, k.year)::integer, coalesce(k.last, 0), coalesce(f.newest, 0)
from (select casino_id, coalesce(year, extract(year from opened_at at time zone 'UTC')::integer) as year,
             max(coalesce(number, 0)) as newest, bool_or(number is null) as has_earlier
      from audit_finding where (stood_at is not null or number is not null) and stream_id < %b::bigint group by 1, 2) f
full join (select * from audit_findingcounter where casino_id not in (select id from audit_casino where is_sandbox)) k
  on k.casino_id = f.casino_id and k.year = f.year
where (%b::bigint is null or coalesce(f.casino_id, k.casino_id) = %b::bigint)
  and (coalesce(k.last, 0) < coalesce(f.newest, 0) or k.last > coalesce(f.newest, 0) and f.has_earlier is not true)
order by 1, 2
"""

_CONTACTS = ("casecontacts.added", "casecontacts.changed")
_WEBHOOKS = ("webhook.created", "webhook.changed", "webhook.deactivated")


def wrong_feed(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about the feed of a casino's findings, of every casino's for None."""
    for of_casino, given, distinct, first, last in binary_copy.execute(_POSITIONS, (casino_id, casino_id)):
        if not given == distinct == last or first != 1:
            yield WrongRow("feed", f"the feed of casino {of_casino} has {given} positions, from {first} to {last}")
    found = binary_copy.execute(_CHANGES, (casino_id, casino_id, FIRST_SANDBOX_ID))
    for stream, seq, rule, pk, is_gone, opened, last, status, is_own in found:
        if is_gone:
            yield WrongRow("feed", f"changes of finding {pk} are stored, and the finding is not")
        elif not is_own:
            yield WrongRow("feed", f"changes of {rule} are not of its casino and table", stream, seq)
        elif opened != 1:
            yield WrongRow(
                "feed", f"{rule} is {status}, and the feed says {opened} times that it was opened", stream, seq
            )
        else:
            yield WrongRow("feed", f"{rule} is {status}, and the feed says {last} last", stream, seq)


def wrong_counters(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield the counters of references that are not where the findings of their casino and year are."""
    for of_casino, year, last, newest in binary_copy.execute(_COUNTERS, (FIRST_SANDBOX_ID, casino_id, casino_id)):
        what = f"the counter of references of casino {of_casino} in {year} is at {last}, and {newest} was given last"
        yield WrongRow("counter", what)


def wrong_webhooks(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about where a casino's changes are sent, every casino's for None."""
    stated: dict[int, Entry] = {}
    stopped: set[int] = set()
    for entry in entries(casino_id, _WEBHOOKS):
        if entry.type == "webhook.deactivated":
            stopped.add(entry.number("id"))
            continue
        stated[entry.number("id")] = entry
        stopped.discard(entry.number("id"))
    rows = Webhook.objects.order_by("pk")
    for row in rows if casino_id is None else rows.filter(casino=casino_id):
        entry_of_row = stated.pop(row.pk, None)
        if entry_of_row is None:
            yield WrongRow("webhook", f"webhook {row.pk} ({row.name}) is stored, and no entry says so")
        elif altered := _altered(row, entry_of_row, is_stopped=row.pk in stopped):
            what = f"webhook {row.pk} ({row.name}) is not what {entry_of_row.name} says: {', '.join(altered)}"
            yield WrongRow("webhook", what)
    for pk, entry in stated.items():
        yield WrongRow("webhook", f"webhook {pk} is missing, of which {entry.name} says something")


def wrong_contacts(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about a casino's contacts: the address of its video room, and its deputy.

    Every casino's for None. Entries of 0.2.0 and before say neither: what they are about is not held.
    """
    stated = {entry.number("id"): entry for entry in entries(casino_id, _CONTACTS)}
    rows = CaseContacts.objects.select_related("deputy").order_by("pk")
    for row in rows if casino_id is None else rows.filter(casino=casino_id):
        entry = stated.pop(row.pk, None)
        if entry is None:
            yield WrongRow("contacts", f"those of casino {row.casino_id} are stored, and no entry says so")
        elif "address" in entry.data:
            holds = {
                "casino": row.casino_id == entry.casino_id,
                "address of the video room": _is_address(row.video_room, entry.data),
                "deputy": row.deputy_name == entry.text("deputy"),
            }
            if altered := [name for name, is_right in holds.items() if not is_right]:
                what = f"those of casino {row.casino_id} are not what {entry.name} says: {', '.join(altered)}"
                yield WrongRow("contacts", what)
    for entry in stated.values():
        yield WrongRow(
            "contacts", f"those of casino {entry.casino_id} are missing, of which {entry.name} says something"
        )


def _altered(row: Webhook, entry: Entry, *, is_stopped: bool) -> list[str]:
    stated = entry.data
    is_active = bool(stated.get("active", 1)) and not is_stopped
    holds = {
        "casino": row.casino_id == entry.casino_id,
        "name": row.name == stated.get("named"),
        "address": _is_address(row.url, stated),
        "severities": sorted(row.severities) == sorted(map(str, stated.get("severities", []))),
        "active": row.is_active == is_active,
        "alerts": row.receives_alerts == bool(stated.get("alerts", 0)),
    }
    return [name for name, is_right in holds.items() if not is_right]


def _is_address(url: str, stated: Mapping[str, Any]) -> bool:
    """Whether an entry says this address; those of 0.2.0 say its host alone."""
    if "address" in stated:
        return bool(address_mark(url) == stated["address"])
    try:
        return urlsplit(url).hostname == stated.get("host")
    except ValueError:
        return False
