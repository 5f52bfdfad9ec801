"""Nights with corrections that wait: the figures are without them, and a line says so in every form of the report."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit.corrections import decisions
from audit.models import LoggedStream, NightReport, SessionFigures
from audit.reconciliation import runs
from audit.reconciliation.pdf import as_pdf
from audit.reconciliation.presentation import waiting_note
from audit.reconciliation.sheets import as_json, as_xlsx, sheet_named
from tests.audit.corrections.corrections_desk import CORRECTION, CorrectionsDesk, replayed
from tests.audit.reconciliation.played import DAY, MORNING, count, record
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.django_db

GAIN = {"W_rec": 200, "W_adj": -234, "W_acct": 0}
"""What the correction of ``CorrectionsDesk.session`` adds to the wins of the house, counted by hand.

A right bet on six pays 7 to 6. Without it: stake 10.00, due 11.66, paid 14.00 and 2.00 too much of the stake, so the
rules give −11.66 and the record −16.00. With it: stake 12.00, due and paid 14.00, so both give −14.00.
"""


@pytest.fixture
def desk() -> CorrectionsDesk:
    return CorrectionsDesk()


def reconciled(desk: CorrectionsDesk) -> NightReport:
    seal()
    (report,) = runs.reconcile(desk.casino, DAY, actor="test", now=MORNING)
    return report


def wins(report: NightReport) -> tuple[int, int]:
    total = report.parsed_content()["total"]
    return total["W_rec"], total["W_adj"]


def test_the_figures_are_without_what_waits_and_say_what_it_would_change(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    report = reconciled(desk)
    assert wins(report) == (-1600, -1166)
    row = {"stream": "s", "stream_id": stream_id, "table": "T1", "seqs": [CORRECTION], **GAIN}
    assert report.parsed_content()["waiting"] == [row]
    assert json.loads(as_json(report))["waiting"] == [row]
    assert waiting_note(report.parsed_content()) == (
        "1 correction waits for two officers. The figures leave it out; with it: "
        "Recorded win +€2, Adjudicated win −€2.34."
    )


def test_approved_the_night_is_due_again_and_its_figures_are_with_it(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    reconciled(desk)
    assert (desk.casino, DAY) not in runs.due(MORNING)
    desk.approved(stream_id)
    replayed(stream_id)
    assert (desk.casino, DAY) in runs.due(timezone.now())
    second = reconciled(desk)
    assert (second.version, wins(second), second.parsed_content()["waiting"]) == (2, (-1400, -1400), [])
    reasons = {reason for row in second.sheet for reason in row["reasons"]}
    assert reasons == {f"approved: #6 ({desk.officer.username}, {desk.second.username})"}
    assert (desk.casino, DAY) not in runs.due(timezone.now())
    assert SessionFigures.objects.filter(stream=stream_id).count() == 2


def test_refused_the_line_goes_and_the_figures_stay(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    reconciled(desk)
    desk.refused(stream_id)
    assert (desk.casino, DAY) in runs.due(timezone.now())
    second = reconciled(desk)
    assert (second.version, wins(second), second.parsed_content()["waiting"]) == (2, (-1600, -1166), [])
    assert waiting_note(second.parsed_content()) == ""
    assert (desk.casino, DAY) not in runs.due(timezone.now())


def test_one_countersignature_makes_no_night_due(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    first = reconciled(desk)
    decisions.countersign(desk.officer, LoggedStream.objects.get(pk=stream_id), CORRECTION, reason="seen")
    assert (desk.casino, DAY) not in runs.due(timezone.now())
    assert reconciled(desk) == first


def test_page_paper_and_workbook_say_it_in_both_languages(desk: CorrectionsDesk, tmp_path: Path) -> None:
    desk.session("s")
    report = reconciled(desk)
    client = Client()
    client.force_login(desk.second)
    address = f"/admin/audit/nightreport/{report.pk}/change/"
    english = client.get(address, headers={"accept-language": "en"}).content.decode()
    assert "1 correction waits for two officers" in english
    french = client.get(address, headers={"accept-language": "fr"}).content.decode()
    assert "1 correction attend deux agents" in french
    sheet = sheet_named(report, "waiting")
    assert sheet is not None
    assert [list(row) for row in sheet.rows] == [["s", "T1", "6", *GAIN.values()]]
    with zipfile.ZipFile(io.BytesIO(as_xlsx(report))) as workbook:
        assert b"waiting" in workbook.read("xl/workbook.xml")
    if shutil.which("pdftotext") is not None:
        for language, words in (
            ("en", "1 correction waits for two officers"),
            ("fr", "1 correction attend deux agents"),
        ):
            assert words in _text_of(as_pdf(report, language), tmp_path)  # type: ignore[arg-type]


def _text_of(pdf: bytes, folder: Path) -> str:
    (folder / "night.pdf").write_bytes(pdf)
    text = subprocess.run(["pdftotext", "night.pdf", "-"], cwd=folder, check=True, capture_output=True).stdout.decode()
    return " ".join(text.split())


def test_a_recount_takes_effect_at_once_even_where_no_worker_has_read_the_count(desk: CorrectionsDesk) -> None:
    desk.session("s")
    entries: list[dict[str, Any]] = count(desk.casino, {"s": 5_000}, closed=False)
    recounted = {"session": "s", "amount": 6_000, "counted_by": ["Ida", "Max"]}
    correction = {"corrects": 2, "data": recounted, "reason": "a note stuck", "approved_by": "chief"}
    entries.append({**entries[-1], "seq": 3, "type": "entry.corrected", "data": correction})
    record(desk.casino, entries)
    report = reconciled(desk)
    assert report.parsed_content()["total"]["D"] == 6_000


def test_a_closing_float_that_is_corrected_after_the_close_waits_for_the_next_opening_too(
    desk: CorrectionsDesk,
) -> None:
    closed = ("session.closed", {"float": 5_000_000})
    correction = {"corrects": 7, "data": {"float": 4_000_000}, "reason": "r", "approved_by": "chief"}
    stream_id = desk.session("s", closed, ("entry.corrected", correction))
    desk.session("t", table="T1", float=5_000_000)
    first = reconciled(desk)

    def opener_line(report: NightReport) -> str:
        line = next(each for each in report.parsed_content()["lines"] if each["code"] == "opener")
        return str(next(row["verdict"] for row in line["rows"] if row["stream"] == "t"))

    assert opener_line(first) == "agrees"
    desk.approved(stream_id, 8)
    replayed(stream_id)
    assert opener_line(reconciled(desk)) == "differs"
    assert (desk.casino, DAY) not in runs.due(timezone.now() + timedelta(seconds=1))
