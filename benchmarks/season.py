"""A season in which a fraud is hidden, through the pure code, night by night: what is raised, when, and who is named.

    session ─► Recorder ─► of_session, of_evening ─┐
            └► PersonsProjection ──────────────────┼─► ledger, money of persons, slips ─► what is raised
    box ───► of_variance ──────────────────────────┘

The orderly season and all those with a fraud are played side by side: a session that a fraud does not touch is the
orderly one, and is read once. Honest counts err by ``COUNT_ERRORS``.
"""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from multiprocessing import get_context
from typing import Any, NamedTuple, TypeAlias

from msgspec.structs import replace

from audit.reconciliation import slips
from audit.simulation.frauds import Fraud
from audit.simulation.season import Played, Season
from audit.simulation.surveillance import FRAUDS
from settlement import State, decode
from settlement.eprocess.budget import expected_at_first
from settlement.eprocess.channels import Fed, of_evening, of_session, of_variance
from settlement.eprocess.counted import Counted, others_of
from settlement.eprocess.ledger import Ledger, Question
from settlement.eprocess.observations import Observations, Recorder
from settlement.eprocess.process import Process
from settlement.persons.cash_desk import CashDesk
from settlement.persons.day import Day
from settlement.persons.findings import findings_of
from settlement.persons.holdings import Holdings
from settlement.persons.money_finding import MoneyFinding
from settlement.persons.session import PersonsProjection
from settlement.persons.stream_money import StreamMoney

COUNT_ERRORS = 4_000
"""The standard deviation of an honest miscount of a box, in minor units."""


class Outcome(NamedTuple):
    """What one session gives. ``variance`` is the accounting variance, in minor units, if its box is counted right."""

    played: Played
    fed: list[Fed]
    seen: Observations
    money: StreamMoney
    variance: int


class Raised(NamedTuple):
    """A question or a finding: the night, from 0, the rule, the process (or "" for a rule), and what it is about."""

    night: int
    rule: str
    process: str
    subject: str
    detail: str


def outcome_of(played: Played) -> Outcome:
    """Read a session once for the ledger and once for the money of its players."""
    events = [decode(json.dumps(event)) for event in played.night.events]
    state, recorder = State((), compares=False), Recorder()
    state.feed_all(events, recorder.interceptors(state))
    projection = PersonsProjection(follows_luck=False)
    projection.feed(events)
    bridge = projection.figures().bridge
    variance = replace(bridge, bank=replace(bridge.bank, drop=played.bought)).accounting_variance
    assert variance is not None, "the session is closed"
    played.night.events.clear()  # read, and large
    seen = replace(recorder.observations, marks=projection.evidence.marks)
    return Outcome(played, list(of_session(seen)), seen, projection.money(), variance)


