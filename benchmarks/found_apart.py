"""Which frauds of ``seasons_apart`` are found, and who is named: ``python -m benchmarks.found_apart --seeds 11 12``.

Each season goes night by night through the pure code, as in ``benchmarks.season``. A fraud is found when a question of
the ledger or about money names one of its subjects, in or after its first night. A person is named wrongly who is in a
question and in no fraud; of the money questions, which have a rate of their own, persons are counted apart.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from benchmarks.bounds import bound_of
from benchmarks.seasons_apart import FRAUDS, Planted, Season, Stream, season
from settlement import adjudicate, decode
from settlement.corrections import changes_in
from settlement.eprocess.budget import expected_at_first
from settlement.eprocess.channels import Fed, of_evening, of_payouts, of_session, of_variance
from settlement.eprocess.counted import Counted, others_of
from settlement.eprocess.ledger import Ledger
from settlement.eprocess.observations import Observations
from settlement.persons.cash_desk import CashDesk
from settlement.persons.day import Day
from settlement.persons.findings import findings_of
from settlement.persons.holdings import Holdings
from settlement.persons.session import PersonsProjection
from settlement.persons.stream_money import StreamMoney

PERSON = re.compile(r"[PCI]\d+")
NOBODY: frozenset[str] = frozenset()
IDENTIFIED_FROM = 200_000
"""From this amount the desk of these seasons knows who somebody is, in minor units."""


class Raised(NamedTuple):
    """A question: the night, from 0, the process, or "" where it is about money, the rule, and who or what is named."""

    night: int
    process: str
    rule: str
    named: tuple[str, ...]


@dataclass
class Reading:
    """A season as it is read. ``seconds`` are processor time: in the ledger, and in the replay before it."""

    ledger: Ledger
    raised: list[Raised] = field(default_factory=list)
    events: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: {"replay": 0.0, "ledger": 0.0})
    identified: set[str] = field(default_factory=set)
    before: list[StreamMoney] = field(default_factory=list)
    holdings: Holdings = field(default_factory=Holdings)
    counts: dict[str, list[Counted]] = field(default_factory=dict)
    found_at: set[tuple[str, str | int | None]] = field(default_factory=set)
    """The stream and wager, and the stream and seq, of exact findings that are more than information."""
    guilty: frozenset[str] = NOBODY
    """About whom it is kept what the ledger is fed, by night, and the evenings themselves."""
    fed: list[tuple[int, Fed]] = field(default_factory=list)
    evenings: list[list[Observations]] = field(default_factory=list)

    def take(self, night: int, streams: Sequence[Stream]) -> None:
        """Read a gaming day: the sessions of its tables, and the count after them."""
        *tables, count = streams
        started = time.process_time()
        read = [(table, self._read(table)) for table in tables]
        self.seconds["replay"] += time.process_time() - started
        evening = [projection.evidence for _table, projection in read]
        if self.guilty:
            self.evenings.append(evening)
        started = time.process_time()
        for number, seen in enumerate(evening):
            self._feed(night, of_session(seen), f"{night}/{number}")
        self._feed(night, of_evening(evening), f"{night}/evening")
        self._feed(night, of_payouts(paid for seen in evening for paid in seen.payouts), f"{night}/payouts")
        counted = {e["data"]["session"]: e["data"] for e in count.events if e["type"] == "drop.counted"}
        for table, projection in read:
            box = counted[table.name]
            bridge = projection.figures().bridge
            bridge = replace(bridge, bank=replace(bridge.bank, drop=box["amount"]))
            assert bridge.accounting_variance is not None, "the session is closed"
            team = " + ".join(sorted(box["counted_by"]))
            seen = projection.evidence
            dealt = tuple(sorted({draw.croupier for draw in seen.drawn if draw.croupier}))
            own = Counted(bridge.accounting_variance, seen.closer, dealt)
            before = self.counts.setdefault(table.table, [])
            batch = of_variance(table.table, team, "", bridge.accounting_variance, others_of(before, own))
            before.append(own)
            self._feed(night, batch, f"{night}/{table.table}/count")
        self.seconds["ledger"] += time.process_time() - started
        self._money(night, count, [projection.money() for _table, projection in read])

    def _read(self, stream: Stream) -> PersonsProjection:
        events = [decode(json.dumps(event)) for event in stream.events]
        self.events += len(events)
        projection = PersonsProjection(changes_in(events))
        projection.feed(events)
        return projection

    def _feed(self, night: int, batches: Iterable[Fed], session: str) -> None:
        if self.guilty:
            batches = list(batches)
            self.fed += [(night, each) for each in batches if self.guilty.intersection(each.subject.split(", "))]
        for question in self.ledger.feed(batches, session=session):
            process = question.process
            self.raised.append(Raised(night, process.kind, question.rule, tuple(process.subject.split(", "))))

    def _money(self, night: int, count: Stream, money: list[StreamMoney]) -> None:
        desk = CashDesk()
        desk.feed([decode(json.dumps(event)) for event in count.events])
        money.append(desk.money())
        for each in money:
            self.identified |= {
                exchange.player for exchange in each.exchanges if exchange.amount >= IDENTIFIED_FROM and exchange.player
            }
        day = Day.of([*self.before, *money], casino="apart", gaming_day=count.gaming_day, currency="EUR")
        for finding in findings_of(day, identified=self.identified, holdings=self.holdings):
            if finding.severity != "info":
                continue  # a duty of the desk, which asks nothing about anybody
            several = finding.facts.get("players", ())
            assert isinstance(several, list | tuple)
            persons = [finding.player or "", str(finding.facts.get("other_player", "")), *map(str, several)]
            named = tuple(dict.fromkeys(person for person in persons if person))
            self.raised.append(Raised(night, "", finding.rule, named))
        self.holdings.add(day)
        self.before = money


def read(one: Season, guilty: frozenset[str] = NOBODY) -> Reading:
    """Read a season to its end. Of the ``guilty`` it is kept what the ledger was fed."""
    tables = {shift.table for shift in one.duties}
    reading = Reading(Ledger(2009, expected=expected_at_first(len(tables))), guilty=guilty)
    streams: list[Stream] = []
    night = 0
    for stream in one.streams:
        streams.append(stream)
        if not stream.table:
            reading.take(night, streams)
            acted_in = {deed.stream for deed in one.deeds if deed.cause != "mishap"}
            for each in streams:
                if each.name in acted_in:
                    reading.found_at |= set(exact(each))
            streams, night = [], night + 1
    return reading


def exact(stream: Stream) -> Iterable[tuple[str, str | int | None]]:
    """Yield where a stream has exact findings that are more than information: by wager, and by event."""
    for finding in adjudicate([json.dumps(event) for event in stream.events]).as_dict()["findings"]:
        if finding["severity"] != "info":
            yield stream.name, finding.get("wager")
            yield stream.name, finding["seq"]


def naming(reading: Reading, fraud: Planted) -> list[Raised]:
    """Return what names a subject of the fraud since it began; of a fraud at the tables, the ledger's alone."""
    is_money = fraud.fraud in MONEY
    return [
        each
        for each in reading.raised
        if each.night >= fraud.first and set(each.named) & set(fraud.subject) and (each.process or is_money)
    ]


