"""Alerts of tables that should report: when one is opened, when it ends, who is mailed, and who sees it."""

from __future__ import annotations

import re
import smtplib
import threading
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.exceptions import ValidationError
from django.db import IntegrityError, ProgrammingError, connections, transaction
from django.utils import timezone

from audit import monitoring, tasks
from audit.access.database_roles import WORKER
from audit.adjudication.replay import advance
from audit.desk.overview.feed import feeds_of
from audit.event_store import audit_trail
from audit.models import Alert, AlertNotice, Casino, GamingTable, NightSubscriber, Officer, Role
from audit.notifications import alert_mail, alerts
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.tables import Tenant, numbered
from tests.roles import acting_as

pytestmark = pytest.mark.django_db

MINUTES = 30


class Floor:
    """A casino whose tables are to report around the clock, and count as silent after half an hour."""

    def __init__(self, **hours: Any) -> None:
        self.tenant = Tenant(tables=("T1", "T2"))
        self.casino = self.tenant.casino
        Casino.objects.filter(pk=self.casino.pk).update(silent_after_min=MINUTES, **hours)
        self.casino.refresh_from_db()

    def opens(self, name: str = "s", *, table: str = "T1", occurred: datetime | None = None) -> None:
        """Open a session. It is read to its end, so that nothing of it waits for the law."""
        day = timezone.now().date().isoformat()
        first = self.tenant.opener(name, table=table, gaming_day=day)
        self.sends([first | {"occurred_at": _written(occurred)}])

    def sends(self, events: list[dict[str, Any]]) -> None:
        assert self.tenant.post(events[0]["stream"], events).status_code == 201
        advance(self.tenant.stream(events[0]["stream"]).stream_id)

    def goes_on(self, seq: int, kind: str = "player.left", name: str = "s", occurred: datetime | None = None) -> None:
        data = {"float": 5_000_000} if kind == "session.closed" else {"player": "Anna"}
        event = {"stream": name, "seq": seq, "type": kind, "occurred_at": _written(occurred), "data": data}
        self.sends([event])

    def alerts(self) -> list[tuple[str, str, str]]:
        """Return table, kind and why it ended of every alert, the oldest first."""
        rows = Alert.objects.filter(casino=self.casino).order_by("pk")
        return [(each.table.code, each.kind, each.ended_by) for each in rows]


def _written(occurred: datetime | None) -> str:
    return (occurred or timezone.now()).isoformat()


def after(minutes: float) -> datetime:
    return timezone.now() + timedelta(minutes=minutes)


def hour_of(moment: datetime, casino: Casino) -> time:
    """Return the clock time of a casino at an instant."""
    from audit.presentation import local

    return local(moment, casino).time().replace(microsecond=0)


# When tables are to report

PARIS_NIGHT = Casino(time_zone="Europe/Paris", reports_from=time(16), reports_until=time(4))
PARIS_DAY = Casino(time_zone="Europe/Paris", reports_from=time(9), reports_until=time(18))
REPEATED = Casino(time_zone="Europe/Paris", reports_from=time(2, 30), reports_until=time(6))
TO_REPEATED = Casino(time_zone="Europe/Paris", reports_from=time(22), reports_until=time(2, 30))

