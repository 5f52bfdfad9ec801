"""The desk: what an officer reads, in both languages, and what nobody can do there."""

from __future__ import annotations

import re
from copy import deepcopy

import pytest
import time_machine
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from audit.adjudication.replay import advance
from audit.casework import actions
from audit.models import Finding, LoggedEvent, LoggedStream, Officer, Role
from audit.models.event_store import AppendOnly
from tests import citus
from tests.audit.casework.test_actions import client_of, hired, sign_in
from tests.audit.corrections.corrections_desk import approve, replayed
from tests.audit.tables import Tenant, dice_changed_in_mid_series, numbered
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db


@pytest.fixture(scope=citus.MODULE)
def shared(module_db: None) -> Tenant:
    """A casino with a session that was replayed, which the tests of the module share."""
    tenant = Tenant()
    tenant.post("s", dice_changed_in_mid_series(tenant, "s"))
    advance(tenant.stream("s").stream_id)
    tenant.client = Client()  # one that has answered nothing can be copied
    return tenant


@pytest.fixture
def tenant(shared: Tenant, db: None) -> Tenant:
    return deepcopy(shared)


@pytest.fixture
def desk() -> Client:
    client = Client()
    sign_in(client, Officer.objects.create_superuser("chief"))
    return client


def officer_of(*tenants: Tenant) -> Client:
    officer = Officer.objects.create_user(f"officer-{Officer.objects.count()}", is_staff=True)
    officer.casinos.set(tenant.casino for tenant in tenants)
    client = Client()
    sign_in(client, officer)
    return client


def page_of(finding: Finding) -> str:
    return reverse("admin:audit_finding_change", args=(finding.pk,))


def test_a_finding_shows_rule_clause_and_the_events_around_it(tenant: Tenant, desk: Client) -> None:
    finding = Finding.objects.get(casino=tenant.casino, rule="dice-changed-during-point-series")
    page = desk.get(page_of(finding), headers={"accept-language": "en"}).content.decode()
    assert "<h1>Dice changed during a point series</h1>" in page
    assert "was decided by the chef de table" in page
    assert '<blockquote lang="fr">' in page
    assert "<mark>Il ne peut toutefois le faire dans la série des coups" in page
    assert re.search(r'<li class="[^"]*completes deciding" id="e9"', page)
    assert re.search(r'<li class="[^"]*evidence" id="e7"', page)
    assert "Throw 5 – 3 by seat S1" in page
    assert "20:00:09" in page, "the time is in the casino's zone, not in UTC"


def test_the_same_finding_reads_well_in_french(tenant: Tenant, desk: Client) -> None:
    finding = Finding.objects.get(casino=tenant.casino, rule="payout-overpaid")
    page = desk.get(page_of(finding), headers={"accept-language": "fr"}).content.decode()
    assert '<h1>Anna a reçu <em class="bank">2\N{NO-BREAK SPACE}€</em> de trop</h1>' in page
    assert "Gains dus" in page
    assert "7\N{NO-BREAK SPACE}€" in page
    assert "9\N{NO-BREAK SPACE}€" in page
    assert "Versé en trop au joueur" in page
    assert "Chronologie" in page
    assert "art. 55-8 D 1°" in page


@pytest.mark.parametrize(
    "query",
    in_short(
        ["?severity__exact=critical", "?rule=payout-overpaid", "?standing=all", "?q=w2"],
        further=["", "?day=2026-11-19"],
    ),
)
def test_findings_are_listed_and_filtered(tenant: Tenant, desk: Client, query: str) -> None:
    response = desk.get(reverse("admin:audit_finding_changelist") + query)
    assert response.status_code == 200
    assert b"Paid too much" in response.content


def test_each_event_stands_once_on_the_page_of_a_finding(tenant: Tenant, desk: Client) -> None:
    for finding in Finding.objects.filter(casino=tenant.casino):
        page = desk.get(page_of(finding), headers={"accept-language": "en"}).content.decode()
        assert sorted(re.findall(r'<li [^>]*id="e(\d+)"', page), key=int) == [str(seq) for seq in range(1, 14)]


BIG_8 = (
    ("wager.placed", {"wager": "big", "bet": "big_8", "stake": 500, "player": "p7"}),
    ("wager.placed", {"wager": "line", "bet": "win", "stake": 1_100, "player": "p7", "seat": "S1"}),
    ("dice.thrown", {"faces": [6, 2], "seat": "S1"}),
)


def big_8(*paid: tuple[str, dict[str, object]]) -> tuple[Tenant, Finding]:
    """A big 8 of 5 that wins, and what was paid for it before the next throw; and the finding of that money."""
    tenant = Tenant()
    opener = tenant.opener("eight", observes=["payouts", "wagers", "results"], seats=["S1"])
    events = numbered(opener, *BIG_8, *paid, ("dice.thrown", {"faces": [1, 2], "seat": "S1"}))
    assert tenant.post("eight", events).status_code == 201
    replayed(tenant.stream("eight").stream_id)
    return tenant, Finding.objects.get(casino=tenant.casino, wager="big")