MONEY = {name for name, scheme in FRAUDS.items() if scheme.__module__.endswith(".desk")}
"""Frauds with chips and money, which the money questions are about."""


def wrongly(reading: Reading, planted: Iterable[Planted]) -> dict[str, list[Raised]]:
    """Return the persons whom a question of the ledger names and who are in no fraud."""
    guilty = {name for fraud in planted for name in (*fraud.subject, *fraud.accomplices)}
    innocent: dict[str, list[Raised]] = {}
    for each in reading.raised:
        for name in each.named if each.process else ():
            if PERSON.fullmatch(name) and name not in guilty:
                innocent.setdefault(name, []).append(each)
    return innocent


def report(one: Season, reading: Reading) -> list[str]:
    """Return a line for each fraud, and what the season raised about others."""
    lines = []
    for fraud in one.planted:
        about = f"{fraud.fraud} ({', '.join(fraud.subject)}; strength {fraud.strength:g}; from night {fraud.first + 1})"
        deeds = [deed for deed in one.deeds if deed.cause == fraud.fraud]
        seen = sum(
            (deed.wager is not None and (deed.stream, deed.wager) in reading.found_at)
            or (deed.seq is not None and (deed.stream, deed.seq) in reading.found_at)
            for deed in deeds
        )
        about += f", {len(deeds)} acts, {seen} of them with an exact finding" if deeds else ""
        found = naming(reading, fraud)
        if found:
            first = found[0]
            by = f"{first.process}, rule {first.rule}" if first.process else f"rule {first.rule}"
            nights = first.night - fraud.first + 1
            others = sorted({each.process or each.rule for each in found} - {first.process or first.rule})
            named = f"{', '.join(first.named)} in night {first.night + 1} (after {nights}) by {by}"
            lines.append(f"  {about}: {named}" + (f"; later {', '.join(others)}" if others else ""))
        else:
            lines.append(f"  {about}: NOT FOUND; {_nearest(reading, fraud)}")
            if reading.guilty:
                lines.append(f"    {bound_of(fraud, len(deeds), reading.ledger, reading.fed, reading.evenings)}")
    for name, raised in sorted(wrongly(reading, one.planted).items()):
        lines += [f"  WRONGLY {name}: {', '.join(r.named)} by {r.process} in night {r.night + 1}" for r in raised]
    return lines


