"""The inbox: what waits for one officer, by whose act, and until when; hand-over notes; the digest of a morning."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.db import connection
from django.utils import timezone

from audit.access.database_roles import WEB
from audit.casework import actions, inbox, shift_notes
from audit.event_store import audit_trail
from audit.models import Case, CaseContacts, Finding, InboxDigest, Membership, Officer, Role, ShiftNote
from audit.notifications import inbox_mail
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.tables import Tenant
from tests.roles import acting_as

pytestmark = pytest.mark.django_db

ENGLISH = {"accept-language": "en"}
PAGE = "/admin/inbox/"


def kinds(desk: Desk, officer: Officer, now: datetime | None = None) -> dict[str, list[int]]:
    """Return the cases in the inbox of an officer by kind, without the dates of the findings, which are long ago."""
    found = inbox.lines_of(officer, [desk.tenant.casino.pk], now or timezone.now())
    return {kind: [line.finding.case_id or 0 for line in lines] for kind, lines in found.items()}


def noted(desk: Desk, text: str) -> None:
    actions.perform(desk.case.pk, desk.second, "comment", reason=text)


def test_a_note_with_an_officers_name_is_in_their_inbox_until_they_act_on_the_case(desk: Desk) -> None:
    assert kinds(desk, desk.first) == {}
    noted(desk, f"please look, @{desk.first.username}.")
    assert kinds(desk, desk.first) == {"mentioned": [desk.case.pk]}
    assert kinds(desk, desk.second) == {}, "not one's own note"
    actions.perform(desk.case.pk, desk.first, "comment", reason="seen")
    assert kinds(desk, desk.first) == {}


@pytest.mark.parametrize("text", ["{name}", "@{name}-2", "@{name}.b", "x@{name}", "@{name}_", "@@{name}x", "@ {name}"])
def test_what_only_looks_like_a_mention_is_none(desk: Desk, text: str) -> None:
    noted(desk, text.format(name=desk.first.username))
    assert kinds(desk, desk.first) == {}


@pytest.mark.parametrize("text", ["@{name}", "(@{name})", "ask @{name}, now", "see\n@{name}\n", "@{name}: look"])
def test_a_mention_stands_anywhere_in_a_text(desk: Desk, text: str) -> None:
    noted(desk, text.format(name=desk.first.username))
    assert kinds(desk, desk.first) == {"mentioned": [desk.case.pk]}


def test_an_earlier_action_is_looked_for_of_what_decides_or_reopens_alone(desk: Desk) -> None:
    """Every page counts the inbox: of hundreds of other actions a week, none may be compared with all the others."""
    noted(desk, "seen")
    searched = inbox.actions_of_others(desk.first, timezone.now()).explain(analyze=True, format="json")
    nodes = subplans(json.loads(searched)[0]["Plan"])
    assert [each["Actual Loops"] for each in nodes] == [0, 0]
    actions.perform(desk.case.pk, desk.second, "propose", reason="seen", outcome="explained")
    actions.perform(desk.case.pk, desk.third, "approve")
    searched = inbox.actions_of_others(desk.first, timezone.now()).explain(analyze=True, format="json")
    assert sum(each["Actual Loops"] for each in subplans(json.loads(searched)[0]["Plan"])) == 1, "of the closing"


def subplans(node: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the subqueries of a plan of PostgreSQL that are asked anew for each row."""
    own = [node] if node.get("Parent Relationship") == "SubPlan" else []
    return own + [each for child in node.get("Plans", ()) for each in subplans(child)]


def test_what_others_assign_decide_and_reopen_is_in_the_inbox(desk: Desk) -> None:
    pk = desk.case.pk
    actions.perform(pk, desk.second, "assign", assignee=desk.first)
    assert kinds(desk, desk.first) == {"assigned": [pk]}
    actions.perform(pk, desk.first, "propose", reason="seen", outcome="explained")
    assert kinds(desk, desk.first) == {}
    actions.perform(pk, desk.second, "send_back", reason="which camera?")
    assert kinds(desk, desk.first) == {"decided": [pk]}
    actions.perform(pk, desk.first, "propose", reason="camera 2", outcome="explained")
    actions.perform(pk, desk.second, "approve")
    assert kinds(desk, desk.first) == {"decided": [pk]}
    actions.perform(pk, desk.third, "reopen", reason="another witness")
    assert kinds(desk, desk.first)["reopened"] == [pk]
    assert kinds(desk, desk.second) == {"reopened": [pk]}
    later = timezone.now() + inbox.SHOWN_FOR + timedelta(minutes=1)
    assert not {"reopened", "decided"} & kinds(desk, desk.first, later).keys()


