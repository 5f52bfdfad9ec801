"""Forgery: somebody writes into the tables that officers read, and ``verify`` names the row. Every time.

Each attack is random, of a printed seed, and is rolled back after the verification. A statement that the database
refuses is no attack, and another is drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from django.db import connection, transaction

from audit.access.database_roles import WEB, WORKER
from audit.models import Finding, LoggedStream, SignoffException
from audit.projections.takeover import keep_settings
from audit.projections.verify import verify_derived
from audit.transparency import signing_keys
from audit.transparency.verify import Fault, verify
from tests import citus
from tests.audit.projections.forgers import Attack, Forger, drawn_attack, unguarded
from tests.audit.projections.record import faults, whole_record
from tests.audit.projections.test_casinos import named_after
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

SEED = 1

MOST_REFUSED = 60
"""Statements that may be refused one after the other."""


class RollBack(Exception):
    """Ends an attack."""


KINDS = {"alter": Forger.alter, "delete": Forger.delete, "add": Forger.add}


@pytest.fixture(scope=citus.MODULE, autouse=True)
def _record(_committed_before: None) -> None:
    Tenant()
    whole_record()
    keep_settings()
    seal()
    assert faults() == []


def forging(kind: str, table: str) -> Callable[[Forger], Attack]:
    return lambda forger: KINDS[kind](forger, table)


SHARES = {
    "audit_finding": (150, 20, 25),
    "audit_case": (60, 8, 8),
    "audit_caseaction": (30, 12, 12),
    "audit_nightreport": (40, 6, 12),
    "audit_signoffexception": (20, 6, 6),
    "audit_registerentry": (45, 8, 12),
    "audit_correctiondecision": (25, 6, 6),
    "audit_casino": (40, 2, 6),
    "audit_gamingtable": (25, 4, 8),
}
"""How often a superuser alters, deletes and adds a row of each table."""

BY_ROLES = {
    WORKER: [
        ("alter", "audit_finding"),
        ("alter", "audit_finding"),
        ("add", "audit_finding"),
        ("add", "audit_nightreport"),
    ],
    WEB: [
        ("alter", "audit_case"),
        ("alter", "audit_case"),
        ("add", "audit_caseaction"),
    ],
}
"""What the grants let a role do to these tables."""


def named(attack: Attack) -> tuple[bool, list[Fault] | str]:
    """Verify as it is now; return whether a fault names the row of an attack, and the faults."""
    try:
        with transaction.atomic():
            # The log itself is as it was: what is verified of it is the decisions, which are rows.
            log = verify(
                signing_keys.verifiers("checkpoint"),
                streams=[],
                with_tree=False,
                decisions=[None],
            )
            found = log.faults + verify_derived(None, log).faults
    except Exception as error:  # a verification that ends in an error names nothing
        return False, f"verify ended in {error!r}"
    return any(attack.is_named_by(fault) for fault in found), found


def missed_by(role: str | None, kinds: Iterator[tuple[str, str]]) -> tuple[int, list[str]]:
    """Attack once for each kind; return how many attacks there were, and those that no fault named."""
    done, missed = 0, []
    for number, (kind, table) in enumerate(kinds):
        for again in range(MOST_REFUSED):
            name = f"{SEED}/{role}/{number}/{again}"
            try:
                with transaction.atomic():
                    attack = drawn_attack(role, forging(kind, table), random.Random(name))
                    if attack is None:
                        continue
                    done += 1
                    is_named, found = named(attack)
                    if not is_named:
                        reported = found if isinstance(found, str) else "; ".join(map(str, found)) or "no fault"
                        missed.append(f"{name} {kind}: {attack.what}\n    {reported}")
                    raise RollBack
            except RollBack:
                break
    return done, missed


@pytest.mark.parametrize(
    ("each", "step"),
    [(120, 2), pytest.param(4, 1, marks=pytest.mark.faults), pytest.param(1, 1, marks=pytest.mark.soak)],
)
def test_whatever_a_superuser_writes_is_named(each: int, step: int) -> None:
    """``make soak`` makes every attack, at least 500, ``make faults`` a quarter of each share, ``make test`` fewer."""
    unguarded()
    kinds = [
        (kind, table)
        for table, shares in SHARES.items()
        for kind, share in zip(("alter", "delete", "add"), shares, strict=True)
        for _ in range(-(-share // each))
    ][::step]
    done, missed = missed_by(None, iter(kinds))
    assert not missed, f"{len(missed)} of {done} attacks were not named\n" + "\n".join(missed)
    assert done == len(kinds) >= 500 // each // step
    assert faults() == [], "every attack was rolled back"


@pytest.mark.parametrize("times", [1, pytest.param(12, marks=pytest.mark.faults)])
@pytest.mark.parametrize("role", [WORKER, WEB])
def test_whatever_a_role_can_write_is_named(role: str, times: int) -> None:
    kinds = BY_ROLES[role] * times
    done, missed = missed_by(role, iter(kinds))
    assert not missed, f"{len(missed)} of {done} attacks were not named\n" + "\n".join(missed)
    assert done == len(kinds)
    assert faults() == [], "every attack was rolled back"


def test_a_finding_that_is_moved_into_a_stream_that_is_no_session_is_named() -> None:
    unguarded()
    finding = Finding.objects.of_runs().earliest("pk")
    desk = LoggedStream.objects.filter(is_of_desk=True).earliest("pk")
    Finding.objects.filter(pk=finding.pk).update(stream=desk)
    assert any("of a stream that is no session" in str(fault) for fault in faults())


def test_a_second_signoff_exception_of_the_same_code_is_named() -> None:
    codes = list(SignoffException.objects.values_list("code", flat=True))

    def add(reason: str) -> None:
        unguarded()
        with connection.cursor() as cursor:
            cursor.execute(
                "insert into audit_signoffexception (id, report_id, code, reason, officer_id, made_at)"
                f" select -id, report_id, code, {reason}, officer_id, made_at from audit_signoffexception"
            )
            assert cursor.rowcount > 1
            # Written again, the true ones are the last that are read.
            cursor.execute("update audit_signoffexception set reason = reason where id > 0")

    for reason in ("'nothing to see here'", "reason"):
        found = named_after(partial(add, reason))
        assert [code for code in codes if f"exception {code} " not in found] == [], reason
