"""The columns of the findings list: an export has all of them, and the headings of a list sort it by theirs."""

from __future__ import annotations

import csv
import io
import re

import pytest
from django.utils import translation

from audit.desk.findings.columns import HEADINGS, LIST_COLUMNS, UNSORTED
from audit.exports.findings import COLUMNS
from tests.audit.casework.test_actions import Desk, client_of

pytestmark = pytest.mark.django_db

LIST = "/admin/audit/finding/"


@pytest.mark.parametrize("language", ["en", pytest.param("fr", marks=pytest.mark.faults)])
def test_a_file_has_every_column_under_its_heading(desk: Desk, language: str) -> None:
    desk.proposed_by(desk.first)
    file = client_of(desk.first).post(f"{LIST}export/csv/", headers={"accept-language": language}).content.decode()
    with translation.override(language):
        headings = {name: str(column.heading) for name, column in COLUMNS.items()}
    assert next(csv.reader(io.StringIO(file))) == list(headings.values())


def test_a_column_is_sorted_by_the_field_of_its_definition(desk: Desk) -> None:
    client = client_of(desk.first)
    for index, name in enumerate(LIST_COLUMNS, start=1):
        page = client.get(f"{LIST}?o={index}")
        listed = page.context["cl"]
        assert str(listed.get_ordering(page.wsgi_request, listed.root_queryset)[0]) == COLUMNS[name].ordering, name


@pytest.mark.parametrize("who", [pytest.param("first", marks=pytest.mark.faults), "auditor"])
def test_the_headings_of_a_list_sort_it(desk: Desk, who: str) -> None:
    client = client_of(getattr(desk, who))  # an auditor has no boxes, so that the columns are numbered from 0
    page = client.get(LIST, headers={"accept-language": "en"})
    links = {str(each["text"]): each.get("url_primary", "") for each in page.context["headings"]}
    assert list(links) == [
        *("Priority", "Finding", "Money", "Table", "Croupier", "Happened", "Deadline", "Officer, state"),
    ]
    for name, text in HEADINGS.items():
        if name in UNSORTED:
            assert links[str(text)] == ""
            continue
        sorted_page = client.get(LIST + links[str(text)])
        listed = sorted_page.context["cl"]
        ordering = listed.get_ordering(sorted_page.wsgi_request, listed.root_queryset)
        assert str(ordering[0]) == COLUMNS[name].ordering, name
        assert [str(each["text"]) for each in sorted_page.context["headings"] if each.get("sorted")] == [str(text)]
        (of_heading,) = re.findall(
            r'<th scope="col" class="(?:num )?sorted ascending">.*?</th>', sorted_page.content.decode(), re.DOTALL
        )
        assert f">{text}</a>" in of_heading


def test_the_headings_of_a_queue_sort_nothing_for_its_order_is_that_of_its_groups(desk: Desk) -> None:
    page = client_of(desk.first).get(LIST, {"queue": "open"})
    assert not any(each["sortable"] for each in page.context["headings"])
