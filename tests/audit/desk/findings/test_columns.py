"""The columns of the findings list are those of its export: the same headings, the same order, the same texts."""

from __future__ import annotations

import csv
import io
import re

import pytest
from django.utils import translation
from django.utils.text import capfirst

from audit.desk.findings.columns import LIST_COLUMNS, ON_SCREEN
from audit.exports.findings import COLUMNS
from tests.audit.casework.test_actions import Desk, client_of

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_column_has_the_same_heading_and_text_on_screen_and_in_a_file(language: str) -> None:
    desk = Desk()
    desk.proposed_by(desk.first)
    client, headers = client_of(desk.first), {"accept-language": language}
    page = client.get("/admin/audit/finding/", headers=headers).content.decode()
    file = client.post("/admin/audit/finding/export/csv/", headers=headers).content.decode()
    with translation.override(language):
        headings = {name: str(column.heading) for name, column in COLUMNS.items()}
    rows = list(csv.DictReader(io.StringIO(file)))
    assert list(rows[0]) == list(headings.values())
    for name in LIST_COLUMNS:
        in_head = re.search(rf'<th[^>]*column-{name}.*?<div class="text">(.*?)</div>', page, re.DOTALL)
        assert in_head is not None, name
        assert _text(in_head[1]) == capfirst(headings[name])
    for row in rows:
        line = re.search(rf"<tr>(?:(?!</tr>).)*/finding/{row[headings['id']]}/change/.*?</tr>", page, re.DOTALL)
        assert line is not None
        for name in LIST_COLUMNS.keys() - {"occurred", "deadline"}:
            cell = re.search(rf'class="field-{name}[^"]*">(.*?)</t[dh]>', line[0], re.DOTALL)
            assert cell is not None, name
            assert _text(cell[1]) == row[headings[name]], name


def _text(markup: str) -> str:
    return re.sub(r"<[^>]+>", "", markup).strip()


def test_a_column_is_sorted_by_the_field_of_its_definition() -> None:
    client = client_of(Desk().first)
    for index, name in enumerate(LIST_COLUMNS, start=1):
        page = client.get(f"/admin/audit/finding/?o={index}")
        listed = page.context["cl"]
        assert str(listed.get_ordering(page.wsgi_request, listed.root_queryset)[0]) == COLUMNS[name].ordering, name


def test_what_looks_different_on_screen_is_a_column_of_the_list() -> None:
    assert set(ON_SCREEN) <= set(LIST_COLUMNS)
