"""What officers and tables write from right to left, or with controls of the direction, turns no sentence round."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from html.parser import HTMLParser

import pytest
from django.test import Client

from audit.casework import session_closing
from audit.desk.writing_direction import in_order
from audit.models import Casino, GamingTable, Officer, Person, PersonKind
from audit.presentation import isolated
from audit.reconciliation import runs
from tests.audit.casework.test_actions import Desk, client_of

HEBREW, ARABIC, TURNED = "דוד כהן", "ليلى", "reg\u202eularity\u2066 x\u2069\u2069"

TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI"}
STRONG = {"R", "AL"}


class Texts(HTMLParser):
    """The pieces of text of a page, without what is in scripts and text areas."""

    def __init__(self) -> None:
        super().__init__()
        self.within: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style", "textarea"):
            self.within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.within and self.within[-1] == tag:
            self.within.pop()

    def handle_data(self, data: str) -> None:
        if not self.within:
            self.texts.append(data)


def turning(page: str) -> Iterator[str]:
    """Yield the pieces of text in which a letter from right to left is not isolated, or a control stands."""
    reader = Texts()
    reader.feed(page)
    for text in reader.texts:
        outside = re.sub("\u2068[^\u2066-\u2069\u202a-\u202e]*\u2069", "", text)
        kinds = {unicodedata.bidirectional(each) for each in outside}
        if kinds & (TURNS | STRONG | {"FSI", "PDI"}):
            yield text


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>Approved by Ann, 21:00</p>", "<p>Approved by Ann, 21:00</p>"),
        ("<p>by דוד כהן, 21:00</p>", "<p>by \u2068דוד כהן\u2069, 21:00</p>"),
        ("<p>\u2068דוד\u2069 (p1)</p>", "<p>\u2068דוד\u2069 (p1)</p>"),
        ("<p>a\u202eb 12</p>", "<p>a\ufffdb 12</p>"),
        ("<p>a\u2069b\u2068 12</p>", "<p>a\ufffdb\ufffd 12</p>"),
        ("<p>\u2068a\u202eb\u2069</p>", "<p>\ufffda\ufffdb\ufffd</p>"),
        ("<p>می\u200cخواهم 5</p>", "<p>\u2068می\u200cخواهم\u2069 5</p>"),
        ("<p>12\u200f-34</p>", "<p>12\u2068\u200f\u2069-34</p>"),
        ('<input value="דוד"><textarea>דוד\u202e</textarea>', '<input value="דוד"><textarea>דוד\u202e</textarea>'),
        ("<script>let x = 'דוד'</script>דוד<br>", "<script>let x = 'דוד'</script>\u2068דוד\u2069<br>"),
    ],
)
def test_a_run_is_isolated_a_control_replaced_and_what_is_edited_left_alone(page: str, expected: str) -> None:
    assert in_order(page) == expected
    assert list(turning(in_order(page))) == []


def test_a_name_in_a_paper_or_a_mail_closes_no_isolate_of_the_sentence() -> None:
    assert isolated(f"{HEBREW}\u2069\u202e") == f"\u2068{HEBREW}\ufffd\ufffd\u2069"
    assert isolated("evil\u202egpj.exe") == "evil\ufffdgpj.exe"
    assert isolated("Élodie") == "Élodie"


@pytest.mark.django_db
@pytest.mark.superuser
def test_no_page_of_the_desk_is_turned_round_by_a_name_or_a_note() -> None:
    desk = Desk()
    casino, stream = desk.tenant.casino, desk.stream
    Casino.objects.filter(pk=casino.pk).update(name=f"{HEBREW} 7 {TURNED}")
    GamingTable.objects.filter(casino=casino).update(name=f"{ARABIC} 3")
    Officer.objects.filter(pk=desk.first.pk).update(first_name=HEBREW, last_name=TURNED)
    Person.objects.create(casino=casino, code="Anna", kind=PersonKind.PLAYER, name=ARABIC, note=f"{HEBREW} {TURNED}")
    desk.proposed_by(desk.first)
    session_closing.propose(desk.first, stream, float_minor=100, reason=f"{HEBREW} 21:00 {TURNED}")
    (report,) = runs.reconcile(casino, date(2026, 11, 19), actor="test")
    finding = desk.findings[0]
    root = Officer.objects.create_superuser("root-of-direction", password="x")
    seen = ""
    for who, pages in {
        desk.second: [
            *(
                "",
                "approve/",
                f"approve/closing/{finding.pk}/",
                "audit/finding/",
                f"audit/finding/{finding.pk}/change/",
            ),
            *("audit/person/", f"audit/person/player/{casino.pk}/Anna/", f"audit/loggedstream/{stream.pk}/events/"),
            *(
                "audit/loggedstream/",
                f"audit/loggedstream/{stream.pk}/closing/",
                f"audit/nightreport/{report.pk}/change/",
            ),
            *(f"audit/loggedstream/{stream.pk}/table/", "audit/nightreport/", "state/", "rules/"),
        ],
        root: [
            *("audit/", "audit/officer/", f"audit/officer/{desk.first.pk}/change/", "audit/casino/"),
            *("audit/gamingtable/", "audit-trail/"),
        ],
    }.items():
        client: Client = client_of(who)
        for address in pages:
            answer = client.get(f"/admin/{address}", follow=True)
            assert answer.status_code == 200, address
            page = answer.content.decode()
            assert list(turning(page)) == [], address
            seen += page
    for name in (HEBREW, ARABIC):
        assert seen.count(f"\u2068{name}\u2069") > 10, name
    assert "reg\ufffdularity" in seen