def test_a_case_is_due_on_the_gaming_day_of_its_deadline_and_its_video_is_named_before_its_end(desk: Desk) -> None:
    actions.perform(desk.case.pk, desk.first, "take")
    casino = desk.tenant.casino
    end = inbox.end_of_day(casino, desk.case.deadline)
    today, before = end - timedelta(minutes=1), desk.case.deadline - timedelta(days=2)
    assert kinds(desk, desk.first, today)["due"] == [desk.case.pk]
    assert "due" not in kinds(desk, desk.first, before)
    finding = desk.findings[0]
    until = finding.occurred_at + timedelta(days=7)
    assert kinds(desk, desk.first, until - timedelta(hours=1)).get("video") == [desk.case.pk]
    for other in (until + timedelta(hours=1), until - inbox.VIDEO_ENDS_WITHIN - timedelta(hours=1)):
        assert "video" not in kinds(desk, desk.first, other)
    CaseContacts.objects.create(casino=casino, video_room="video@casino.example")
    actions.perform(desk.case.pk, desk.first, "ask_video")
    assert "video" not in kinds(desk, desk.first, until - timedelta(hours=1)), "it was asked for"


def test_the_inbox_of_another_casino_is_not_shown(desk: Desk) -> None:
    other = Desk()
    Membership.objects.create(officer=desk.first, casino=other.tenant.casino, role=Role.OFFICER)
    actions.perform(other.case.pk, other.second, "comment", reason=f"@{desk.first.username}")
    officer = Officer.objects.get(pk=desk.first.pk)
    both = [desk.tenant.casino.pk, other.tenant.casino.pk]
    assert inbox.lines_of(officer, both, timezone.now()).keys() == {"mentioned"}
    Membership.objects.get(officer=desk.first, casino=other.tenant.casino).delete()
    assert inbox.lines_of(Officer.objects.get(pk=desk.first.pk), both, timezone.now()) == {}


def test_the_page_shows_the_lines_and_the_navigation_their_number(desk: Desk) -> None:
    noted(desk, f"<b>look</b> @{desk.first.username}")
    page = client_of(desk.first).get(PAGE, headers=ENGLISH).content.decode()
    assert "&lt;b&gt;look&lt;/b&gt;" in page
    assert f"{desk.second.username} added a note" in page
    assert f"/admin/audit/finding/{desk.findings[0].pk}/change/" in page
    assert re.search(r">Inbox<b[^>]*>1</b></a>", page)
    assert client_of(desk.third).get(PAGE, headers=ENGLISH).content.decode().count("Nothing waits for you.") == 1
    for officer in (desk.auditor, desk.administrator):
        assert client_of(officer).get(PAGE).status_code == 403


def test_a_hand_over_note_is_read_by_the_next_shift_and_is_an_entry_of_the_trail(desk: Desk) -> None:
    casino = desk.tenant.casino
    form = {"casino": str(casino.pk), "text": "table <T1>: dice changed"}
    page = client_of(desk.first).post(PAGE, form, follow=True, headers=ENGLISH).content.decode()
    assert "The note is there for the next shift." in page
    shown = client_of(desk.second).get(PAGE, headers=ENGLISH).content.decode()
    assert "table &lt;T1&gt;: dice changed" in shown
    assert desk.first.username in shown
    note = ShiftNote.objects.get()
    [entry] = [
        each
        for each in audit_trail.entries_of(casino.pk, timezone.now().date())
        if each.type == shift_notes.HANDED_OVER
    ]
    assert (entry.actor, entry.reason, entry.data["shift_note"]) == (desk.first.username, note.text, note.pk)
    with time_machine.travel(timezone.now() + shift_notes.SHOWN_FOR + timedelta(minutes=1)):
        notes = ShiftNote.objects.all()
        assert not shift_notes.recent(notes, timezone.now()).exists()