@dataclass
class Branch:
    """One season: orderly, or with a fraud.

    One with a fraud keeps those processes that have seen something else than the orderly season's (``diverged``); the
    others are the same, and are fed once. Who appears only with the fraud has the next rank after all who came so far.
    """

    season: Season
    ledger: Ledger
    raised: list[Raised] = field(default_factory=list)
    before: list[StreamMoney] = field(default_factory=list)
    holdings: Holdings = field(default_factory=Holdings)
    used: dict[str, slips.EarlierUse] = field(default_factory=dict)
    reached: dict[str, slips.Reached] = field(default_factory=dict)
    diverged: set[str] = field(default_factory=set)
    newcomers: Counter[str] = field(default_factory=Counter)
    counts: dict[str, list[Counted]] = field(default_factory=dict)

    @classmethod
    def of(cls, fraud: Fraud, season: Mapping[str, int]) -> Branch:
        begun = Season(fraud=fraud, **season)
        return cls(begun, Ledger(begun.first_day.year, expected=expected_at_first(begun.tables)))

    def batches(self, night: int, outcomes: Sequence[Outcome], count: Sequence[dict[str, Any]]) -> list[list[Fed]]:
        """Return what each session of a night feeds, with the variance of its box, and at last what its persons do."""
        counted = {each["data"]["session"]: each["data"]["amount"] for each in count if each["type"] == "drop.counted"}
        team, shift = "-".join(self.season.team(night)), self.season.shift(night)
        fed = []
        for each in outcomes:
            variance = each.variance + counted[each.played.night.stream] - each.played.bought
            dealt = tuple(sorted({draw.croupier for draw in each.seen.drawn if draw.croupier}))
            own, before = Counted(variance, each.seen.closer, dealt), self.counts.setdefault(each.played.code, [])
            fed.append([*each.fed, *of_variance(each.played.code, team, shift, variance, others_of(before, own))])
            before.append(own)
        return [*fed, list(of_evening(each.seen for each in outcomes))]

    def diverge(self, ours: Sequence[Fed], orderly: Ledger, theirs: Sequence[Fed]) -> None:
        """Keep a process of its own for whatever sees something else in this session than in the orderly one."""
        seen, expected = ({_key(fed): fed for fed in batches} for batches in (ours, theirs))
        for key in seen.keys() | expected.keys():
            if key not in self.diverged and seen.get(key) != expected.get(key):
                self.diverged.add(key)
                if key in orderly.processes:
                    self.ledger.processes[key] = deepcopy(orderly.processes[key])

    def feed(self, night: int, ours: Sequence[Fed], orderly: Ledger, raised: Sequence[Question], session: str) -> None:
        """Feed the processes of its own, and take the questions of the others, which the orderly season ``raised``."""
        self.ledger.ranks = {kind: rank + self.newcomers[kind] for kind, rank in orderly.ranks.items()}
        own = [fed for fed in ours if _key(fed) in self.diverged]
        for fed in own:
            self.newcomers[fed.kind] += _key(fed) not in self.ledger.processes and _key(fed) not in orderly.processes
        shared = [each for each in raised if _key(each.process) not in self.diverged]
        self.ask(night, [*shared, *self.ledger.feed(own, session=session)])

    def ask(self, night: int, questions: Iterable[Question]) -> None:
        for question in questions:
            level = f"1/α = {float(1 / Fraction(question.crossing.alpha)):,.0f}"
            process = question.process
            self.raised.append(Raised(night, question.rule, process.kind, process.subject, level))

    def take(self, night: int, outcomes: Sequence[Outcome], count: Sequence[dict[str, Any]]) -> None:
        """Take the money of persons and the slips of a night."""
        desk = CashDesk()
        desk.feed([decode(json.dumps(event)) for event in count])
        money = [*(each.money for each in outcomes), desk.money()]
        self._money(night, money)
        self._slips(night, [each.money for each in outcomes])
        self.before = money

    def _money(self, night: int, money: Sequence[StreamMoney]) -> None:
        season = self.season
        day = Day.of(
            [*self.before, *money],
            casino=season.casino,
            gaming_day=season.day(night).isoformat(),
            currency="EUR",
        )
        for finding in findings_of(day, identified=season.identified, holdings=self.holdings):
            self.raised.append(Raised(night, finding.rule, "", _about(finding), ""))
        self.holdings.add(day)

    def _slips(self, night: int, money: Iterable[StreamMoney]) -> None:
        used = [slips.Use(each.stream, slip) for each in money for slip in each.slips]
        day = self.season.day(night).isoformat()
        for reuse in slips.reuses(used, self.used):
            where = _table(reuse.again.stream)
            self.raised.append(Raised(night, "slip-reused", "", where, f"first on {reuse.earlier.gaming_day}"))
        for duplicate in slips.duplicates(used):
            self.raised.append(Raised(night, "slip-number-duplicated", "", _table(duplicate.again.stream), ""))
        for gap in slips.gaps(used, self.reached):
            self.raised.append(Raised(night, "slip-number-missing", "", _table(gap.next_use.stream), gap.label))
        for use in used:
            self.used.setdefault(use.slip.slip, slips.EarlierUse(use.stream, use.slip.seq, day))
            series, number = slips.series_of(use.slip.slip)
            if number is not None and number > self.reached.get(series, slips.Reached(0, "")).number:
                self.reached[series] = slips.Reached(number, day)

    @property
    def questions(self) -> list[Raised]:
        """The questions of the ledger: what the budget of false questions is about."""
        return [each for each in self.raised if each.process]

    def naming(self) -> list[Raised]:
        """Return what names somebody or something that belongs to the fraud, since it began."""
        fraud = self.season.fraud
        return [each for each in self.raised if each.night >= fraud.begins and fraud.is_named_by(each.subject)]


