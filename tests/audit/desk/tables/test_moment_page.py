"""A table at a moment: who has what on the felt, the session's findings on its clock, and the way there by a clock."""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import pairwise

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.html import strip_tags

from audit.desk.tables.coups import coup_lines
from audit.desk.tables.course import course_of
from audit.desk.tables.moment import moments_of, span_of
from audit.event_store import read
from audit.felt.frames import MAX_FRAMES, playback_of
from audit.models import Finding, LoggedStream, Role
from audit.presentation import finding_title, local
from settlement.codec import decode_one_stored
from settlement.events import PayoutMade
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.desk.persons.test_names_on_pages import NamedNight
from tests.audit.tables import Tenant, dice_changed_in_mid_series, numbered

pytestmark = pytest.mark.django_db


def table_page(night: NamedNight, seq: int) -> str:
    return reverse("admin:audit_loggedstream_table", args=(night.stream_id,)) + f"?at={seq}"


def test_a_clock_time_leads_to_the_event_that_stood_last_then(night: NamedNight) -> None:
    reader = client_of(hired(night.tenant, Role.OFFICER, "reader"))
    stream = LoggedStream.objects.get(pk=night.stream_id)
    event = decode_one_stored(read.slice_of(night.stream_id, after=59, limit=1)[0][1])
    clock = local(event.occurred_at, night.casino).time().replace(second=0, microsecond=0)
    assert stream.table is not None
    [moment] = moments_of([stream.table], clock, streams=LoggedStream.objects.all())
    at = reverse("admin:audit_loggedstream_at")
    answer = reader.get(at, {"table": stream.table_id, "clock": f"{clock:%H:%M}"})
    assert answer.url == moment.address  # type: ignore[attr-defined]
    assert f"Table A1 at {clock:%H:%M}" in reader.get(answer.url).content.decode()  # type: ignore[attr-defined]
    shut = reader.get(at, {"table": stream.table_id, "clock": f"{clock:%H:%M}", "day": "1999-01-01"}, follow=True)
    assert "A1 has no session on that day." in shut.content.decode()
    stranger = client_of(hired(Tenant(), Role.OFFICER, "stranger"))
    assert stranger.get(at, {"table": stream.table_id, "clock": "20:00"}).status_code == 404
    assert reader.get(at, {"table": "x"}).status_code == 404


@pytest.mark.parametrize("is_before", [True, False])
def test_a_clock_time_at_which_the_table_was_closed_leads_to_the_nearer_end_and_says_so(
    night: NamedNight, is_before: bool
) -> None:
    reader = client_of(hired(night.tenant, Role.OFFICER, "reader"))
    stream = LoggedStream.objects.get(pk=night.stream_id)
    assert stream.table is not None
    last = read.next_seq_of(night.stream_id) - 1
    seq, away = (1, timedelta(minutes=-40)) if is_before else (last, timedelta(minutes=40))
    end = decode_one_stored(read.slice_of(night.stream_id, after=seq - 1, limit=1)[0][1]).occurred_at
    requested = local(end + away, night.casino)
    [moment] = moments_of([stream.table], requested.time(), streams=LoggedStream.objects.all())
    assert (moment.seq, moment.at, moment.is_open) == (seq, end, False)
    shown = reader.get(moment.address).content.decode()
    assert f"A1 was closed at {requested:%H:%M}." in shown
    assert f"Table A1 at {local(end, night.casino):%H:%M}" in shown


def test_the_page_names_who_has_money_on_the_felt_and_leads_to_the_findings(night: NamedNight) -> None:
    reader = client_of(hired(night.tenant, Role.OFFICER, "reader"))
    shown = reader.get(table_page(night, night.finding.seq - 1)).content.decode()
    assert f"/admin/audit/person/player/{night.casino.pk}/" in shown
    assert f"/admin/audit/finding/{night.finding.pk}/change/" in shown
    assert f'href="{table_page(night, night.finding.seq)}"' in shown
    auditor = client_of(hired(night.tenant, Role.AUDITOR, "auditor"))
    shown = auditor.get(table_page(night, night.finding.seq - 1)).content.decode()
    assert not any(name in shown for name in night.names)