def test_nobody_hands_over_at_a_casino_that_is_not_theirs_or_without_words(desk: Desk) -> None:
    stranger = hired(Tenant(), Role.SECOND, "stranger")
    form = {"casino": str(desk.tenant.casino.pk), "text": "hello"}
    assert client_of(stranger).post(PAGE, form).status_code == 404
    for officer in (desk.auditor, desk.administrator):
        assert client_of(officer).post(PAGE, form).status_code == 403
        with pytest.raises(actions.ActionRefused):
            shift_notes.hand_over(officer, desk.tenant.casino, "hello")
    for sent in ("", "x", "9" * 30):
        assert client_of(desk.first).post(PAGE, {**form, "casino": sent}).status_code == 404
    page = client_of(desk.first).post(PAGE, {**form, "text": " \0 "}, follow=True, headers=ENGLISH).content.decode()
    assert "Write the note." in page
    assert not ShiftNote.objects.exists()
    shift_notes.hand_over(desk.first, desk.tenant.casino, "secret of this casino")
    assert "secret of this casino" not in client_of(stranger).get(PAGE).content.decode()


def test_no_web_server_changes_or_deletes_a_hand_over_note(desk: Desk) -> None:
    note = shift_notes.hand_over(desk.first, desk.tenant.casino, "dice changed")
    for statement in ("update audit_shiftnote set text = 'x'", "delete from audit_shiftnote"):
        with acting_as(WEB), pytest.raises(Exception, match="permission denied"), connection.cursor() as cursor:
            cursor.execute(f"savepoint attack; {statement}")
        with connection.cursor() as cursor:
            cursor.execute("rollback to savepoint attack")
    note.refresh_from_db()
    assert note.text == "dice changed"


@pytest.fixture
def morning(desk: Desk) -> datetime:
    """Return an instant a quarter of an hour into a gaming day of the casino, with something in an inbox."""
    desk.first.email = "first@casino.example"
    desk.first.save(update_fields=["email"])
    noted(desk, f"call Inès, @{desk.first.username}")
    casino = desk.tenant.casino
    return casino.cutoff_at(casino.gaming_day_at(timezone.now()) + timedelta(days=1)) + timedelta(minutes=15)


def test_the_digest_of_a_morning_is_mailed_once_and_names_nobody(desk: Desk, morning: datetime) -> None:
    both = (desk.first.pk, desk.tenant.casino.pk)
    assert both in inbox_mail.waiting(morning)
    assert inbox_mail.send(*both, morning) == 1
    [message] = mail.outbox
    assert message.to == ["first@casino.example"]
    assert "1 ligne" in message.subject or "1 line" in message.subject
    assert "Inès" not in str(message.body), "a note may hold a name"
    assert both not in inbox_mail.waiting(morning)
    assert inbox_mail.send(*both, morning) == 0
    assert len(mail.outbox) == 1
    assert both in inbox_mail.waiting(morning + timedelta(days=1))


def test_no_digest_is_sent_at_noon_without_an_address_or_to_who_has_no_part_in_cases(
    desk: Desk, morning: datetime
) -> None:
    casino = desk.tenant.casino.pk
    assert [pk for pk, of in inbox_mail.waiting(morning) if of == casino] == [desk.first.pk]
    assert [each for each in inbox_mail.waiting(morning + inbox_mail.MORNING) if each[1] == casino] == []


def test_a_digest_with_nothing_in_it_is_not_mailed_and_not_looked_for_again(desk: Desk, morning: datetime) -> None:
    actions.perform(desk.case.pk, desk.first, "comment", reason="seen")
    assert inbox_mail.send(desk.first.pk, desk.tenant.casino.pk, morning) == 0
    assert mail.outbox == []
    assert InboxDigest.objects.filter(officer=desk.first).exists()


def test_a_digest_that_no_server_takes_is_tried_again(
    desk: Desk, morning: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> int:
        raise OSError("no route")

    with monkeypatch.context() as patched:
        patched.setattr("django.core.mail.EmailMessage.send", refuse)
        assert inbox_mail.send(desk.first.pk, desk.tenant.casino.pk, morning) == 0
    assert not InboxDigest.objects.exists()
    assert inbox_mail.send(desk.first.pk, desk.tenant.casino.pk, morning) == 1


def test_a_case_whose_finding_stands_no_more_is_not_listed(desk: Desk) -> None:
    noted(desk, f"@{desk.first.username}")
    assert Case.objects.filter(pk=desk.case.pk).exists()
    Finding.objects.filter(case=desk.case).update(status="superseded", superseded_at=datetime.now(UTC))
    assert kinds(desk, desk.first) == {}