HOURS = [
    # UTC; since when the tables report. Paris is UTC+1 in winter.
    (PARIS_DAY, "2026-11-20T07:59", None),
    (PARIS_DAY, "2026-11-20T08:00", "2026-11-20T08:00"),
    (PARIS_DAY, "2026-11-20T16:59", "2026-11-20T08:00"),
    (PARIS_DAY, "2026-11-20T17:00", None),
    (PARIS_NIGHT, "2026-11-20T14:59", None),
    (PARIS_NIGHT, "2026-11-20T22:59", "2026-11-20T15:00"),
    (PARIS_NIGHT, "2026-11-20T23:30", "2026-11-20T15:00"),  # past midnight, still of the evening before
    (PARIS_NIGHT, "2026-11-21T02:59", "2026-11-20T15:00"),
    (PARIS_NIGHT, "2026-11-21T03:00", None),
    # The night of 24 to 25 October 2026 has an hour more: it begins at UTC+2 and ends at UTC+1.
    (PARIS_NIGHT, "2026-10-24T14:00", "2026-10-24T14:00"),
    (PARIS_NIGHT, "2026-10-25T02:59", "2026-10-24T14:00"),
    (PARIS_NIGHT, "2026-10-25T03:00", None),
    # 02:30 is there twice, at 00:30 and at 01:30 UTC.
    (REPEATED, "2026-10-25T00:29", None),
    (REPEATED, "2026-10-25T00:30", "2026-10-25T00:30"),
    (REPEATED, "2026-10-25T01:15", "2026-10-25T00:30"),
    (TO_REPEATED, "2026-10-25T01:29", "2026-10-24T20:00"),
    (TO_REPEATED, "2026-10-25T01:30", None),
    # On 28 March 2027 there is no 02:30; the clock goes from 01:59 to 03:00, at 01:00 UTC.
    (REPEATED, "2027-03-28T01:29", None),
    (REPEATED, "2027-03-28T01:30", "2027-03-28T01:30"),
    (TO_REPEATED, "2027-03-28T01:29", "2027-03-27T21:00"),
    (TO_REPEATED, "2027-03-28T01:30", None),
]


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(("casino", "moment", "since"), HOURS, ids=[f"{at} {c.reports_from}" for c, at, _s in HOURS])
def test_the_hours_are_of_the_casinos_clock(casino: Casino, moment: str, since: str | None) -> None:
    assert casino.reports_since(instant(moment)) == (instant(since) if since else None)


@pytest.mark.parametrize("hour", [None, time(6)])
def test_without_hours_and_between_two_that_are_the_same_tables_report_always(hour: time | None) -> None:
    casino = Casino(time_zone="Europe/Paris", reports_from=hour, reports_until=hour)
    since = casino.reports_since(instant("2026-11-20T03:00"))
    assert since is not None
    assert since < instant("2000-01-01T00:00")


def test_one_hour_without_the_other_is_refused_by_the_form_and_by_the_database() -> None:
    casino = Floor().casino
    casino.reports_from = time(9)
    with pytest.raises(ValidationError, match="both hours"):
        casino.full_clean()
    with pytest.raises(IntegrityError), transaction.atomic():
        casino.save()


# Silent


def test_a_table_is_silent_after_the_minutes_of_its_casino_and_has_one_alert_while_it_lasts() -> None:
    floor = Floor()
    floor.opens()
    assert alerts.sweep(after(MINUTES - 1)) == (0, 0)
    assert alerts.sweep(after(MINUTES + 1)) == (1, 0)
    assert alerts.sweep(after(MINUTES + 2)) == (0, 0)
    assert floor.alerts() == [("T1", "table-silent", "")]
    [alert] = Alert.objects.filter(casino=floor.casino)
    [table] = [each for each in monitoring.tables([floor.casino.pk]) if each.table == "T1"]
    assert alert.since == table.received_at
    assert monitoring.open_alerts()["table-silent"] == 1


def test_it_ends_when_events_come_again_and_another_silence_is_another_alert() -> None:
    floor = Floor()
    floor.opens()
    alerts.sweep(after(MINUTES + 1))
    floor.goes_on(2)
    assert alerts.sweep(timezone.now()) == (0, 1)
    assert floor.alerts() == [("T1", "table-silent", "events")]
    assert alerts.sweep(after(MINUTES + 1)) == (1, 0)
    assert [each[2] for each in floor.alerts()] == ["events", ""]


def test_a_closed_session_is_not_silent_and_ends_an_alert() -> None:
    floor = Floor()
    floor.opens()
    alerts.sweep(after(MINUTES + 1))
    floor.goes_on(2, "session.closed")
    assert alerts.sweep(after(MINUTES + 1)) == (0, 1)
    assert floor.alerts() == [("T1", "table-silent", "closed")]
    assert alerts.sweep(after(10 * MINUTES)) == (0, 0)


def test_a_table_without_a_session_is_not_silent() -> None:
    floor = Floor()
    assert alerts.sweep(after(10_000)) == (0, 0)
    assert floor.alerts() == []


