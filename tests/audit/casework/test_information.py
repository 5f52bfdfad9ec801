"""The nightly list of information: read and signed once by one officer, and verified."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from audit.casework import information
from audit.casework.actions import ActionRefused
from audit.desk.rules import counts
from audit.event_store import audit_trail
from audit.models import Finding, InformationSigning, Role
from audit.presentation import reference
from audit.projections.information import wrong_information
from tests.audit.casework.test_actions import PASSWORD, Desk, client_of, hired
from tests.audit.projections.test_casinos import forge, unguard_all_tables
from tests.audit.tables import Tenant

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]


def found(desk: Desk, severity: str, *, rule: str, gaming_day: date | None = None, **stated: Any) -> Finding:
    """Store one more standing finding, about no money."""
    finding = Finding.objects.get(pk=desk.findings[0].pk)
    finding.pk, finding.case, finding.year, finding.number = None, None, None, None
    finding.wager, finding.rule, finding.severity = f"w{Finding.objects.count()}", rule, severity
    finding.gaming_day = gaming_day or finding.gaming_day
    for name, value in stated.items():
        setattr(finding, name, value)
    finding.save(force_insert=True)
    return finding


def noted(desk: Desk, number: int = 2) -> list[Finding]:
    return [found(desk, "info", rule="payout-put-right") for _ in range(number)]


def day_of(desk: Desk) -> date:
    return desk.findings[0].gaming_day


def to_read(desk: Desk) -> list[int]:
    own, day = [desk.tenant.casino.pk], day_of(desk)
    return sorted(information.unsigned(own, day, day).values_list("pk", flat=True))


def signed(desk: Desk) -> InformationSigning:
    return information.sign(desk.first, desk.tenant.casino.pk, day_of(desk), information.digest_of(to_read(desk)))


def test_a_list_has_the_information_of_its_night_without_a_case(desk: Desk) -> None:
    before = to_read(desk)
    rows = noted(desk)
    found(desk, "minor", rule="payout-overpaid")
    found(desk, "info", rule="player-luck")
    found(desk, "info", rule="payout-put-right", gaming_day=day_of(desk) - timedelta(days=1))
    assert to_read(desk) == sorted([*before, *(each.pk for each in rows)])


def test_one_officer_signs_a_list_once_and_later_information_is_on_it_again_alone(desk: Desk) -> None:
    noted(desk)
    read = to_read(desk)
    row = signed(desk)
    assert (row.findings, row.signed_by, to_read(desk)) == (read, desk.first, [])
    with pytest.raises(ActionRefused, match="another officer has signed it"):
        information.sign(desk.second, desk.tenant.casino.pk, day_of(desk), information.digest_of(read))
    [later] = noted(desk, 1)
    assert to_read(desk) == [later.pk]
    with pytest.raises(ActionRefused, match="Read it again"):
        information.sign(desk.second, desk.tenant.casino.pk, day_of(desk), information.digest_of(read))
    [entry] = [
        each
        for each in audit_trail.entries_of(desk.tenant.casino.pk, row.signed_at.date())
        if each.type == information.SIGNED
    ]
    assert (entry.actor, entry.data["findings"], entry.data["digest"]) == (desk.first.username, len(read), row.digest)


@pytest.mark.parametrize("role", [Role.AUDITOR, Role.DIRECTOR, Role.ADMINISTRATOR])
def test_an_officer_who_works_on_no_cases_signs_no_list(desk: Desk, role: Role) -> None:
    noted(desk)
    officer = hired(desk.tenant, role, f"other-{role}")
    with pytest.raises(ActionRefused):
        information.sign(officer, desk.tenant.casino.pk, day_of(desk), information.digest_of(to_read(desk)))
    assert not InformationSigning.objects.filter(casino=desk.tenant.casino).exists()


ADDRESS = "/admin/audit/informationsigning/"


def test_the_desk_shows_the_nights_and_signs_with_the_password(desk: Desk) -> None:
    [one, _other] = noted(desk)
    night = f"{ADDRESS}night/{desk.tenant.casino.pk}/{day_of(desk)}/"
    client = client_of(desk.first)
    nights = client.get(ADDRESS)
    assert [(each.day, each.unsigned) for each in nights.context["nights"]] == [(day_of(desk), len(to_read(desk)))]
    assert night in nights.content.decode()
    page = client.get(night)
    assert f"/admin/audit/finding/{one.pk}/change/" in page.content.decode()
    form = {"digest": page.context["digest"]}
    assert client.get(f"{night}sign/").status_code == 405
    client.post(f"{night}sign/", form)
    assert to_read(desk), "no signature without the password"
    assert client.post(f"{night}sign/", {**form, "proof_password": PASSWORD}).status_code == 302
    assert to_read(desk) == []
    row = InformationSigning.objects.get(casino=desk.tenant.casino)
    assert client.get(f"{ADDRESS}{row.pk}/change/")["Location"] == night
    assert "Sign the list" not in client.get(night).content.decode()


def test_nobody_reads_or_signs_the_list_of_another_casino_or_of_no_day(desk: Desk) -> None:
    noted(desk)
    night = f"{ADDRESS}night/{desk.tenant.casino.pk}/{day_of(desk)}/"
    stranger = client_of(hired(Tenant(), Role.SECOND, "stranger"))
    form = {"digest": information.digest_of(to_read(desk)), "proof_password": PASSWORD}
    assert stranger.get(night).status_code == 404
    assert stranger.post(f"{night}sign/", form).status_code == 404
    assert [each.casino for each in stranger.get(ADDRESS).context["nights"]] == []
    auditor = client_of(desk.auditor)
    assert auditor.get(night).status_code == 200
    assert auditor.post(f"{night}sign/", form).status_code == 403
    assert client_of(desk.first).get(f"{ADDRESS}night/{desk.tenant.casino.pk}/2026-13-40/").status_code == 404
    assert to_read(desk)


FORGED = {
    "gaming_day": "'2020-01-01'",
    "findings": "findings[1:1]",
    "digest": "repeat('0', 64)",
    "signed_by_id": "{second}",
    "signed_at": "'2020-01-01'",
    "id": "id + 1000",
}


def test_a_forged_signature_is_named(desk: Desk) -> None:
    noted(desk)
    row = signed(desk)
    own = desk.tenant.casino.pk
    assert list(wrong_information(own)) == []
    unguard_all_tables()
    for column, value in FORGED.items():
        with transaction.atomic():
            forge(
                f"update audit_informationsigning set {column} = {value.format(second=desk.second.pk)}"
                f" where id = {row.pk}"
            )
            assert list(wrong_information(own)), column
            transaction.set_rollback(True)
    with transaction.atomic():
        forge(f"delete from audit_informationsigning where id = {row.pk}")
        assert list(wrong_information(own))
        transaction.set_rollback(True)


def test_tables_and_rules_count_what_stands_out_and_not_what_is_on_the_list(desk: Desk) -> None:
    noted(desk)
    standing = Finding.objects.standing().filter(casino=desk.tenant.casino)
    with_case = standing.exclude(case=None)
    assert 0 < with_case.count() < standing.count()
    tables = client_of(desk.first).get("/admin/audit/loggedstream/").context["cl"].result_list
    assert [each.findings_count for each in tables] == [with_case.count()]
    counted = counts.in_last_month(standing, day_of(desk))
    assert "payout-put-right" not in counted
    assert sum(counted.values()) == with_case.count()


def goodwill(desk: Desk, cents: int, **more: Any) -> Finding:
    facts = {"approved_by": "chief", "reason": "lost luggage"}
    stated = {"recorded": cents, "expected": None, "owed": None, "facts": facts, "player": "p-7", **more}
    return found(desk, "info", rule="goodwill-paid", **stated)


@pytest.mark.parametrize(("cents", "is_large"), [(9_999, False), (10_000, True), (10_001, True)])
def test_goodwill_is_large_from_the_casinos_amount_on(desk: Desk, cents: int, is_large: bool) -> None:
    assert desk.tenant.casino.priority_threshold == 100
    assert information.is_large(goodwill(desk, cents)) == is_large


def test_large_goodwill_stands_first_says_why_and_is_confirmed_by_whoever_signs(desk: Desk) -> None:
    noted(desk, 3)
    _small, large = goodwill(desk, 500), goodwill(desk, 25_000)
    assert large.case is None
    night = f"{ADDRESS}night/{desk.tenant.casino.pk}/{day_of(desk)}/"
    client = client_of(desk.first)
    page = client.get(night, headers={"accept-language": "en"})
    first = page.context["rules"][0]
    assert (first.title, first.is_large, first.count, first.unsigned) == (
        *("Goodwill payments of €100 or more", True, 1, 1),
    )
    [line] = first.lines
    assert (line.persons, line.money) == ("p-7", "€250.00")
    assert line.says == "€250.00 was paid as goodwill, approved by chief (reason given: “lost luggage”)."
    shown = page.content.decode()
    assert line.says in shown
    assert "I confirm 1 large goodwill payment." in shown
    assert sum(each.count for each in page.context["rules"] if each.rule == "goodwill-paid") == 2
    form = {"digest": page.context["digest"], "proof_password": PASSWORD}
    refused = client.post(f"{night}sign/", form, follow=True, headers={"accept-language": "en"})
    assert "Confirm the large goodwill payments." in refused.content.decode()
    assert large.pk in to_read(desk)
    client.post(f"{night}sign/", {**form, "confirms": "on"})
    assert to_read(desk) == []
    row = InformationSigning.objects.get(casino=desk.tenant.casino)
    [entry] = [
        each
        for each in audit_trail.entries_of(desk.tenant.casino.pk, row.signed_at.date())
        if each.type == information.SIGNED
    ]
    large.refresh_from_db()
    assert entry.data["confirmed"] == [reference(large)]
    assert list(wrong_information(desk.tenant.casino.pk)) == []


def test_the_overview_names_questions_about_money_and_large_goodwill_until_the_list_is_signed(desk: Desk) -> None:
    now, en = timezone.now(), {"accept-language": "en"}
    facts = {"player": "p-8", "other_player": "p-9", "opposing": 63, "coups": 70}
    today = {"gaming_day": now.date()}
    found(desk, "info", rule="offsetting-players", facts=facts, recorded=None, expected=None, owed=None, **today)
    small, _large = goodwill(desk, 500, **today), goodwill(desk, 25_000, **today)
    client = client_of(desk.first)
    page = client.get("/admin/", headers=en)
    named = [each.rule for each, _says in page.context["overview"]["to_read"]]
    assert named == ["offsetting-players", "goodwill-paid"]
    assert "player p-8 and player p-9 laid nearly the same on opposite sides" in page.content.decode()
    assert f"night/{desk.tenant.casino.pk}/{now.date()}/" in page.content.decode()
    rules = client.get(f"{ADDRESS}night/{desk.tenant.casino.pk}/{now.date()}/").context["rules"]
    assert [(each.rule, each.is_large) for each in rules[:2]] == [
        ("goodwill-paid", True),
        ("offsetting-players", False),
    ]
    ids = information.unsigned([desk.tenant.casino.pk], now.date(), now.date()).values_list("pk", flat=True)
    assert small.pk in ids
    information.sign(*(desk.first, desk.tenant.casino.pk, now.date(), information.digest_of(ids)), confirms=True)
    assert client.get("/admin/", headers=en).context["overview"]["to_read"] == []


def test_a_list_without_large_goodwill_asks_for_no_confirmation(desk: Desk) -> None:
    noted(desk)
    page = client_of(desk.first).get(f"{ADDRESS}night/{desk.tenant.casino.pk}/{day_of(desk)}/")
    assert page.context["to_confirm"] == 0
    assert 'name="confirms"' not in page.content.decode()