def test_the_page_says_who_works_there_under_which_limits_and_what_each_coup_brought(night: NamedNight) -> None:
    reader = client_of(hired(night.tenant, Role.OFFICER, "reader"))
    page = reader.get(table_page(night, night.finding.seq), headers={"accept-language": "en"})
    moment, shown = page.context["moment"], page.content.decode()
    croupier = moment["duty"][0]
    assert croupier["role"] == "Croupier"
    assert f"/admin/audit/person/croupier/{night.casino.pk}/" in croupier["people"][0]["person"]
    assert str(croupier["people"][0]["person"]) in shown
    stream = LoggedStream.objects.get(pk=night.stream_id)
    course = course_of(stream)
    assert [coup.number for coup in course.coups] == list(range(1, 46))
    lines = [each["line"] for each in moment["coups"]]
    assert [line.coup.number for line in lines] == sorted((line.coup.number for line in lines), reverse=True)
    assert [each["is_current"] for each in moment["coups"]].count(True) == 1
    owing = next(line for line in lines if night.finding in line.findings)
    assert owing.staked is not None
    assert owing.paid is not None
    assert owing.stayed is not None
    assert owing.stakes
    assert owing.staked > 0
    before, after = course.around(night.finding.seq)
    for key, coup in (("k", before), ("j", after)):
        assert coup is not None
        assert f'data-key="{key}" title="{key}" href="{table_page(night, coup.seq)}"' in shown


def test_a_payout_that_is_missing_stands_at_its_coup_and_at_the_one_that_made_it_certain() -> None:
    night = NamedNight(irregularities=("payout-missing", "colour-shared"))
    finding = next(
        each
        for each in Finding.objects.standing().filter(stream_id=night.stream_id, rule="payout-missing")
        if each.facts.get("decided_seq")
    )
    reader = client_of(hired(night.tenant, Role.OFFICER, "reader"))
    page = reader.get(table_page(night, finding.seq), headers={"accept-language": "en"})
    course = course_of(LoggedStream.objects.get(pk=night.stream_id))
    about, certain = course.coup_at(finding.facts["decided_seq"]), course.coup_at(finding.seq)
    assert about is not None
    assert certain is not None
    assert about.number < certain.number
    lines = {each["line"].coup.number: each["line"] for each in page.context["moment"]["coups"]}
    assert [number for number, line in lines.items() if finding in line.findings] == [about.number]
    assert [number for number, line in lines.items() if finding in line.certain] == [certain.number]
    table = page.content.decode().split('<section class="card coups')[1].split("</section>")[0]
    words = [" ".join(strip_tags(each).split()) for each in re.findall(r"<a href=[^>]*>(.*?)</a>", table)]
    assert f"{finding_title(finding.rule)}: became certain" in words
    assert any(re.fullmatch(rf"€[\d,.]+ {finding_title(finding.rule)}", each) for each in words), "the sum of what"


def test_beside_each_clock_of_what_goes_on_stands_its_zone_and_money_is_in_words(night: NamedNight) -> None:
    reader = client_of(hired(night.tenant, Role.OFFICER, "reader"))
    page = reader.get(table_page(night, night.finding.seq - 1), headers={"accept-language": "en"})
    moment, shown = page.context["moment"], page.content.decode()
    assert re.fullmatch(r"\d\d:\d\d:\d\d CES?T", moment["last_at"])
    assert re.search(r"since \d\d:\d\d CES?T</small>", shown)
    sums = [moment["on_felt"], *(each["staked"] for each in moment["players"] if each["staked"])]
    assert len(sums) > 1
    assert not any(each.endswith(".00") for each in sums)


def test_what_each_coup_brought_adds_up_to_what_was_staked_and_paid_in_its_events(night: NamedNight) -> None:
    stream = LoggedStream.objects.get(pk=night.stream_id)
    course = course_of(stream)
    playback = playback_of(night.stream_id, 1, MAX_FRAMES)
    lines = coup_lines(playback, course, [], is_whole=False)
    assert len(lines) > 3
    events = {frame.event.seq: frame.event for frame in playback.frames}
    ends = {coup.seq: following.seq for coup, following in pairwise(course.coups)}
    for line in lines[1:]:
        first, last = line.coup.seq, ends[line.coup.seq]
        payouts = [event for seq, event in events.items() if first < seq < last and isinstance(event, PayoutMade)]
        assert line.paid == sum(each.data.winnings + each.data.stake_returned for each in payouts), line.coup.number


