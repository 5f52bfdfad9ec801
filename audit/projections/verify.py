"""Verification of all that is derived from the log: what tables say is computed again from it, and compared.

``audit.transparency.verify`` shows that the log is what was written. This shows that nobody wrote into the tables that
officers read: a finding that was forged, deleted or made less grave, a case closed by nobody, a signature, an entry of
the register, a night, a complaint, a key, a role, what a casino is set to. The log is the authority, and rows are
projections of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import structlog
from django.core.exceptions import ObjectDoesNotExist
from django.db import DataError, transaction

from audit.projections.access import wrong_groups, wrong_keys, wrong_links, wrong_roles
from audit.projections.accounts import wrong_requests
from audit.projections.archived import wrong_months
from audit.projections.attachments import wrong_attachments
from audit.projections.cases import wrong_cases
from audit.projections.casinos import wrong_casinos
from audit.projections.clock import wrong_clock
from audit.projections.complaints import wrong_complaints
from audit.projections.deadlines import wrong_deadlines
from audit.projections.deeds import wrong_ends, wrong_erasures, wrong_promotions
from audit.projections.ended_keys import late_batches
from audit.projections.entries import desks_read_once, unreadable_entries
from audit.projections.epochs import wrong_epochs
from audit.projections.faults import WrongRow
from audit.projections.feed import wrong_contacts, wrong_counters, wrong_feed, wrong_webhooks
from audit.projections.found import Figures, wrong_findings
from audit.projections.information import wrong_information
from audit.projections.ledger import wrong_ledger
from audit.projections.listings import wrong_listings
from audit.projections.night_runs import wrong_night_runs
from audit.projections.nights import wrong_nights
from audit.projections.officers import wrong_officers
from audit.projections.payment_orders import wrong_orders
from audit.projections.push import wrong_push
from audit.projections.receivers import wrong_subscribers, wrong_video_requests
from audit.projections.references import wrong_references
from audit.projections.register import wrong_register
from audit.projections.session_closings import wrong_closings
from audit.projections.sightings import wrong_sightings
from audit.projections.signers import wrong_signers
from audit.projections.slip_uses import wrong_slip_uses
from audit.transparency.outcome import Fault, Outcome

logger = structlog.get_logger(__name__)


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
    with desks_read_once():
        for part in _parts(casino_id, frozenset(log.tampered), derived.figures, deep, progress):
            for wrong in _whole(part):
                derived.faults.append(Fault(wrong.part, wrong.what, wrong.stream, wrong.seq))
    return derived


def _parts(
    casino_id: int | None,
    tampered: frozenset[tuple[str, int]],
    figures: Figures,
    deep: bool,
    progress: Callable[[Figures], None],
) -> Iterator[Iterator[WrongRow]]:
    """Yield the parts of the verification, none of which has begun."""
    yield unreadable_entries(casino_id)
    if casino_id is None:
        yield wrong_references()
    yield wrong_findings(casino_id, tampered, figures, deep=deep, progress=progress)
    yield wrong_cases(casino_id)
    yield wrong_attachments(casino_id)
    yield wrong_casinos(casino_id, figures)
    yield wrong_deadlines(casino_id)
    yield wrong_register(casino_id)
    yield wrong_closings(casino_id)
    yield wrong_orders(casino_id)
    yield wrong_listings(casino_id)
    yield wrong_sightings(casino_id)
    yield wrong_nights(casino_id)
    yield wrong_night_runs(casino_id)
    yield wrong_complaints(casino_id)
    yield wrong_information(casino_id)
    yield wrong_promotions(casino_id)
    yield wrong_ends(casino_id)
    yield wrong_erasures(casino_id)
    yield wrong_signers(casino_id)
    yield wrong_keys(casino_id)
    yield late_batches(casino_id, figures)
    yield wrong_roles(casino_id, figures)
    yield wrong_groups(casino_id)
    yield wrong_feed(casino_id)
    yield wrong_counters(casino_id)
    if deep:
        yield wrong_ledger(casino_id)
        yield wrong_slip_uses(casino_id)
    yield wrong_webhooks(casino_id)
    yield wrong_contacts(casino_id)
    yield wrong_subscribers(casino_id, figures)
    yield wrong_video_requests(casino_id)
    if casino_id is None:
        yield wrong_requests()
        yield wrong_officers(figures)
        yield wrong_links()
        yield wrong_push()
        yield wrong_clock()
        yield wrong_epochs()
        yield wrong_months()


UNREADABLE = (
    DataError,
    ObjectDoesNotExist,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What is raised where somebody has stored what no part of Cabochon stores."""


def _whole(part: Iterator[WrongRow]) -> Iterator[WrongRow]:
    """Yield what a part finds; where it cannot read a row, that too, so that the row hides nothing of another part."""
    try:
        with transaction.atomic():  # a statement that fails takes nothing with it but its part
            yield from part
    except UNREADABLE as error:
        logger.exception("part of the verification not read")
        name = getattr(part, "__name__", "a part")
        yield WrongRow("unreadable", f"{name} cannot be held against the log: {type(error).__name__}: {error}")
