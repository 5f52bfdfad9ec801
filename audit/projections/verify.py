"""Verification of all that is derived from the log: what tables say is computed again from it, and compared.

``audit.transparency.verify`` shows that the log is what was written. This shows that nobody wrote into the tables that
officers read: a finding that was forged, deleted or made less grave, a case closed by nobody, a signature, an entry of
the register, a night, a complaint, a key, a role, what a casino is set to. The log is the authority, and rows are
projections of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from audit.projections.access import wrong_groups, wrong_keys, wrong_links, wrong_roles
from audit.projections.accounts import wrong_requests
from audit.projections.archived import wrong_months
from audit.projections.cases import wrong_cases
from audit.projections.casinos import wrong_casinos
from audit.projections.clock import wrong_clock
from audit.projections.complaints import wrong_complaints
from audit.projections.deadlines import wrong_deadlines
from audit.projections.deeds import wrong_ends, wrong_erasures, wrong_promotions
from audit.projections.ended_keys import late_batches
from audit.projections.epochs import wrong_epochs
from audit.projections.faults import WrongRow
from audit.projections.feed import wrong_counters, wrong_feed, wrong_webhooks
from audit.projections.found import Figures, wrong_findings
from audit.projections.ledger import wrong_ledger
from audit.projections.nights import wrong_nights
from audit.projections.officers import wrong_officers
from audit.projections.register import wrong_register
from audit.projections.signers import wrong_signers
from audit.transparency.outcome import Fault, Outcome


@dataclass(slots=True)
class Derived:
    """What was held against the log, in numbers, and what does not hold."""

    figures: Figures = field(default_factory=Figures)
    faults: list[Fault] = field(default_factory=list)


def verify_derived(
    casino_id: int | None,
    log: Outcome,
    *,
    deep: bool = False,
    progress: Callable[[Figures], None] = lambda figures: None,
) -> Derived:
    """Hold the tables of a casino, of every casino for None, against the log; ``log`` is what verifying that found.

    ``deep`` adjudicates each session again instead of trusting the root that was entered when it closed. ``progress``
    is called after each. Call it in the transaction in which the log was verified, so that both are of one instant.
    """
    derived = Derived()
    for wrong in _wrong_rows(casino_id, frozenset(log.tampered), derived.figures, deep, progress):
        derived.faults.append(Fault(wrong.part, wrong.what, wrong.stream, wrong.seq))
    return derived


def _wrong_rows(
    casino_id: int | None,
    tampered: frozenset[tuple[str, int]],
    figures: Figures,
    deep: bool,
    progress: Callable[[Figures], None],
) -> Iterator[WrongRow]:
    yield from wrong_findings(casino_id, tampered, figures, deep=deep, progress=progress)
    yield from wrong_cases(casino_id)
    yield from wrong_casinos(casino_id, figures)
    yield from wrong_deadlines(casino_id)
    yield from wrong_register(casino_id)
    yield from wrong_nights(casino_id)
    yield from wrong_complaints(casino_id)
    yield from wrong_promotions(casino_id)
    yield from wrong_ends(casino_id)
    yield from wrong_erasures(casino_id)
    yield from wrong_signers(casino_id)
    yield from wrong_keys(casino_id)
    yield from late_batches(casino_id, figures)
    yield from wrong_roles(casino_id, figures)
    yield from wrong_groups(casino_id)
    yield from wrong_feed(casino_id)
    yield from wrong_counters(casino_id)
    if deep:
        yield from wrong_ledger(casino_id)
    yield from wrong_webhooks(casino_id)
    if casino_id is None:
        yield from wrong_requests()
        yield from wrong_officers(figures)
        yield from wrong_links()
        yield from wrong_clock()
        yield from wrong_epochs()
        yield from wrong_months()
