"""Importing a history: rows of another system through a mapping, by the door of events, each stream whole or not."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from audit.adjudication.replay import advance
from audit.event_store import read
from audit.ingest.mapping import RowRefused, event_of
from audit.ingest.mapping_file import BadMapping, MappingFile, read_mapping
from audit.models import ApiKey, Finding, KeyScope, LoggedStream, Quarantined
from tests.audit.tables import Tenant

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_log")]

DOCS = Path(__file__).parents[3] / "docs"
CSV = (DOCS / "import-example.csv").read_text()
TOML = (DOCS / "import-example.toml").read_text()
STREAM = "deauville.R1.19.11.2019.1"


@pytest.fixture
def deauville() -> Tenant:
    return Tenant("deauville", tables=("R1",))


def run(
    folder: Path, key: ApiKey, *, rows: str | bytes = CSV, mapping: str = TOML, **options: Any
) -> tuple[str, list[Any]]:
    """Import rows without asking; return what the command printed, and what it refused."""
    options = options if options.get("dry_run") else {"yes": True, **options}
    (folder / "rows").write_bytes(rows.encode() if isinstance(rows, str) else rows)
    (folder / "mapping.toml").write_text(mapping)
    out = StringIO()
    try:
        call_command(
            "import", str(folder / "rows"), mapping=folder / "mapping.toml", key=key.prefix, stdout=out, **options
        )
    except CommandError as error:
        out.write(str(error))
    refused = folder / "rows.refused.ndjson"
    return out.getvalue(), [json.loads(line) for line in refused.read_text().splitlines()] if refused.exists() else []


def stored(name: str = STREAM) -> list[dict[str, Any]]:
    stream = LoggedStream.objects.filter(name=name).first()
    if stream is None:
        return []
    return [json.loads(envelope) for _seq, envelope in read.whole(stream.pk)]


def test_the_example_of_the_documentation_is_seven_events_and_its_irregular_payment_is_found(
    tmp_path: Path, deauville: Tenant
) -> None:
    printed, refused = run(tmp_path, deauville.key)
    assert printed.splitlines() == [
        "rows: 7 rows",
        "would be imported: 1 stream, 7 events",
        "findings that it would raise: 1",
        "  critical     payout-underpaid (1)",
        "recorded: 1 stream, 7 events",
    ]
    assert refused == []
    events = stored()
    assert [event["type"] for event in events][:2] == ["session.opened", "wager.placed"]
    assert events[1]["data"] == {"wager": "w1", "bet": "plein", "numbers": ["17"], "stake": 1250, "player": "p0412"}
    assert events[1]["occurred_at"].startswith("2019-11-19T2")
    assert {event["ext"]["backfill"] for event in events} == {"CasinoControl 4, export of 2019"}
    stream = LoggedStream.objects.get(name=STREAM, casino=deauville.casino)
    advance(stream.pk)
    assert list(Finding.objects.filter(stream=stream).values_list("rule", flat=True)) == ["payout-underpaid"]


def test_the_same_file_again_stores_nothing_twice(tmp_path: Path, deauville: Tenant) -> None:
    run(tmp_path, deauville.key)
    printed, refused = run(tmp_path, deauville.key)
    assert printed.splitlines()[1:] == [
        "would be imported: 1 stream, 7 events, 7 of them there already",
        "findings that it would raise: 0",
        "recorded: 1 stream, 7 events, 7 of them there already",
    ]
    assert refused == []
    assert len(stored()) == 7


def test_a_dry_run_says_the_same_and_stores_nothing(tmp_path: Path, deauville: Tenant) -> None:
    printed, _ = run(tmp_path, deauville.key, dry_run=True)
    assert printed.splitlines()[1:] == [
        "would be imported: 1 stream, 7 events",
        "findings that it would raise: 1",
        "  critical     payout-underpaid (1)",
    ]
    assert stored() == []


def test_an_import_is_a_use_of_its_key_and_a_dry_run_is_none(tmp_path: Path, deauville: Tenant) -> None:
    for options, is_used in (({"dry_run": True}, False), ({}, True)):
        run(tmp_path, deauville.key, **options)
        deauville.key.refresh_from_db()
        assert (deauville.key.last_used_at is not None) is is_used


def test_one_bad_row_refuses_its_stream_and_no_other_and_says_where_and_why(tmp_path: Path, deauville: Tenant) -> None:
    bad = CSV + "".join(line.replace(";1;19", ";2;19") + "\n" for line in CSV.splitlines()[1:]).replace(
        ";Rot;;100,00", ";Rot;;100,005"
    )
    printed, refused = run(tmp_path, deauville.key, rows=bad)
    assert "1 stream, 7 events; 1 stream refused" in printed
    assert "rows.refused.ndjson" in printed
    assert refused[0]["row"] == 11
    assert refused[0]["column"] == "Betrag"
    assert refused[0]["reason"] == "'100,005' has more than 2 decimals"
    assert refused[0]["content"]["Nr"] == "w2"
    assert len(stored()) == 7
    assert stored(STREAM[:-1] + "2") == []
    printed, refused = run(tmp_path, deauville.key, rows=bad.replace("100,005", "100,00"))
    assert printed.splitlines()[-1] == "recorded: 2 streams, 14 events, 7 of them there already"
    assert refused == []


def test_what_the_door_refuses_is_refused_here_with_the_row_and_nothing_of_the_stream_is_stored(
    tmp_path: Path, deauville: Tenant
) -> None:
    named = CSV.replace("p0413", "Jean Dupont")
    printed, refused = run(tmp_path, deauville.key, rows=named)
    assert "0 streams, 0 events; 1 stream refused" in printed
    assert [(each["row"], each["column"]) for each in refused] == [(0, ""), (4, "data/player")]
    assert stored() == []
    assert not Quarantined.objects.filter(key=deauville.key).exists()


@pytest.mark.parametrize(
    ("scopes", "message"),
    [
        ([KeyScope.EVENTS_WRITE], "The key lacks events:backfill"),
        ([KeyScope.EVENTS_BACKFILL], "The key lacks events:write"),
    ],
)
def test_a_key_that_may_record_no_past_days_imports_nothing(
    tmp_path: Path, deauville: Tenant, scopes: list[str], message: str
) -> None:
    ApiKey.objects.filter(pk=deauville.key.pk).update(scopes=scopes)
    printed, _ = run(tmp_path, deauville.key)
    assert printed.startswith(message)
    assert stored() == []


def test_ndjson_with_fields_inside_fields_and_an_invalid_row(tmp_path: Path, deauville: Tenant) -> None:
    mapping = TOML.replace('format = "csv"', 'format = "ndjson"').replace('"Betrag"', '"geld.betrag"')
    header, *lines = [line.split(";") for line in CSV.splitlines()]
    objects = [dict(zip(header, line, strict=True)) for line in lines]
    rows = "".join(json.dumps({**each, "geld": {"betrag": each["Betrag"]}}) + "\n" for each in objects)
    printed, refused = run(tmp_path, deauville.key, rows=rows + "{no\n[]\n", mapping=mapping)
    assert "1 stream, 7 events; 2 rows of unknown stream" in printed
    assert [each["row"] for each in refused] == [8, 9]
    assert "is not JSON" in refused[0]["reason"]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (CSV.replace(";;p0412", ";p0412"), "has fewer fields"),
        (CSV.replace(";;p0412", ";;p0412;"), "has more fields"),
        (CSV.replace("Plein", "Voll"), "the mapping has no word 'Voll', only Plein, Rot"),
        (CSV.replace("21:04:10", "25:04:10"), "is not written as %d.%m.%Y %H:%M:%S"),
        (CSV.replace(";KUGEL;", ";;"), "the column of the event's type is empty"),
        (CSV.replace("R1;19.11.2019;1;19.11.2019 21:04:10", ";19.11.2019;1;19.11.2019 21:04:10"), "and it is empty"),
        (CSV.replace(";12,50;;p", ";zwölf;;p"), "'zwölf' is not an amount such as 12,50"),
        (CSV + CSV.splitlines()[1] + "\n", "comes after the last event of its stream"),
    ],
)
def test_a_row_that_cannot_be_read_is_refused_with_its_reason(
    tmp_path: Path, deauville: Tenant, rows: str, reason: str
) -> None:
    _, refused = run(tmp_path, deauville.key, rows=rows)
    assert reason in refused[0]["reason"]


def test_a_file_in_another_encoding_is_one_line_and_not_a_traceback(tmp_path: Path, deauville: Tenant) -> None:
    (tmp_path / "rows").write_bytes(CSV.replace("Rot", "Zéro").encode("latin-1"))
    (tmp_path / "mapping.toml").write_text(TOML)
    with pytest.raises(CommandError, match=r"row \d+: 'utf-8' codec.*source.encoding"):
        call_command(
            "import", str(tmp_path / "rows"), mapping=tmp_path / "mapping.toml", key=deauville.key.prefix, yes=True
        )
    assert stored() == []


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('zone = "Europe/Paris"', 'zone = "Europe/Pari"', "no time zone"),
        ('column = "Zeit"', "", "either a column or a value"),
        ("[fields.no_more_bets]", "[fields.no_more_bets]\nx = { colum = 'y' }", "colum"),
        ('money = { decimal = ","', 'integer = true, money = { decimal = ","', "more than one way"),
        ('stream = "deauville.{Tisch}.{Tag}.{Sitzung}"', 'stream = "one"', "names no {column}"),
        ('encoding = "utf-8"', 'encoding = "utf-9"', "utf-9 is no encoding"),
        ("[source]", "[source", "line"),
    ],
)
def test_a_mapping_that_says_nothing_sensible_is_refused_with_the_place(before: str, after: str, message: str) -> None:
    assert before in TOML
    with pytest.raises(BadMapping, match=message.replace("{", r"\{")):
        read_mapping(TOML.replace(before, after))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("[source]", "[sourc]", "sourc: is no key of a mapping; did you mean 'source'?"),
        ('delimiter = ";"', 'delimeter = ";"', "source.delimeter: is no key of source; did you mean 'delimiter'?"),
        ('zone = "Europe/Paris"', 'zon = "UTC"', "occurred_at.zon: is no key of a field; did you mean 'zone'?"),
        ("[type.words]", "[type.word]", "type.word: is no key of a field; did you mean 'words'?"),
        (
            '[fields."wager.placed"]',
            '[fields."wager.placd"]',
            "fields.\"wager.placd\": is no type of event; did you mean 'wager.placed'?",
        ),
        (
            'bet = { column = "Wette"',
            'bett = { column = "Wette"',
            "fields.\"wager.placed\".bett: is no field of 'wager.placed'; did you mean 'bet'?",
        ),
        (
            'bet = { column = "Wette"',
            'bet = { colum = "Wette"',
            "fields.\"wager.placed\".bet.colum: is no key of a field; did you mean 'column'?",
        ),
        (
            'numbers = { column = "Zahlen", separator = "-" }',
            'numbers = { column = "Zahlen", money = { decimals = "," } }',
            "fields.\"wager.placed\".numbers.money.decimals: is no key of money; did you mean 'decimal'?",
        ),
        (
            "[fields.no_more_bets]",
            "[fields.no_more_bets]\nthe_moon = { column = 'Art' }",
            "fields.no_more_bets.the_moon: is no field of 'no_more_bets'",
        ),
        ("[fields.no_more_bets]", '[fields."lights.out"]', 'fields."lights.out": is no type of event'),
        (
            'encoding = "utf-8"',
            "encoding = 8",
            "source.encoding: Expected `str`, got `int`",
        ),
        (
            'player = { column = "Spieler" }',
            "player = { column = 7 }",
            'fields."wager.placed".player.column: Expected `str`, got `int`',
        ),
    ],
)
def test_a_key_of_a_mapping_that_is_misspelt_is_named_with_its_place_and_the_one_that_is_meant(
    before: str, after: str, message: str
) -> None:
    assert TOML.count(before) == 1
    with pytest.raises(BadMapping) as refused:
        read_mapping(TOML.replace(before, after))
    assert message in str(refused.value).splitlines()


def test_every_misspelt_key_of_a_mapping_is_named_at_once_after_its_file(tmp_path: Path, deauville: Tenant) -> None:
    mapping = TOML.replace("delimiter", "delimeter").replace('zone = "', 'zon = "')
    printed, _ = run(tmp_path, deauville.key, mapping=mapping)
    assert printed.splitlines() == [
        f"{tmp_path / 'mapping.toml'}:",
        "source.delimeter: is no key of source; did you mean 'delimiter'?",
        "occurred_at.zon: is no key of a field; did you mean 'zone'?",
    ]


def test_a_type_of_an_integrators_own_has_any_fields() -> None:
    read_mapping(TOML + '[fields."x.acme.ball-speed"]\nrpm = { column = "Zahlen", integer = true }\n')


def test_a_word_for_a_type_that_has_no_part_is_told_with_the_one_that_is_meant(
    tmp_path: Path, deauville: Tenant
) -> None:
    _, refused = run(tmp_path, deauville.key, mapping=TOML.replace('KUGEL = "ball.settled"', 'KUGEL = "ball.setled"'))
    assert refused[0]["reason"] == "the mapping has no fields of 'ball.setled'; did you mean 'ball.settled'?"


@pytest.fixture(scope="module")
def mapping() -> MappingFile:
    return read_mapping(TOML)


@pytest.mark.parametrize(
    ("written", "minor"),
    [("12,50", 1250), ("12", 1200), ("12,5", 1250), ("1.234,5", 123450), ("0,01", 1), ("-3,00", -300), ("1,500", 150)],
)
def test_amounts_are_read_exactly(mapping: MappingFile, written: str, minor: int) -> None:
    assert event_of(mapping, row(written))["data"]["stake"] == minor


@pytest.mark.parametrize(
    "written",
    ["12.50.", "12.50", "50.000.00", ".500", "1.23", "1.2345", "1e3", "12,50 €", "١٢", ",5", "12,505", "--1", "9" * 16],
)
def test_what_is_no_amount_is_refused_and_not_guessed(mapping: MappingFile, written: str) -> None:
    with pytest.raises(RowRefused):
        event_of(mapping, row(written))


def row(amount: str = "1,00", time: str = "19.11.2019 21:00:00") -> dict[str, str]:
    fixed = {"Tisch": "R1", "Tag": "19.11.2019", "Sitzung": "1", "Art": "EINSATZ", "Nr": "w", "Wette": "Rot"}
    return {**fixed, "Zahlen": "", "Spieler": "", "Betrag": amount, "Zeit": time}


def test_an_hour_that_never_was_is_refused(mapping: MappingFile) -> None:
    with pytest.raises(RowRefused, match="clocks were put forward"):
        event_of(mapping, row(time="31.03.2019 02:30:00"))