def test_an_exempt_table_has_no_alert_and_to_exempt_it_ends_one() -> None:
    floor = Floor()
    GamingTable.objects.filter(casino=floor.casino, code="T2").update(does_not_report=True)
    floor.opens("a", table="T1")
    floor.opens("b", table="T2")
    assert alerts.sweep(after(MINUTES + 1)) == (1, 0)
    GamingTable.objects.filter(casino=floor.casino).update(does_not_report=True)
    assert alerts.sweep(after(MINUTES + 2)) == (0, 1)
    assert floor.alerts() == [("T1", "table-silent", "not-expected")]
    assert not any(each.is_silent for each in monitoring.tables([floor.casino.pk], now=after(600)))


def test_a_casino_that_says_no_minutes_has_no_alert_and_the_desk_marks_after_an_hour() -> None:
    floor = Floor()
    floor.opens()
    alerts.sweep(after(MINUTES + 1))
    Casino.objects.filter(pk=floor.casino.pk).update(silent_after_min=None)
    assert alerts.sweep(after(600)) == (0, 1)
    assert floor.alerts() == [("T1", "table-silent", "not-expected")]
    for minutes, is_silent in ((59, False), (61, True)):
        tables = {each.table: each for each in monitoring.tables([floor.casino.pk], now=after(minutes))}
        assert tables["T1"].is_silent is is_silent


def test_a_sandbox_has_no_alert() -> None:
    tenant = Tenant(is_sandbox=True)
    Casino.objects.filter(pk=tenant.casino.pk).update(silent_after_min=1)
    assert tenant.post("s", [tenant.opener("s")]).status_code == 201
    assert alerts.sweep(after(60)) == (0, 0)


def test_out_of_its_hours_a_table_is_not_silent_and_what_was_before_them_does_not_count() -> None:
    now = timezone.now()
    casino = Casino(time_zone="Europe/Paris")
    hours = {
        "reports_from": hour_of(now + timedelta(hours=2), casino),
        "reports_until": hour_of(now + timedelta(hours=4), casino),
    }
    floor = Floor(**hours)
    floor.opens()
    assert alerts.sweep(now + timedelta(hours=1)) == (0, 0), "before its hours"
    assert alerts.sweep(now + timedelta(hours=2, minutes=MINUTES - 1)) == (0, 0), "the silence before does not count"
    assert alerts.sweep(now + timedelta(hours=2, minutes=MINUTES + 1)) == (1, 0)
    [alert] = Alert.objects.filter(casino=floor.casino)
    assert alert.since == now.replace(microsecond=0) + timedelta(hours=2)
    assert alerts.sweep(now + timedelta(hours=4, minutes=1)) == (0, 1)
    assert floor.alerts() == [("T1", "table-silent", "not-expected")]
    assert alerts.sweep(now + timedelta(hours=23)) == (0, 0)


@pytest.mark.parametrize(
    ("moment", "opened"),
    [
        ("2027-10-30T23:59", 0),  # 01:59 UTC+2: the hours have not begun
        ("2027-10-31T00:29", 0),  # 02:29 UTC+2
        ("2027-10-31T00:31", 1),  # 02:31 UTC+2, half an hour after they have begun
        ("2027-10-31T01:31", 1),  # 02:31 UTC+1, the second time
        ("2027-10-31T02:29", 1),  # 03:29 UTC+1
        ("2027-10-31T02:31", 0),  # they have ended at 03:30 UTC+1
    ],
)
def test_at_the_change_of_clock_of_october_the_hours_are_those_of_the_wall(moment: str, opened: int) -> None:
    floor = Floor(reports_from=time(2), reports_until=time(3, 30))
    floor.opens()
    assert alerts.sweep(instant(moment)) == (opened, 0)


def test_the_desk_calls_silent_what_has_an_alert(monkeypatch: pytest.MonkeyPatch) -> None:
    floor = Floor()
    floor.opens()
    now = after(MINUTES + 1)
    assert [each.is_silent for each in monitoring.tables([floor.casino.pk], now=now)] == [True, False]
    monkeypatch.setattr(monitoring, "silent_after", lambda casino: timedelta(0))
    assert [each.kind for each in feeds_of(monitoring.tables([floor.casino.pk]), {})] == ["silent"]
    alerts.sweep(timezone.now())
    assert ("T1", "table-silent", "") in floor.alerts()


# Behind