def _nearest(reading: Reading, fraud: Planted) -> str:
    """Return the process of a subject of the fraud that came nearest to its level."""
    own = [
        (float(process.year_highest * Fraction(process.alpha) / process.opening), process)
        for process in reading.ledger.processes.values()
        if set(process.subject.split(", ")) & set(fraud.subject)
    ]
    if not own:
        return "no process of its subjects"
    part, process = max(own, key=lambda each: each[0])
    return f"nearest {process.kind} of {process.subject}: {part:.2g} of what its level asks"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[11])
    parser.add_argument("--nights", type=int, default=30)
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument("--some", type=int, default=6, help="how many of all frauds are drawn for a season")
    parser.add_argument("--frauds", nargs="*", choices=FRAUDS, help="those given, in every season")
    parser.add_argument("--bound", action="store_true", help="what those who were not named show at most")
    args = parser.parse_args()
    total: Counter[str] = Counter()
    for seed in args.seeds:
        drawn = Random(f"{seed}/frauds").sample(list(FRAUDS), args.some) if args.frauds is None else args.frauds
        one = season(seed, nights=args.nights, tables=args.tables, frauds=drawn)
        guilty = {name for fraud in one.planted for name in fraud.subject}
        reading = read(one, frozenset(guilty) if args.bound else NOBODY)
        innocent = wrongly(reading, one.planted)
        money = Counter(each.rule for each in reading.raised if not each.process)
        total["planted"] += len(one.planted)
        total["found"] += sum(bool(naming(reading, fraud)) for fraud in one.planted)
        total["innocent"] += len(innocent)
        print(f"seed {seed}: {args.nights} nights at {args.tables} tables, {reading.events:,} events")
        print("\n".join(report(one, reading)))
        print(f"  persons named wrongly: {len(innocent)}; money questions: {dict(money) or 'none'}")
        print(f"  level spent: {float(reading.ledger.spent):.3f} of {reading.ledger.budget}")
        seconds = ", ".join(f"{what} {spent:.1f}" for what, spent in reading.seconds.items())
        print(f"  processor seconds: {seconds}", flush=True)
    found, planted = total["found"], total["planted"]
    print(f"in all: {found} of {planted} frauds named by a subject of theirs, {total['innocent']} persons wrongly")


if __name__ == "__main__":
    main()