def test_an_overpaid_big_8_shows_what_was_due_and_paid_once_under_the_clause_with_its_odds(desk: Client) -> None:
    """«Les chances simples qui, toutes, se paient à égalité»; what is handed back of the stake was right."""
    _tenant, finding = big_8(("payout.made", {"wager": "big", "winnings": 700, "stake_returned": 500}))
    assert finding.rule == "payout-overpaid"
    answer = desk.get(page_of(finding), headers={"accept-language": "en"})
    page = answer.content.decode()
    assert re.findall(r'<p class="v">(€[0-9.]+)</p>', page) == ["€5", "€7", "€2"]
    assert not re.search(r"€1[02]\b", page)
    assert [clause.label for clause in answer.context["clauses"]] == ["art. 55-8 A intro", "art. 55-8 A 7°"]
    assert "Les chances simples qui, toutes, se paient à égalité" in "".join(
        run.text for paragraph in answer.context["clauses"][0].paragraphs for run in paragraph.runs if run.is_marked
    )


def test_a_missing_payout_opens_where_it_became_due(desk: Client) -> None:
    _tenant, finding = big_8()
    assert (finding.rule, finding.seq) == ("payout-missing", 5)
    replay = desk.get(page_of(finding)).context["replay"]
    assert replay["current"]["seq"] == 4
    assert re.findall(r'<li class="[^"]*completes[^"]*" id="e(\d+)"', replay["timeline"]) == ["5"]


def test_an_invalid_filter_is_ignored(tenant: Tenant, desk: Client) -> None:
    response = desk.get(reverse("admin:audit_finding_changelist") + "?day=nonsense&table=x&rule=no-such-rule")
    assert response.status_code == 200
    assert desk.get(reverse("admin:audit_finding_changelist") + "?rule=%00").status_code == 400


