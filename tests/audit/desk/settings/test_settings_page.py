"""The settings: each officer's own sections on one page, whose queries do not grow, and nothing of Django's own."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone, translation
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.models import ApiKey, Casino, Deadline, GamingTable, Membership, NightRun, Officer, Role
from tests.audit.casework.test_actions import hired, sign_in
from tests.audit.event_store.test_audit_trail import entries_today
from tests.audit.register.register_desk import RegisterDesk
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db

PAGE = "/admin/audit/"


def desk_of(tenant: Tenant, role: Role) -> Client:
    client = Client()
    sign_in(client, hired(tenant, role, "anna"))
    return client


def test_an_administrator_has_every_section_of_their_casino_and_an_officer_those_that_they_may_read() -> None:
    tenant, other = Tenant(), Tenant()
    page = desk_of(tenant, Role.ADMINISTRATOR).get(PAGE)
    assert set(page.context["sections"]) == {
        *("casino", "gamingtable", "apikey", "webhook", "nightsubscriber", "deadline", "casecontacts", "officer")
    }
    assert tenant.key.prefix in page.content.decode()
    assert other.key.prefix not in page.content.decode()
    officer = Client()
    sign_in(officer, hired(tenant, Role.OFFICER, "bert"))
    assert set(officer.get(PAGE).context["sections"]) == {"casino", "gamingtable"}


def test_a_key_that_expires_soon_is_marked_and_one_that_is_revoked_is_not_shown() -> None:
    tenant = Tenant()
    client = desk_of(tenant, Role.ADMINISTRATOR)
    ApiKey.objects.filter(pk=tenant.key.pk).update(expires_at=timezone.now() + timedelta(days=9, hours=1))
    [line] = client.get(PAGE, headers={"accept-language": "en"}).context["sections"]["apikey"].shown
    assert (line.state, line.expires) == ("warn", "in 9 days")
    ApiKey.objects.filter(pk=tenant.key.pk).update(revoked_at=timezone.now())
    assert client.get(PAGE).context["sections"]["apikey"].shown == []


def test_the_queries_of_the_page_do_not_grow_with_its_rows() -> None:
    tenant = Tenant()
    client = desk_of(tenant, Role.ADMINISTRATOR)
    hired(tenant, Role.AUDITOR, "colleague")
    client.get(PAGE)
    with CaptureQueriesContext(connection) as before:
        client.get(PAGE)
    for number in range(5):
        GamingTable.objects.create(casino=tenant.casino, code=f"more-{number}")
        key, _secret = ApiKey.make(casino=tenant.casino, name=f"more-{number}", scopes=["streams:read"])
        key.tables.set(GamingTable.objects.filter(casino=tenant.casino)[:2])
        hired(tenant, Role.AUDITOR, f"more-{number}")
    with CaptureQueriesContext(connection) as after:
        client.get(PAGE)
    assert len(after) == len(before)


def test_a_table_shows_what_its_newest_session_declared_to_who_sees_the_record() -> None:
    tenant = Tenant()
    opener = tenant.opener("s", minimum=200, params={"maximum": {"win": 50_000}}, dice_set="D-3")
    assert tenant.post("s", [opener]).status_code == 201
    officer, administrator = Client(), desk_of(tenant, Role.ADMINISTRATOR)
    sign_in(officer, hired(tenant, Role.OFFICER, "bert"))
    [line] = officer.get(PAGE, headers={"accept-language": "en"}).context["sections"]["gamingtable"].shown
    assert line.declared.rules == "fr-craps"
    assert line.declared.limits.words == "€2 to €500"
    assert line.declared.equipment == ["dice D-3"]
    [line] = administrator.get(PAGE).context["sections"]["gamingtable"].shown
    assert line.declared is None
    page = f"{PAGE}gamingtable/{tenant.table.pk}/change/"
    shown = officer.get(page, headers={"accept-language": "en"}).content.decode()
    assert "What the record knows" in shown
    assert "dice D-3" in shown
    assert "From its last session." in shown
    assert "What the record knows" not in administrator.get(page, headers={"accept-language": "en"}).content.decode()


def test_an_administrator_names_a_table_and_moves_the_cutoff_and_each_is_an_entry_of_the_trail() -> None:
    tenant = Tenant()
    client = desk_of(tenant, Role.ADMINISTRATOR)
    assert client.post(f"{PAGE}gamingtable/{tenant.table.pk}/change/", {"name": "By the window"}).status_code == 302
    changed = {"cutoff": "07:30", "name": "Renamed", "time_zone": "UTC", "false_questions": "12"}
    assert client.post(f"{PAGE}casino/{tenant.casino.pk}/change/", changed).status_code == 302
    casino = Casino.objects.get(pk=tenant.casino.pk)
    assert GamingTable.objects.get(pk=tenant.table.pk).name == "By the window"
    assert casino.cutoff == time(7, 30)
    assert (casino.name, casino.time_zone, casino.false_questions) == (tenant.casino.name, "Europe/Paris", 1)
    entries = [
        (entry.type, entry.data["fields"]) for entry in entries_today(casino.pk) if entry.type.endswith(".changed")
    ]
    assert entries == [("gamingtable.changed", ["Name"]), ("casino.changed", ["End of the gaming day"])]
    shown = client.get(PAGE).content.decode()
    assert "By the window" in shown
    assert "07:30" in shown


def test_a_deadline_of_the_installation_says_whose_it_is_after_what_it_is_for() -> None:
    tenant = Tenant()
    client = Client(headers={"accept-language": "en"})
    sign_in(client, Officer.objects.create_superuser(f"chief-{tenant.code}"))
    deadline = Deadline.objects.filter(casino=None)[0]
    page = client.get(f"{PAGE}deadline/{deadline.pk}/change/").content.decode()
    assert "every casino without its own deadline" in page
    assert page.index("field-severity") < page.index("field-whose") < page.index("field-hours")
    added = client.get(f"{PAGE}deadline/add/").content.decode()
    assert added.index("field-casino") < added.index("field-severity") < added.index("field-hours")


def test_a_casino_returns_to_the_deadlines_of_the_installation() -> None:
    tenant = Tenant()
    client = desk_of(tenant, Role.ADMINISTRATOR)
    for severity, hours in (("critical", 5), ("major", 50)):
        sent = {"casino": tenant.casino.pk, "severity": severity, "hours": hours}
        assert client.post(f"{PAGE}deadline/add/", sent).status_code == 302
    own = Deadline.objects.filter(casino=tenant.casino)
    everywhere = Deadline.objects.filter(casino=None).count()
    chosen = list(own.values_list("pk", flat=True))
    assert len(chosen) == 2
    sent = {"action": "delete_selected", "_selected_action": chosen, "post": "yes"}
    assert client.post(f"{PAGE}deadline/", sent).status_code == 302
    assert not own.exists()
    assert Deadline.objects.filter(casino=None).count() == everywhere
    deleted = [each.data["severity"] for each in entries_today(tenant.casino.pk) if each.type == "deadline.deleted"]
    assert sorted(deleted) == ["critical", "major"]


def test_a_row_of_the_casinos_is_headed_by_the_name_or_else_by_the_code() -> None:
    named, nameless = Tenant(), Tenant()
    Casino.objects.filter(pk=named.casino.pk).update(name="Grand Casino")
    Casino.objects.filter(pk=nameless.casino.pk).update(name="")
    for tenant, title in ((named, "Grand Casino"), (nameless, nameless.code)):
        page = desk_of(tenant, Role.ADMINISTRATOR).get(f"{PAGE}casino/").content.decode()
        assert re.search(rf"<th[^>]*>\s*<a[^>]*>{title}</a>", page)


def test_the_desk_has_no_page_of_django_s_internals(client: Client) -> None:
    assert {model._meta.app_label for model in admin.site._registry} == {"audit"}
    sign_in(client, Officer.objects.create_superuser("chief"))
    for address in ("auth/", "django_celery_beat/", "django_celery_beat/periodictask/", "sites/"):
        assert client.get(f"/admin/{address}").status_code == 404
    assert client.get(reverse("admin:app_list", args=("audit",))).status_code == 200


def test_an_officer_without_a_second_factor_is_marked() -> None:
    tenant = Tenant()
    client = desk_of(tenant, Role.ADMINISTRATOR)
    with_device, without = hired(tenant, Role.AUDITOR, "dora"), hired(tenant, Role.AUDITOR, "emil")
    TOTPDevice.objects.create(user=with_device, confirmed=True)
    TOTPDevice.objects.create(user=without, confirmed=False)
    shown = client.get(PAGE).context["sections"]["officer"].shown
    has_factor = {line.officer.pk: line.has_second_factor for line in shown}
    assert (has_factor[with_device.pk], has_factor[without.pk]) == (True, False)
    assert (
        '<span class="tag warn">not yet</span>' in client.get(PAGE, headers={"accept-language": "en"}).content.decode()
    )


def test_a_role_at_several_casinos_is_said_once_with_the_names_of_the_casinos() -> None:
    tenant, other = Tenant(), Tenant()
    both = hired(tenant, Role.SECOND, "both")
    Membership.objects.create(officer=both, casino=other.casino, role=Role.SECOND)
    chief = Client()
    sign_in(chief, Officer.objects.create_superuser(f"chief-{tenant.code}"))
    [line] = [each for each in chief.get(PAGE).context["sections"]["officer"].shown if each.officer.pk == both.pk]
    first, second = sorted((str(tenant.casino), str(other.casino)))
    assert line.roles in (f"second officer ({first}, {second})", f"second officer ({second}, {first})")
    Membership.objects.create(officer=both, casino=Tenant().casino, role=Role.SECOND)
    [line] = [each for each in chief.get(PAGE).context["sections"]["officer"].shown if each.officer.pk == both.pk]
    assert line.roles == "second officer (3 casinos)"


@pytest.mark.parametrize(
    ("language", "keys", "readings"),
    [
        pytest.param("en", "1, 1 to renew", "Nothing has been decided yet", marks=pytest.mark.faults),
        ("fr", "1, 1 à renouveler", "Rien n’est encore décidé"),
    ],
)
def test_the_index_says_how_many_there_are_and_what_is_to_be_looked_at(language: str, keys: str, readings: str) -> None:
    tenant = Tenant()
    ApiKey.objects.filter(casino=tenant.casino).update(expires_at=timezone.now() + timedelta(days=3))
    client = desk_of(tenant, Role.ADMINISTRATOR)
    page = client.get(PAGE, headers={"accept-language": language}).content.decode()
    assert f"<small>{keys}</small>" in page
    decided = RegisterDesk()
    sign_in(client, decided.one)
    assert readings in client.get(PAGE, headers={"accept-language": language}).content.decode()


def test_a_severity_begins_with_a_capital_letter_and_a_deadline_is_french_in_french() -> None:
    client = desk_of(Tenant(), Role.ADMINISTRATOR)
    page = client.get(PAGE, headers={"accept-language": "fr"}).content.decode()
    assert '<b class="b">Critique</b>' in page
    deadline = Deadline.objects.filter(casino=None).first()
    assert deadline is not None
    with translation.override("fr"):
        assert (
            str(deadline) == f"{deadline.get_severity_display()}\N{NO-BREAK SPACE}: {deadline.hours}\N{NO-BREAK SPACE}h"
        )


@pytest.mark.superuser
def test_the_schedule_says_when_each_night_was_reconciled_last() -> None:
    tenant, client = Tenant(), Client(headers={"accept-language": "en"})
    sign_in(client, hired(tenant, Role.ADMINISTRATOR, "anna"))
    assert [(line.last, line.error) for line in client.get(PAGE).context["nights"]] == [("", "")]
    started = datetime(2026, 11, 20, 5, 0, tzinfo=UTC)
    for number, error in ((0, "an older one"), (1, "")):
        run = NightRun.objects.create(casino=tenant.casino, gaming_day=date(2026, 11, 18 + number), started_by="beat")
        moment = started + timedelta(days=number)
        NightRun.objects.filter(pk=run.pk).update(
            started_at=moment, ended_at=moment + timedelta(seconds=41), error=error
        )
    [line] = client.get(PAGE).context["nights"]
    assert (line.last, line.night, line.error) == (
        "21 Nov, 06:00 CET",
        "Night of Thu 19 Nov ·\N{NO-BREAK SPACE}41\N{NO-BREAK SPACE}seconds",
        "",
    )
    NightRun.objects.filter(pk=run.pk).update(ended_at=moment + timedelta(milliseconds=700))
    page = client.get(PAGE)
    assert page.context["nights"][0].night.endswith("under\N{NO-BREAK SPACE}a\N{NO-BREAK SPACE}second")
    assert "every day at\N{NO-BREAK SPACE}" in page.content.decode()


def test_the_readings_show_what_is_decided_and_what_waits_for_a_second_officer() -> None:
    desk, client = RegisterDesk(), Client(headers={"accept-language": "en"})
    entry, waiting = desk.decided("payout_unit", 100), desk.proposed("payout_unit", 500)
    sign_in(client, desk.one)
    page = client.get(PAGE)
    assert [line["entry"].pk for line in page.context["register"]["shown"]] == [waiting.pk, entry.pk]
    assert (page.context["register"]["decided"], page.context["register"]["waiting"]) == (1, 1)
    assert "waits for a second officer" in page.content.decode()
