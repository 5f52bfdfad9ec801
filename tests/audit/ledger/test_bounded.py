"""The ledger cannot grow or die: whatever comes, a process has a state of bounded size, and its columns hold it all."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest

from audit.ledger import feeding
from audit.models import LedgerProcess, LedgerSetAside
from audit.models.ledger import kept
from audit.projections.ledger import wrong_ledger
from settlement.eprocess.bets import LARGEST
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.process import UNIT, Process
from tests.audit.ledger.test_feeding import spun
from tests.audit.reconciliation.played import DAY, record
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal

DIGITS = 160
"""Decimal digits of the most that a gambler holds, one stake above ``LARGEST``."""

SEEN = 10**12
"""More than any cell of a learner ever counts."""


@pytest.mark.parametrize("variant", [0, 9, 37, 38])
@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_process_is_stored_to_the_last_digit_and_its_size_is_bounded(kind: str, variant: int) -> None:
    if not variant and (kind.startswith("wheel") or kind == "croupier-displacement"):
        pytest.skip("a wheel has pockets")
    mixture = KINDS[kind].mixture(variant)
    gamblers, cells = len(mixture.shares), sum(mixture.memory_cells)
    process = Process(kind, "s" * 240, variant, cash=UNIT, wealth=[LARGEST + UNIT] * gamblers)
    process.memory = [[SEEN] * each for each in mixture.memory_cells]
    process.highest = process.year_highest = process.opening = process.evidence
    state = msgspec.json.encode(process, order="sorted")
    assert msgspec.json.decode(state, type=Process) == process
    assert len(state) <= (DIGITS + 1) * (gamblers + 4) + (len(str(SEEN)) + 3) * (cells + 1) + 1_000
    assert kept(process.evidence) == process.evidence, "no column cuts it off"
    process.feed(mixture, {}, draws=0, session="next")
    assert max(process.wealth) <= LARGEST + 2 * UNIT


@pytest.mark.django_db
def test_a_reader_that_is_stuck_for_a_night_ends_no_ledger(tenant: Tenant) -> None:
    for day in (DAY - timedelta(days=1), DAY):
        record(tenant.casino, spun(tenant.casino, ["17"] * 3_000, day=day))
        seal()
        assert feeding.feed(tenant.casino)
    assert not LedgerSetAside.objects.exists()
    row = LedgerProcess.objects.get(casino=tenant.casino, name="wheel 37: W1")
    process = msgspec.json.decode(bytes(row.state), type=Process)
    assert row.draws == 6_000
    assert max(process.wealth) == LARGEST
    assert (int(row.wealth), int(row.highest)) == (process.evidence, process.highest)
    assert list(wrong_ledger(tenant.casino.pk)) == []
