"""The wheel and the dice of a session are shown wherever the session is: at the desk, in the interface, by night."""

from __future__ import annotations

import pytest

from audit.models import Role
from audit.reconciliation import runs
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.reconciliation.played import DAY, MORNING
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


def test_the_equipment_of_a_session_is_shown_where_the_session_is() -> None:
    tenant = Tenant()
    opener = tenant.opener("s", gaming_day=DAY.isoformat(), wheel="W-12", dice_set="D-3")
    assert tenant.post("s", [opener]).status_code == 201
    assert tenant.get("/streams/s").json()["equipment"] == {"wheel": "W-12", "dice_set": "D-3"}
    stream_id = tenant.stream("s").stream_id
    (report,) = runs.reconcile(tenant.casino, DAY, actor="test", now=MORNING)
    desk = client_of(hired(tenant, Role.OFFICER, "officer"))
    for page in (
        f"/admin/audit/loggedstream/{stream_id}/events/",
        f"/admin/audit/loggedstream/{stream_id}/coverage/",
        f"/admin/audit/nightreport/{report.pk}/session/{stream_id}/",
    ):
        shown = desk.get(page).content.decode()
        assert "wheel W-12" in shown, page
        assert "dice D-3" in shown, page


@pytest.mark.parametrize(("language", "words"), [("en", "apparatus W-12"), ("fr", "appareil W-12")])
def test_the_wheel_of_la_boule_is_an_apparatus(language: str, words: str) -> None:
    tenant = Tenant()
    opener = tenant.opener("s", game="boule", ruleset="fr-boule", wheel="W-12")
    assert tenant.post("s", [opener]).status_code == 201
    stream_id = tenant.stream("s").stream_id
    desk = client_of(hired(tenant, Role.OFFICER, "officer"))
    address = f"/admin/audit/loggedstream/{stream_id}/events/"
    shown = desk.get(address, headers={"accept-language": language}).content.decode()
    assert shown.count(words) == 2, "above the events, and in the sentence of the first"
    assert "cylindre" not in shown


def test_a_session_that_names_no_equipment_shows_none() -> None:
    tenant = Tenant()
    assert tenant.post("s", [tenant.opener("s")]).status_code == 201
    assert tenant.get("/streams/s").json()["equipment"] == {}
    page = f"/admin/audit/loggedstream/{tenant.stream('s').stream_id}/events/"
    assert "wheel" not in client_of(hired(tenant, Role.OFFICER, "officer")).get(page).content.decode()