def test_what_a_session_does_not_report_is_called_not_reported() -> None:
    tenant = Tenant()
    assert tenant.post("s", dice_changed_in_mid_series(tenant, "s")).status_code == 201
    reader = client_of(hired(tenant, Role.OFFICER, "reader"))
    address = reverse("admin:audit_loggedstream_table", args=(tenant.stream("s").stream_id,))
    page = reader.get(address, headers={"accept-language": "en"})
    moment, shown = page.context["moment"], page.content.decode()
    assert (moment["limits"], moment["seats"], moment["equipment"], moment["is_staff_seen"]) == (None, "", [], False)
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd[^>]*>(.*?)</dd>", shown, re.DOTALL))
    for about in ("Croupier", "Chef de table", "Players seated", "Limits", "Equipment"):
        assert re.sub(r"<[^>]+>", "", facts[about]) == "not reported", about
    assert "fills and credits are not reported" in facts["Float at 20:00"]
    french = reader.get(address, headers={"accept-language": "fr"}).content.decode()
    assert "non transmis" in french


def test_staff_seats_and_fills_are_those_of_the_moment() -> None:
    tenant = Tenant()
    events = numbered(
        tenant.opener("s", observes=["staff", "seating", "bank"], seats=["S1", "S2"], croupier="anna", minimum=200),
        ("staff.assigned", {"person": "chef", "role": "chef_de_table"}),
        ("player.seated", {"player": "p1", "seat": "S1"}),
        ("bank.filled", {"amount": 100_000, "slip": "1"}),
        ("staff.relieved", {"person": "anna", "role": "croupier"}),
        ("staff.assigned", {"person": "bert", "role": "croupier"}),
        ("player.left", {"player": "p1", "seat": "S1"}),
        ("bank.credited", {"amount": 300_000, "slip": "2"}),
    )
    assert tenant.post("s", events).status_code == 201
    stream = tenant.stream("s")
    course = course_of(stream)
    early, late = course.at(4), course.at(8)
    assert (early.croupiers, early.seats, early.bank) == (("anna",), {"p1": "S1"}, 5_100_000)
    assert (late.croupiers, late.seats, late.bank) == (("bert",), {}, 4_800_000)
    assert late.in_role("chef_de_table") == ["chef"]
    span = span_of(stream.pk)
    assert span is not None
    assert span.last_seq == 8
    assert [each.croupiers for each in course.duties(span.last_at)] == [("anna",), ("bert",)]
    reader = client_of(hired(tenant, Role.OFFICER, "reader"))
    address = reverse("admin:audit_loggedstream_table", args=(stream.pk,))
    shown = reader.get(f"{address}?at=4", headers={"accept-language": "en"}).content.decode()
    assert "1 of 2 seats" in shown
    assert "from €2" in shown
    assert "€51,000" in shown


def test_the_ends_of_a_session_are_read_once(night: NamedNight, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = client_of(hired(night.tenant, Role.OFFICER, "reader"))
    reads: list[int] = []
    ends_of = read.ends_of

    def counted(stream_id: int) -> object:
        reads.append(stream_id)
        return ends_of(stream_id)

    monkeypatch.setattr(read, "ends_of", counted)
    assert reader.get(table_page(night, 60) + "&clock=20:05").status_code == 200
    assert reads == [night.stream_id]


def test_the_queries_of_the_page_are_bounded(night: NamedNight) -> None:
    reader = client_of(hired(night.tenant, Role.OFFICER, "reader"))
    page = table_page(night, night.finding.seq)
    reader.get(page)
    with CaptureQueriesContext(connection) as captured:
        assert reader.get(page).status_code == 200
    assert len(captured) <= 16
    assert sum('FROM "audit_finding"' in each["sql"] for each in captured) <= 4
