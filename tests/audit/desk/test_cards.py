"""A table that a template wrote, as one whose rows are cards on a phone: audit/desk/cards.py."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from django.template import Context, Template

from audit.desk.cards import as_cards

KEYS = """<table class="t tight"><thead><tr><th scope="col">Key</th><th scope="col" class="num">Last
 used</th><th scope="col" colspan="2">Days &amp; "nights"</th>
<th scope="col"><span class="vh">Findings</span></th></tr></thead>
<tbody><tr class="on"><td><a href="/k/1/">hall</a></td><td class="num">3 s ago</td>
<td>1</td><td>2</td><td>none</td></tr></tbody></table>"""


def cells_of(table: str) -> list[dict[str, str | None]]:
    """Return the attributes of each cell of a table's rows, in their order."""
    found: list[dict[str, str | None]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag in ("td", "th"):
                found.append(dict(attrs))

    Reader().feed(table.partition("</thead>")[2])
    return found


def row(*cells: str, head: str = "<th>Night</th><th>Table</th><th>State</th>") -> list[dict[str, str | None]]:
    table = f'<table class="t"><thead><tr>{head}</tr></thead><tbody><tr>{"".join(cells)}</tr></tbody></table>'
    return cells_of(as_cards(table))


def test_each_cell_but_the_first_has_the_heading_of_its_column() -> None:
    labels = [cell.get("data-label") for cell in cells_of(as_cards(KEYS))]
    assert labels == [None, "Last used", 'Days & "nights"', 'Days & "nights"', ""]


def test_each_part_says_what_it_is_and_nothing_else_is_changed() -> None:
    written = as_cards(KEYS)
    assert written.startswith('<table role="table" class="cards t tight"><thead role="rowgroup"><tr role="row"><th')
    assert '<tbody role="rowgroup"><tr role="row" class="on"><td role="cell"><a' in written
    assert [cell["role"] for cell in cells_of(written)] == ["cell"] * 5
    assert written.count('role="columnheader"') == 4
    plain = re.sub(r' (role|data-label)="[^"]*"', "", written).replace('class="cards t', 'class="t')
    assert plain == KEYS


def test_the_title_of_a_card_is_the_cell_that_is_marked_wherever_it_stands() -> None:
    night, table, state = row("<td>19 Nov</td>", '<td class="b what">R1</td>', "<td>open</td>")
    assert [night.get("data-label"), table.get("data-label"), state.get("data-label")] == ["Night", None, "State"]
    # A word that only contains the mark's is another class.
    first, second, _ = row("<td>19 Nov</td>", '<td class="whatever">R1</td>', "<td>open</td>")
    assert (first.get("data-label"), second.get("data-label")) == (None, "Table")


def test_a_heading_of_a_row_stays_one() -> None:
    assert [cell["role"] for cell in row('<th scope="row">R1</th>', "<td>1</td>", "<td>2</td>")] == [
        "rowheader", "cell", "cell",
    ]  # fmt: skip


def test_a_cell_with_nothing_in_it_is_left_out_of_a_card_and_a_title_is_not() -> None:
    title, table, state = row("<td></td>", "<td> \n</td>", "<td>open</td>")
    assert ("data-none" in title, "data-none" in table, "data-none" in state) == (False, True, False)


def test_a_cell_over_several_columns_has_the_first_heading_and_what_follows_its_own() -> None:
    head = "<th>Table</th><th>Game</th><th>Rules</th><th>Feed</th>"
    _, game, feed = row("<td>R1</td>", '<td colspan="2">no session yet</td>', "<td>live</td>", head=head)
    assert (game["data-label"], feed["data-label"]) == ("Game", "Feed")


def test_a_sentence_over_the_whole_row_has_no_label() -> None:
    (sentence,) = row('<td colspan="3">No table is registered.</td>')
    assert "data-label" not in sentence


def test_a_label_that_a_template_gives_is_kept() -> None:
    _, table, state = row("<td>19 Nov</td>", '<td data-label="">Rotate</td>', '<td data-label="Default">1</td>')
    assert (table["data-label"], state["data-label"]) == ("", "Default")


def test_what_is_written_in_a_cell_stays_escaped() -> None:
    template = Template(
        '{% load presentation %}{% cards %}<table class="t"><thead><tr><th>Key</th><th>{{ name }}</th></tr></thead>'
        "<tbody><tr><td>1</td><td>{{ name }}</td></tr></tbody></table>{% endcards %}"
    )
    written = template.render(Context({"name": '"><script>'}))
    assert "<script>" not in written
    assert cells_of(written)[1]["data-label"] == '"><script>'