def test_events_that_come_late_open_an_alert_until_some_come_in_time() -> None:
    floor = Floor()
    late = after(-MINUTES - 5)
    floor.opens(occurred=late)
    assert alerts.sweep(timezone.now()) == (1, 0)
    assert floor.alerts() == [("T1", "feed-behind", "")]
    assert Alert.objects.get(casino=floor.casino).since == late
    floor.goes_on(2, occurred=after(-MINUTES - 1))
    assert alerts.sweep(timezone.now()) == (0, 0)
    floor.goes_on(3, occurred=after(-MINUTES + 1))
    assert alerts.sweep(timezone.now()) == (0, 1)
    assert floor.alerts() == [("T1", "feed-behind", "events")]


def test_events_that_wait_for_the_law_open_an_alert_until_they_are_adjudicated() -> None:
    floor = Floor()
    floor.opens()
    event = {"stream": "s", "seq": 2, "type": "player.left", "occurred_at": _written(None), "data": {"player": "Anna"}}
    assert floor.tenant.post("s", [event]).status_code == 201
    assert alerts.sweep(after(MINUTES - 1)) == (0, 0)
    alerts.sweep(after(MINUTES + 1))
    assert ("T1", "feed-behind", "") in floor.alerts()
    advance(floor.tenant.stream("s").stream_id)
    alerts.sweep(timezone.now())
    assert ("T1", "feed-behind", "events") in floor.alerts()


def test_a_late_session_that_is_closed_has_no_alert() -> None:
    floor = Floor()
    floor.sends(numbered(floor.tenant.opener("s"), ("session.closed", {"float": 5_000_000})))
    assert alerts.sweep(timezone.now()) == (0, 0)


# Mail


def subscriber(floor: Floor, name: str, language: str = "en", **chosen: bool) -> Officer:
    officer = hired(floor.tenant, Role.OFFICER, name)
    Officer.objects.filter(pk=officer.pk).update(email=f"{name}@casino.example")
    chosen = {"receives_alerts": True, **chosen}
    NightSubscriber.objects.create(casino=floor.casino, officer=officer, language=language, **chosen)
    officer.refresh_from_db()
    return officer


def mailed() -> int:
    """Mail what is due, as the tasks do."""
    return sum(alert_mail.send(*each) for each in alert_mail.officers_to_mail(timezone.now()))


def test_subscribers_of_alerts_are_mailed_once_of_each_several_in_one_message() -> None:
    floor = Floor()
    subscriber(floor, "anna")
    subscriber(floor, "nights-alone", receives_alerts=False)
    subscriber(Floor(), "elsewhere")
    floor.opens("a", table="T1")
    floor.opens("b", table="T2")
    alerts.sweep(after(MINUTES + 1))
    assert (mailed(), mailed()) == (2, 0)
    [message] = mail.outbox
    assert message.to == ["anna@casino.example"]
    assert message.subject == f"2 alerts, {floor.casino.name}"
    assert "Table T1 is silent" in message.body
    assert "Table T2 is silent" in message.body
    floor.goes_on(2, name="a")
    alerts.sweep(timezone.now())
    mailed()
    floor.goes_on(2, name="b")


def test_a_message_that_cannot_list_every_alert_says_of_how_many_and_the_next_lists_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    floor = Floor()
    subscriber(floor, "anna", language="fr")
    floor.opens("a", table="T1")
    floor.opens("b", table="T2")
    alerts.sweep(after(MINUTES + 1))
    monkeypatch.setattr(alert_mail, "AT_ONCE", 1)
    waiting = alert_mail.waiting_since(timezone.now(), {floor.casino.pk})
    assert len(waiting) == 2, "what waits is counted, not what is sent at once"
    assert (mailed(), mailed(), mailed()) == (1, 1, 0)
    first, second = mail.outbox
    assert first.subject == f"2 alertes, {floor.casino.name}"
    assert "Ce message en contient 1 sur 2. Le reste suit dans un autre message." in first.body
    assert [each.body.count("est muette") for each in mail.outbox] == [1, 1]
    assert "Ce message" not in second.body