def test_events_are_paged_by_key_in_both_directions(
    tenant: Tenant, desk: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("audit.desk.tables.admin.PAGE", 5)
    address = reverse("admin:audit_loggedstream_events", args=(tenant.stream("s").stream_id,))

    def numbers(query: str) -> list[int]:
        return [line["seq"] for line in desk.get(address + query).context["lines"]]

    assert numbers("") == [1, 2, 3, 4, 5]
    assert numbers("?after=5") == [6, 7, 8, 9, 10]
    assert numbers("?before=6") == [1, 2, 3, 4, 5]
    assert numbers("?after=10") == [11, 12, 13]
    assert numbers("?after=nonsense") == [1, 2, 3, 4, 5]


def test_an_officer_sees_their_own_casino_and_no_other(tenant: Tenant) -> None:
    stranger = officer_of(Tenant())
    finding = Finding.objects.filter(casino=tenant.casino).first()
    assert finding is not None
    stream = tenant.stream("s")
    assert stranger.get(page_of(finding)).status_code == 404
    assert stranger.get(reverse("admin:audit_loggedstream_events", args=(stream.stream_id,))).status_code == 404
    assert b"Paid too much" not in stranger.get(reverse("admin:audit_finding_changelist")).content
    assert officer_of(tenant).get(page_of(finding)).status_code == 200


def test_nothing_of_the_record_can_be_added_changed_or_deleted_from_the_desk(tenant: Tenant, desk: Client) -> None:
    finding = Finding.objects.filter(casino=tenant.casino).first()
    assert finding is not None
    for model, pk in (("finding", finding.pk), ("loggedstream", tenant.stream("s").stream_id)):
        for verb, args in (("add", ()), ("delete", (pk,))):
            address = reverse(f"admin:audit_{model}_{verb}", args=args)
            assert desk.post(address, {"post": "yes"}).status_code == 403, address
    desk.post(page_of(finding), {"severity": "minor", "rule": "x"})
    finding.refresh_from_db()
    assert finding.severity == "critical"
    bulk = {"action": "delete_selected", "_selected_action": [finding.pk], "post": "yes"}
    desk.post(reverse("admin:audit_finding_changelist"), bulk)
    assert Finding.objects.filter(pk=finding.pk).exists()


def test_the_log_cannot_be_written_through_its_models(tenant: Tenant) -> None:
    stream = tenant.stream("s")
    with pytest.raises(AppendOnly):
        stream.save()
    with pytest.raises(AppendOnly):
        stream.delete()
    with pytest.raises(AppendOnly):
        LoggedEvent.objects.filter(stream_id=stream.stream_id).first().save()
    assert LoggedStream.objects.filter(pk=stream.pk).exists()


def test_nobody_reads_anything_without_signing_in(tenant: Tenant) -> None:
    finding = Finding.objects.filter(casino=tenant.casino).first()
    assert finding is not None
    for address in (page_of(finding), reverse("admin:audit_finding_changelist"), reverse("admin:index")):
        assert Client().get(address).status_code == 302


def corrected(tenant: Tenant, *, data: dict[str, object]) -> None:
    """Have the payout of event 12 corrected, and the stream replayed."""
    correction = {
        "stream": "s",
        "seq": 14,
        "type": "entry.corrected",
        "occurred_at": "2026-11-19T23:00:00+01:00",
        "data": {"corrects": 12, "data": data, "reason": "misread <slip>", "approved_by": "chef-4"},
    }
    assert tenant.post("s", [correction]).status_code == 201
    while (progress := advance(tenant.stream("s").stream_id)) and progress.behind:
        pass


def test_a_corrected_entry_shows_what_was_entered_and_what_it_was_corrected_to(tenant: Tenant, desk: Client) -> None:
    finding = Finding.objects.get(casino=tenant.casino, rule="payout-overpaid")
    corrected(tenant, data={"wager": "w2", "winnings": 700, "stake_returned": 600})
    page = desk.get(page_of(finding), headers={"accept-language": "en"}).content.decode()
    assert "correction by event 14 without effect, approved by chef-4: “misread &lt;slip&gt;”" in page, "it waits"
    approve(tenant.casino, finding.stream_id, 14)
    replayed(finding.stream_id)
    events = reverse("admin:audit_loggedstream_events", args=(finding.stream_id,))
    for address in (page_of(finding), events):
        page = desk.get(address, headers={"accept-language": "en"}).content.decode()
        assert "<del>Wager w2 paid: winnings €9, stake returned €6</del>" in page
        assert "<ins>Wager w2 paid: winnings €7, stake returned €6</ins>" in page
        assert "corrected by event 14, approved by chef-4: “misread &lt;slip&gt;”" in page
    page = desk.get(page_of(finding), headers={"accept-language": "en"}).content.decode()
    assert '"text": "Wager w2 paid: winnings \\u20ac7, stake returned \\u20ac6"' in page, "the line below the felt"
    finding.refresh_from_db()
    assert finding.superseded_at is not None, "the finding from before the correction is kept, but superseded"


def test_a_correction_without_effect_is_shown_as_such(tenant: Tenant, desk: Client) -> None:
    corrected(tenant, data={"no": "payout"})
    page = desk.get(reverse("admin:audit_loggedstream_events", args=(tenant.stream("s").stream_id,))).content.decode()
    assert "correction by event 14 without effect, approved by chef-4" in page
    assert "<del>" not in page


def test_every_section_is_registered_with_the_desks_own_site(tenant: Tenant, desk: Client) -> None:
    assert type(admin.site._wrapped).__name__ == "DeskSite"
    models = {model._meta.model_name for model in admin.site._registry}
    assert models >= {"finding", "loggedstream", "nightreport", "whatif", "job", "quarantined", "casino", "officer"}
    page = desk.get(reverse("admin:index")).content.decode()
    for name in ("audit_trail", "second_factor"):
        assert reverse(f"admin:{name}") in page
        assert desk.get(reverse(f"admin:{name}")).status_code == 200


def test_no_page_of_what_the_desk_is_built_with_can_be_reached(desk: Client) -> None:
    assert {model._meta.app_label for model in admin.site._registry} == {"audit"}
    page = desk.get(reverse("admin:index")).content.decode()
    for app in ("auth", "django_celery_beat", "axes", "otp_totp", "otp_static", "sessions"):
        assert f"/admin/{app}/" not in page
        assert desk.get(f"/admin/{app}/").status_code == 404


def test_the_panel_of_a_case_has_its_history_with_outcomes_in_the_casinos_time_zone(tenant: Tenant) -> None:
    officers = [hired(tenant, Role.SECOND, name) for name in ("first", "second")]
    finding = Finding.objects.get(casino=tenant.casino, rule="payout-overpaid")
    with time_machine.travel("2026-11-20 22:30:00Z", tick=False):
        actions.perform(finding.case_id, officers[0], "take")
        actions.perform(finding.case_id, officers[0], "propose", reason="a training night", outcome="explained")
        actions.perform(finding.case_id, officers[1], "approve")
        page = client_of(officers[1]).get(page_of(finding), headers={"accept-language": "en"}).content.decode()
    lines = re.findall(r"<li><span><strong>(.*?)</strong> (.*?)</span> <time [^>]*>(.*?)</time>", page)
    assert lines == [
        (officers[0].username, "took the case", "20 Nov, 23:30 CET"),
        (officers[0].username, "proposed closing: explained", "20 Nov, 23:30 CET"),
        (officers[1].username, "approved closing: explained", "20 Nov, 23:30 CET"),
    ]