Nights: TypeAlias = tuple[Branch, list[Branch]]
"""The orderly season, and those with a fraud."""


def _about(finding: MoneyFinding) -> str:
    several = finding.facts.get("players", ())
    persons = [finding.player or "", str(finding.facts.get("other_player", "")), *(several if several else ())]
    return ", ".join(person for person in persons if person) or _table(finding.stream)


def _table(stream: str) -> str:
    return stream.split(".")[1]


def run(
    frauds: Iterable[Fraud],
    *,
    tables: int,
    nights: int,
    seed: int = 1,
    coups: int = 100,
    only: Collection[str] = (),
    processes: int = 1,
) -> Iterator[Nights]:
    """Play a season without any fraud, and one with each; yield them after every night.

    ``only``: these tables, or all.
    """
    season = {"tables": tables, "seed": seed, "coups": coups, "count_errors": COUNT_ERRORS}
    orderly = Branch.of(Fraud(), season)
    branches = [Branch.of(fraud, season) for fraud in frauds]
    with ProcessPoolExecutor(processes, get_context("fork")) if processes > 1 else nullcontext() as pool:
        for night in range(nights):
            everything = _read(night, [orderly, *branches], list(only or orderly.season.codes), pool)
            fed = []
            for branch, outcomes in everything:
                count = branch.season.count(night, [each.played for each in outcomes])
                fed.append(branch.batches(night, outcomes, count))
                branch.take(night, outcomes, count)
            _feed(night, orderly, branches, fed)
            yield orderly, branches


def _read(
    night: int, branches: Sequence[Branch], codes: Sequence[str], pool: ProcessPoolExecutor | None
) -> list[tuple[Branch, list[Outcome]]]:
    """Play and read the sessions of a night: those of the orderly season, which is the first, and what frauds touch."""
    wanted = [
        (branch.season, night, code)
        for number, branch in enumerate(branches)
        for code in codes
        if number == 0 or branch.season.fraud.touches(branch.season.rota(night), night, code)
    ]
    found = list(pool.map(_play, wanted) if pool else map(_play, wanted))
    outcomes = {(id(season), code): each for (season, _night, code), each in zip(wanted, found, strict=True)}
    everything = []
    for branch in branches:
        season = branch.season
        own = [outcomes.get((id(season), code)) or outcomes[id(branches[0].season), code] for code in codes]
        for code, each in zip(codes, own, strict=True):
            season.floats[code], season.slips[code] = each.played.closing_float, each.played.slips
        everything.append((branch, own))
    return everything


def _play(wanted: tuple[Season, int, str]) -> Outcome:
    season, night, code = wanted
    return outcome_of(season.session(night, code))


def _feed(night: int, orderly: Branch, branches: Sequence[Branch], fed: Sequence[list[list[Fed]]]) -> None:
    """Feed the sessions of a night one after the other: those of the orderly season first, in ``fed`` as well."""
    for number, theirs in enumerate(fed[0]):
        session = f"{night}/{number}"
        for branch, batches in zip(branches, fed[1:], strict=True):
            branch.diverge(batches[number], orderly.ledger, theirs)
        raised = orderly.ledger.feed(theirs, session=session)
        orderly.ask(night, raised)
        for branch, batches in zip(branches, fed[1:], strict=True):
            branch.feed(night, batches[number], orderly.ledger, raised, session)


def _key(subject: Fed | Process) -> str:
    """Return the name that a ledger has for a process."""
    variant = f" {subject.variant}" if subject.variant else ""
    return f"{subject.kind}{variant}: {subject.subject}"


COLUMNS = (
    "fraud", "strength", "from night", "raised", "in night", "nights", "by", "names", "later as well",
    "persons named wrongly", "questions about others",
)  # fmt: skip

HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"