def test_an_alert_waits_for_nobody_who_may_receive_none_any_more() -> None:
    floor = Floor()
    anna, bob = subscriber(floor, "anna"), subscriber(floor, "bob")
    floor.opens("a")
    alerts.sweep(after(MINUTES + 1))
    assert len(alert_mail.waiting_since(timezone.now(), {floor.casino.pk})) == 2
    anna.memberships.all().delete()
    assert len(alert_mail.waiting_since(timezone.now(), {floor.casino.pk})) == 1
    bob.memberships.all().delete()
    assert alert_mail.waiting_since(timezone.now(), {floor.casino.pk}) == []


def test_an_end_is_mailed_too_in_the_language_of_the_subscription() -> None:
    floor = Floor()
    subscriber(floor, "anne", "fr")
    floor.opens()
    alerts.sweep(after(MINUTES + 1))
    mailed()
    floor.goes_on(2)
    alerts.sweep(timezone.now())
    mailed()
    opened, ended = mail.outbox
    assert opened.subject == f"La table T1 est muette, {floor.casino.name}"
    assert ended.subject == f"Alerte terminée : la table T1 était muette, {floor.casino.name}"
    assert "les événements arrivent de nouveau à temps" in ended.body


def test_what_the_mail_server_refuses_is_tried_again_after_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    floor = Floor()
    subscriber(floor, "anna")
    floor.opens()
    alerts.sweep(after(MINUTES + 1))

    def refuse(message: Any) -> None:
        raise smtplib.SMTPServerDisconnected("gone")

    with monkeypatch.context() as patched:
        patched.setattr("django.core.mail.EmailMessage.send", refuse)
        assert mailed() == 0
    [notice] = AlertNotice.objects.filter(alert__casino=floor.casino)
    assert (notice.sent_at, notice.failures) == (None, 1)
    assert mailed() == 0, "before its pause is over"
    AlertNotice.objects.update(next_try_at=timezone.now())
    assert mailed() == 1
    assert len(mail.outbox) == 1


def test_who_has_no_role_there_any_more_or_has_unsubscribed_is_not_mailed() -> None:
    floor = Floor()
    gone, unsubscribed = subscriber(floor, "gone"), subscriber(floor, "unsubscribed")
    floor.opens()
    alerts.sweep(after(MINUTES + 1))
    gone.memberships.all().delete()
    NightSubscriber.objects.filter(officer=unsubscribed).delete()
    assert mailed() == 0
    assert mail.outbox == []


def test_what_is_days_old_is_not_mailed_to_who_gets_an_address_later() -> None:
    floor = Floor()
    officer = subscriber(floor, "anna")
    floor.opens()
    alerts.sweep(after(MINUTES + 1))
    for days, is_mailed in ((2, True), (4, False)):
        to_mail = alert_mail.officers_to_mail(timezone.now() + timedelta(days=days))
        assert ((officer.pk, floor.casino.pk) in to_mail) is is_mailed


def test_opening_and_end_are_entries_of_the_audit_trail() -> None:
    floor = Floor()
    floor.opens()
    alerts.sweep(after(MINUTES + 1))
    floor.goes_on(2)
    alerts.sweep(timezone.now())
    entries = audit_trail.entries_of(floor.casino.pk, timezone.now().date())
    found = [(each.type, each.actor, each.data["table"]) for each in entries if each.type.startswith("alert.")]
    assert found == [("alert.opened", "system", "T1"), ("alert.ended", "system", "T1")]


