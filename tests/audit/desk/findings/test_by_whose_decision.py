"""A finding that rests on the register names the entry and its two officers, or says that nothing is decided."""

from __future__ import annotations

from typing import Any

import pytest

from audit.models import Finding
from audit.register import in_force
from tests.audit.casework.test_actions import client_of
from tests.audit.register.register_desk import RegisterDesk, replayed

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> RegisterDesk:
    return RegisterDesk()


def page_of(desk: RegisterDesk, rule: str, **opener: Any) -> str:
    """Record a session that is opened so, and return the page of its finding of ``rule``."""
    stream = f"{rule}-{desk.tenant.code}"
    assert desk.tenant.post(stream, [desk.tenant.opener(stream, table="T1", **opener)]).status_code == 201
    replayed(desk.tenant.stream(stream).stream_id)
    finding = Finding.objects.get(stream__name=stream, rule=rule)
    answer = client_of(desk.one).get(f"/admin/audit/finding/{finding.pk}/change/")
    return " ".join(answer.content.decode().split())


OFFICERS = "proposed by {one}, approved by {other}"


def officers(desk: RegisterDesk) -> str:
    return OFFICERS.format(one=desk.one, other=desk.other)


def test_other_params_than_the_registers_name_who_decided(desk: RegisterDesk) -> None:
    entry = desk.decided("payout_unit", 100)
    page = page_of(desk, "params-differ-from-register", params={"payout_unit": 50, "throw_delay_s": 20})
    assert f"/admin/audit/registerentry/{entry.pk}/change/" in page
    assert "Payout unit: €1.00" in page
    assert officers(desk) in page
    assert "version 1 of the register" in page
    assert page.count("no entry in the register") == 1, "the delay is the default"


def test_a_session_that_observes_less_than_it_owes_names_who_decided(desk: RegisterDesk) -> None:
    entry = desk.decided("families", ["calls", "custody"], table=desk.table("T1"))
    page = page_of(desk, "observes-less-than-owed", observes=["calls"])
    assert f"/admin/audit/registerentry/{entry.pk}/change/" in page
    assert officers(desk) in page


def test_an_unlawful_parameter_names_the_lawful_entry_or_that_there_is_none(desk: RegisterDesk) -> None:
    unlawful = {"params": {"call_tolerance_ms": 2_000}}
    page = page_of(desk, "parameter-unlawful", **unlawful)
    assert "By whose decision" in page
    assert "no entry in the register" in page


def test_a_text_that_is_not_in_force_names_by_whose_decision_it_is_played(desk: RegisterDesk) -> None:
    day = {"gaming_day": "2026-11-19", "game": "craps", "ruleset": "qc-craps"}
    page = page_of(desk, "ruleset-not-in-force", **day)
    assert "no entry in the register" in page
    entry = desk.decided("still_played_by", "the director, 3 November", ruleset="qc-craps")
    finding = Finding.objects.get(casino=desk.casino, rule="ruleset-not-in-force")
    page = client_of(desk.one).get(f"/admin/audit/finding/{finding.pk}/change/").content.decode()
    assert "the director, 3 November" in page
    assert officers(desk) in " ".join(page.split())
    assert in_force.decisions_of(finding) == {"still_played_by": entry}


def test_what_is_shown_is_of_the_version_by_which_the_run_read(desk: RegisterDesk) -> None:
    first = desk.decided("payout_unit", 100)
    page_of(desk, "params-differ-from-register", params={"payout_unit": 50})
    desk.decided("payout_unit", 500)
    finding = Finding.objects.get(casino=desk.casino, rule="params-differ-from-register")
    assert in_force.decisions_of(finding) == {"payout_unit": first}


def test_a_finding_that_does_not_rest_on_the_register_has_no_such_part(desk: RegisterDesk) -> None:
    desk.decided("payout_unit", 100)
    page = page_of(desk, "unknown-ruleset", ruleset="of-no-text")
    assert "By whose decision" not in page


def test_the_first_page_counts_the_entries_that_wait(desk: RegisterDesk) -> None:
    client = client_of(desk.one)
    assert "entry in the register waiting for a decision" not in client.get("/admin/").content.decode()
    desk.proposed("payout_unit", 100)
    page = client.get("/admin/").content.decode()
    assert "<b>1</b> entry in the register waiting for a decision" in page
    assert "/admin/audit/registerentry/" in page
    elsewhere = RegisterDesk()
    assert (
        "entry in the register waiting for a decision" not in client_of(elsewhere.one).get("/admin/").content.decode()
    )