def season_row(branch: Branch, orderly: Branch) -> str:
    """Return a line of the table: what was raised first, and what else."""
    fraud = branch.season.fraud
    naming = branch.naming()
    known = {(each.process, each.subject) for each in orderly.raised}
    others = [
        each
        for each in branch.questions
        if (each.process, each.subject) not in known and each not in naming and not _PERSON.match(each.subject)
    ]
    entries = [fraud.name, f"{fraud.strength:,g}", str(fraud.begins + 1)]
    if naming:
        first = naming[0]
        later: dict[str, int] = {}
        for each in naming:
            if (each.rule, each.process) != (first.rule, first.process):
                later.setdefault(f"`{each.process or each.rule}`", each.night + 1)
        entries += [f"`{first.rule}`", str(first.night + 1), str(first.night - fraud.begins + 1), _by(first)]
        entries += [first.subject, ", ".join(f"{by} (night {night})" for by, night in later.items()) or "–"]
    else:
        entries += ["**nothing**", "–", "–", "–", "–", "–"]
    entries.append(", ".join(f"{who} by `{by}` (night {night})" for who, by, night in wrongly(branch, orderly)) or "–")
    entries.append(", ".join(f"`{each.process}`: {each.subject} (night {each.night + 1})" for each in others) or "–")
    return "| " + " | ".join(entries) + " |"


_PERSON = re.compile(r"(p[0-9]+|croupier-|stickman-|chef-|compteur-)")


def wrongly(branch: Branch, orderly: Branch) -> list[tuple[str, str, int]]:
    """Return who is named since the fraud began and has no part in it: each once, by what first, in which night.

    A pair names both. What the orderly season raises about them is not the fraud's doing.
    """
    fraud = branch.season.fraud
    known = {(each.rule, each.process, each.subject) for each in orderly.raised}
    first: dict[str, tuple[str, int]] = {}
    for each in branch.raised:
        if each.night < fraud.begins or (each.rule, each.process, each.subject) in known:
            continue
        for who in each.subject.split(", "):
            if _PERSON.match(who) and not fraud.is_named_by(who):
                first.setdefault(who, (each.process or each.rule, each.night + 1))
    return [(who, by, night) for who, (by, night) in first.items()]


def _by(raised: Raised) -> str:
    return f"`{raised.process}`, {raised.detail}" if raised.process else f"the rule `{raised.rule}`"


def table(orderly: Branch, branches: Sequence[Branch]) -> list[str]:
    """Return the table, and what the orderly season raised, against the budget."""
    counted: dict[str, int] = {}
    for each in orderly.raised:
        counted[each.rule] = counted.get(each.rule, 0) + 1
    raised = ", ".join(f"{number} × `{rule}`" for rule, number in sorted(counted.items())) or "nothing"
    questions = "; ".join(f"`{each.process}`: {each.subject}" for each in orderly.questions) or "none"
    spent, budget = float(orderly.ledger.spent), orderly.ledger.budget
    return [
        HEAD,
        *(season_row(branch, orderly) for branch in branches),
        "",
        f"The orderly season raised: {raised}. Questions of its ledger: {questions}; the levels of all its subjects add"
        f" up to {spent:.3f} of a budget of {budget} a year.",
    ]


class Short(NamedTuple):
    """A small season with a strong fraud, which has to be found in it: at its table only, from the first night on."""

    fraud: str
    strength: float
    nights: int
    coups: int
    seed: int = 1

    def run(self) -> tuple[Branch, Branch]:
        """Play it, and return the orderly season and the one with the fraud."""
        fraud = FRAUDS[self.fraud](self.strength, begins=0)
        played = run([fraud], tables=3, nights=self.nights, seed=self.seed, coups=self.coups, only=[fraud.code])
        orderly, [branch] = deque(played, maxlen=1).pop()
        return orderly, branch


SHORT = (
    Short("past-posting", 0.4, 1, 40),
    Short("collusion", 0.95, 1, 70),
    Short("signature", 0.7, 2, 50, seed=5),
    Short("loaded-dice", 0.8, 2, 40),
    Short("tilted-wheel", 0.9, 1, 60),
    Short("section", 0.8, 2, 50, seed=5),
    Short("skim", 20_000, 22, 3),
    Short("laundering", 300_000, 1, 20),
    Short("false-fill", 200_000, 1, 35),
    Short("late-void", 0.9, 2, 50),
    Short("runners", 0.8, 9, 50, seed=5),
    Short("dice-slider", 0.9, 9, 100),
    Short("friendly-void", 0.9, 4, 60),
    Short("walking-chips", 600_000, 1, 10),
    Short("structuring", 195_000, 1, 10),
    Short("closer", 20_000, 120, 3),
)
"""One of each fraud."""