def test_a_worker_may_do_all_of_it_and_change_nothing_that_an_alert_says(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(tasks.notify_alert_mail, "delay", lambda **named: sent.append(named))
    floor = Floor()
    officer = subscriber(floor, "anna")
    floor.opens(occurred=after(-MINUTES - 1))
    with acting_as(WORKER):
        assert tasks.notify_alerts() == (1, 0)
        assert sent == [{"officer_id": officer.pk, "casino_id": floor.casino.pk}]
        assert tasks.notify_alert_mail(**sent[0]) == 1
    floor.goes_on(2)
    with acting_as(WORKER):
        assert tasks.notify_alerts() == (0, 1)
        for statement in ({"since": timezone.now()}, {"opened_at": timezone.now()}, {"kind": "table-silent"}):
            with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
                Alert.objects.update(**statement)
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            Alert.objects.all()._raw_delete("default")


# At the desk

RECORD = "/admin/state/"


def page(client: Any, address: str, language: str = "en") -> str:
    response = client.get(address, headers={"accept-language": language})
    assert response.status_code == 200
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def test_the_first_page_and_the_record_show_the_alerts_of_ones_own_casinos_alone() -> None:
    floor, other = Floor(), Floor()
    client = client_of(hired(floor.tenant, Role.OFFICER, "anna"))
    elsewhere = client_of(hired(other.tenant, Role.OFFICER, "bert"))
    floor.opens()
    alerts.sweep(after(MINUTES + 1))
    assert "1 table alert" in page(client, "/admin/")
    assert re.search(r"Table alerts .* T1 silent .* not yet", page(client, RECORD))
    assert "table alert" not in page(elsewhere, "/admin/")
    assert "Table alerts" not in page(elsewhere, RECORD)
    assert "Alertes des tables" in page(client, RECORD, "fr")
    floor.goes_on(2)
    alerts.sweep(timezone.now())
    assert "table alert" not in page(client, "/admin/")
    assert "events arrive on time again" in page(client, RECORD)
    Alert.objects.filter(casino=floor.casino).update(ended_at=timezone.now() - timedelta(days=2))
    assert "Table alerts" not in page(client, RECORD)


def test_an_administrator_sets_hours_minutes_and_exemptions_each_with_its_entry() -> None:
    floor = Floor()
    client = client_of(hired(floor.tenant, Role.ADMINISTRATOR, "karl"))
    form = {"cutoff": "06:00", "reports_from": "15:00", "reports_until": "04:00", "silent_after_min": "20"}
    answer = client.post(f"/admin/audit/casino/{floor.casino.pk}/change/", form)
    assert answer.status_code == 302, answer.content
    floor.casino.refresh_from_db()
    assert (floor.casino.reports_from, floor.casino.reports_until) == (time(15), time(4))
    assert floor.casino.silent_after_min == 20
    table = floor.tenant.table
    client.post(f"/admin/audit/gamingtable/{table.pk}/change/", {"name": "", "does_not_report": "on"})
    table.refresh_from_db()
    assert table.does_not_report
    entries = audit_trail.entries_of(floor.casino.pk, timezone.now().date())
    changed = {each.type: each.data["fields"] for each in entries if each.type.endswith(".changed")}
    assert len(changed["casino.changed"]) == 3
    assert len(changed["gamingtable.changed"]) == 1
    wrong = client.post(f"/admin/audit/casino/{floor.casino.pk}/change/", {**form, "reports_until": ""})
    assert "Enter both hours" in wrong.content.decode()
    zero = client.post(f"/admin/audit/casino/{floor.casino.pk}/change/", {**form, "silent_after_min": "0"})
    assert zero.status_code == 200


@pytest.mark.django_db(transaction=True)
def test_two_sweeps_at_once_open_and_end_an_alert_once() -> None:
    floor = Floor()
    subscriber(floor, "anna")
    floor.opens()

    def at_once(now: datetime) -> list[tuple[int, int]]:
        """Sweep in two threads, both of which have looked before either writes."""
        both_have_looked = threading.Barrier(2, timeout=20)
        results: list[tuple[int, int]] = []

        def run() -> None:
            try:
                results.append(alerts.sweep(now))
            finally:
                connections.close_all()

        with pytest.MonkeyPatch.context() as patched:
            for name in ("_open", "_end"):
                patched.setattr(alerts, name, _together(getattr(alerts, name), both_have_looked))
            threads = [threading.Thread(target=run) for _ in range(2)]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
        return sorted(results)

    assert at_once(after(MINUTES + 1)) == [(0, 0), (1, 0)]
    assert floor.alerts() == [("T1", "table-silent", "")]
    floor.goes_on(2)
    assert at_once(timezone.now()) == [(0, 0), (0, 1)]
    assert AlertNotice.objects.filter(alert__casino=floor.casino).count() == 2
    Casino.objects.filter(pk=floor.casino.pk).update(silent_after_min=None)


def _together(write: Any, barrier: threading.Barrier) -> Any:
    def wait_and_write(*args: Any) -> Any:
        barrier.wait()
        return write(*args)

    return wait_and_write
