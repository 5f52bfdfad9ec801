"""What the interface refuses: names for persons, bets in capitals, own data that is too large or not exact."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from babel import core as babel_core

from settlement import ShapeError, adjudicate, canonical, decode
from settlement.admission import refuse_unless_admitted, to_look_at
from settlement.codec import (
    MAX_DEPTH,
    MAX_EXT_BYTES,
    decode_all,
    decode_canonical,
    decode_canonical_all,
    decode_one_stored,
    decode_stored,
)
from settlement.currencies import CURRENCIES
from settlement.events import Event, ExtensionEvent, SessionOpened
from settlement.rulesets import RULESETS
from settlement.spelling import likely_word
from tests.settlement.streams import event, opener

NAMES = ["Zoé", "Anna Dupont", "x" * 41, "a\n", "p#1", " ", "Anna,"]
IDS = ["p0412", "x" * 40, "A.b_c:d-e", "7"]


def refused_at(raw: bytes) -> str:
    """Return the pointer at which ``decode``, alone and with others, refuses an event."""
    with pytest.raises(ShapeError) as alone:
        decode(raw)
    with pytest.raises(ShapeError) as among_others:
        decode_all([event("s", 1, "no_more_bets"), event("s", 2, "wager.placed", wager="w", bet="win", stake=1), raw])
    assert among_others.value.pointer == alone.value.pointer
    return alone.value.pointer


# Persons


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_refused_with_a_word_why(name: str) -> None:
    raw = event("s", 3, "wager.placed", wager="w", bet="win", stake=1, player=name)
    assert refused_at(raw) == "/data/player"
    with pytest.raises(ShapeError, match=r"opaque id .* never named in the record; .* directory of the house"):
        decode(raw)


@pytest.mark.parametrize("person", IDS)
def test_an_opaque_id_is_taken(person: str) -> None:
    raw = event("s", 3, "wager.placed", wager="w", bet="win", stake=1, player=person)
    assert decode_all([raw]) == [decode(raw)]


STAFF = [{"person": "C1", "role": "chef_de_table"}, {"person": "Jean Petit", "role": "croupier"}]


@pytest.mark.parametrize(
    ("raw", "pointer"),
    [
        (event("s", 3, "dice.thrown", faces=[1, 2], player="Zoé"), "/data/player"),
        (event("s", 3, "player.left", player="Zoé"), "/data/player"),
        (event("s", 3, "staff.assigned", person="Zoé", role="croupier"), "/data/person"),
        (event("s", 3, "drop.counted", session="t", amount=1, counted_by=["C1", "Zoé"]), "/data/counted_by/1"),
        (opener("s", "fr-craps", croupier="Zoé"), "/data/croupier"),
        (opener("s", "fr-craps", staff=STAFF), "/data/staff/1/person"),
        (
            event("s", 3, "entry.corrected", corrects=2, data={}, reason="Zoé said so", approved_by="Zoé"),
            "/data/approved_by",
        ),
        (
            event("s", 3, "entry.corrected", corrects=2, data={"player": "Zoé"}, reason="slip", approved_by="C1"),
            "/data/data/player",
        ),
        (
            event("s", 3, "entry.corrected", corrects=1, data={"staff": STAFF}, reason="slip", approved_by="C1"),
            "/data/data/staff/1/person",
        ),
        (
            event(
                "s",
                3,
                "entry.corrected",
                corrects=2,
                data={"corrects": 1, "data": {"player": "Zoé"}},
                reason="slip",
                approved_by="C1",
            ),
            "/data/data/data/player",
        ),
        (json.dumps(json.loads(event("s", 3, "no_more_bets")) | {"actor": "Zoé"}).encode(), "/actor"),
    ],
)
def test_a_name_is_refused_wherever_a_person_stands(raw: bytes, pointer: str) -> None:
    assert refused_at(raw) == pointer
    assert [*to_look_at([decode_one_stored(raw)])] == [0]
    with pytest.raises(ShapeError) as refused:
        refuse_unless_admitted(decode_one_stored(raw), "fr-craps")
    assert refused.value.pointer == pointer


def test_of_a_batch_only_those_that_name_more_than_a_player_are_looked_at_unless_somebody_is_named() -> None:
    def batch(player: str, croupier: str, bet: str = "win") -> list[Event]:
        wager = event("s", 2, "wager.placed", wager="w", bet=bet, stake=1, player=player)
        return [
            decode_one_stored(each)
            for each in (wager, event("s", 3, "staff.assigned", person=croupier, role="croupier"), wager)
        ]

    assert [*to_look_at(batch("p1", "c1"))] == [1]
    assert [*to_look_at(batch("p1", "Zoé Savard"))] == [1], "whose name is refused there"
    assert [*to_look_at(batch("Zoé Savard", "c1"))] == [0, 1, 2]
    assert [*to_look_at(batch("p1", "c1", "Win"))] == [0, 1, 2]


def test_what_is_stored_is_read_as_ever() -> None:
    raw = event("s", 3, "wager.placed", wager="w", bet="win", stake=1, player="Zoé")
    [stored] = decode_stored(b"[" + canonical(raw) + b"]")
    assert stored == decode_one_stored(canonical(raw)) == decode_canonical(raw)[0]
    assert stored.data.player == "Zoé"  # type: ignore[union-attr]


# Bets


def placed(bet: str, ruleset: str) -> list[bytes]:
    return [opener("s", ruleset), event("s", 2, "wager.placed", wager="w", bet=bet, stake=1, numbers=["1"])]


@pytest.mark.parametrize(
    ("bet", "ruleset", "meant"),
    [("Win", "fr-craps", "win"), ("DONT_WIN", "fr-craps", "dont_win"), ("Plein", "fr-roulette", "plein")],
)
def test_a_bet_in_capitals_is_refused_with_the_word_meant(bet: str, ruleset: str, meant: str) -> None:
    with pytest.raises(ShapeError, match=f"'{meant}' is meant") as refused:
        adjudicate(placed(bet, ruleset))
    assert refused.value.pointer == "/data/bet"
    wager = decode(placed(bet, ruleset)[1])
    assert [*to_look_at([wager])] == [0]
    with pytest.raises(ShapeError, match=meant):
        refuse_unless_admitted(wager, ruleset)


@pytest.mark.parametrize(
    ("bet", "ruleset", "status"),
    [("Win", "qc-craps", "out_of_scope"), ("Win", "fr-roulette", "void"), ("Right_Bet", "fr-roulette", "void")],
)
def test_a_word_of_another_ruleset_is_no_misspelling(bet: str, ruleset: str, status: str) -> None:
    assert adjudicate(placed(bet, ruleset)).wagers["w"].status == status
    refuse_unless_admitted(decode(placed(bet, ruleset)[1]), ruleset)
    refuse_unless_admitted(decode(placed(bet, ruleset)[1]), None)


@pytest.mark.parametrize(
    ("bet", "ruleset", "likely"),
    [
        ("plien", "fr-roulette", "plein"),
        ("Carré", "fr-roulette", "carre"),
        ("red", "fr-roulette", "rouge"),
        ("dont win", "fr-craps", "dont_win"),
        ("don’t win", "fr-craps", "dont_win"),
        ("pass_line", "fr-craps", "win"),
        ("yo", "fr-craps", "eleven"),
        ("hard_way", "fr-craps", "hardway"),
        ("craps_4", "fr-craps", None),  # as near to craps_2 as to craps_3
        ("the moon", "fr-craps", None),
        ("wim", "fr-craps", "win"),
        ("", "fr-craps", None),
        ("w", "fr-craps", None),
        ("douze numéros", "fr-roulette", None),  # a dozen or a column
        ("x" * 30_000, "fr-craps", None),
    ],
)
def test_the_finding_names_the_likely_word(bet: str, ruleset: str, likely: str | None) -> None:
    [finding] = adjudicate(placed(bet, ruleset)).findings
    assert (finding.rule, finding.expected, finding.recorded) == ("wager-not-permitted", likely, bet)
    assert ("probably meant" in finding.message("en")) == (likely is not None)
    assert ("voulu dire" in finding.message("fr")) == (likely is not None)


def test_every_word_is_the_likely_word_of_itself() -> None:
    for ruleset in RULESETS.values():
        kinds = ruleset.kinds
        names = {bet: kind.names for bet, kind in kinds.items()}
        assert [likely_word(kind.word, kinds, names) for kind in kinds.values()] == list(kinds)


# Rulesets


def opens(ruleset: str, **data: Any) -> SessionOpened:
    opened = decode(opener("s", ruleset, **data))
    assert isinstance(opened, SessionOpened)
    assert [*to_look_at([opened])] == [0]
    return opened


def counts(currency: str) -> Event:
    return decode(event("s", 1, "count.opened", casino="demo", gaming_day="2010-11-19", currency=currency))


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ("FR-CRAPS", "fr-craps"),
        ("fr_craps", "fr-craps"),
        ("frcraps", "fr-craps"),
        ("Fr Roulette", "fr-roulette"),
        ("fr_american_roulette", "fr-american-roulette"),
        ("QC-craps", "qc-craps"),
    ],
)
def test_a_misspelt_ruleset_of_an_opening_is_refused_with_the_word_meant(sent: str, meant: str) -> None:
    with pytest.raises(ShapeError) as refused:
        refuse_unless_admitted(opens(sent), sent)
    assert refused.value.pointer == "/data/ruleset"
    listed = ", ".join(f"'{name}'" for name in RULESETS)
    assert refused.value.reason == f"'{sent}' is none of {listed}; did you mean '{meant}'?"


@pytest.mark.parametrize(
    "sent", ["nevada-craps", "uk-roulette", "fr-crap", "fr-craps-2", "house rules", "", "-", "x" * 30_000]
)
def test_a_ruleset_of_another_law_is_recorded_and_found(sent: str) -> None:
    refuse_unless_admitted(opens(sent), sent)
    [finding] = adjudicate([opener("s", sent)]).findings
    assert (finding.rule, finding.recorded) == ("unknown-ruleset", sent)


@pytest.mark.parametrize("ruleset", RULESETS)
def test_every_ruleset_is_admitted(ruleset: str) -> None:
    refuse_unless_admitted(opens(ruleset), ruleset)


@pytest.mark.parametrize(
    ("sent", "meant"), [("Craps", "craps"), ("c-raps", "craps"), ("french-roulette", "french_roulette")]
)
def test_a_misspelt_game_of_an_opening_is_refused_with_the_word_meant(sent: str, meant: str) -> None:
    with pytest.raises(ShapeError, match=f"did you mean '{meant}'") as refused:
        refuse_unless_admitted(opens("fr-craps", game=sent), "fr-craps")
    assert refused.value.pointer == "/data/game"


@pytest.mark.parametrize("sent", ["french_roulette", "crap", "baccarat", ""])
def test_another_game_is_recorded_and_found(sent: str) -> None:
    refuse_unless_admitted(opens("fr-craps", game=sent), "fr-craps")
    assert [finding.rule for finding in adjudicate([opener("s", "fr-craps", game=sent)]).findings] == [
        "unknown-ruleset"
    ]


# Events of an integrator's own


def own(data: Any = ..., *, kind: str = "x.acme.ball-speed", **envelope: Any) -> bytes:
    sent = json.loads(event("s", 3, kind)) | envelope
    if data is not ...:
        sent["data"] = data
    return json.dumps(sent).encode()


@pytest.mark.parametrize("kind", ["x.a", "x.acme.ball-speed", "x.0", "x.-", "x." + "a" * 98])
def test_an_own_type_is_taken_with_any_data(kind: str) -> None:
    data = {"é": [1, None, True, "ü", {"": {}}], "player": "Zoé", "bet": "Win"}
    read = decode(own(data, kind=kind))
    assert isinstance(read, ExtensionEvent)
    assert (read.type, read.data) == (kind, data)
    assert decode_canonical(own(data, kind=kind))[1] == canonical(own(data, kind=kind))
    assert decode_stored(b"[%b,%b]" % (event("s", 2, "no_more_bets"), own(data, kind=kind)))[1] == read


@pytest.mark.parametrize(
    "kind", ["x", "x.", "x..a", "x.a.", "x.A", "x.a_b", "x.é", "x.a\n", "x.a b", "X.a", "xa", "x." + "a" * 99, ""]
)
def test_another_type_is_refused(kind: str) -> None:
    assert refused_at(own(kind=kind)) == "/type"


@pytest.mark.parametrize("kind", [None, 7, ["x.a"], {"x": 1}])
def test_a_type_is_text(kind: object) -> None:
    assert refused_at(own(type=kind)) == "/type"


def test_data_is_left_out_or_an_object() -> None:
    left_out = json.loads(own())
    del left_out["data"]
    assert b'"data":{}' in canonical(json.dumps(left_out).encode())
    for data in (None, [], 7, "text"):
        assert refused_at(own(data)) == "/data"


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


HOSTILE: list[tuple[Any, str]] = [
    ({"a": 1.5}, "/a"),
    ({"a": [0, 1.0]}, "/a/1"),
    ({"a": 2**53}, "/a"),
    ({"a": -(2**53)}, "/a"),
    ({"a": 10**30}, "/a"),
    ({"a": "\0"}, "/a"),
    ({"\0": 1}, ""),
    ({"a/b~c": 1.5}, "/a~1b~0c"),
    ({"\U0001f3b2": 1}, "/\U0001f3b2"),
    (nested(MAX_DEPTH + 1), ""),
]


@pytest.mark.parametrize(("value", "pointer"), HOSTILE)
def test_own_data_is_exact_and_not_too_deep(value: Any, pointer: str) -> None:
    assert refused_at(own(value)) == f"/data{pointer}"
    assert refused_at(own(ext=value)) == f"/ext{pointer}"


@pytest.mark.parametrize("raw", [b'{"a":1e400}', b'{"a":NaN}', b'{"a":' * 5_000, b'{"a":"\\ud800"}', b'{"a":1,}'])
def test_what_is_not_json_is_refused(raw: bytes) -> None:
    for name in (b'"data"', b'"ext"'):
        sent = own(ext={}).replace(name + b": {}", name + b": " + raw)
        with pytest.raises(ShapeError):
            decode(sent)


def test_own_data_is_deep_as_far_as_it_may_be() -> None:
    decode(own(nested(MAX_DEPTH - 1), ext=nested(MAX_DEPTH - 1)))


def test_a_name_given_twice_is_refused_in_own_data_too() -> None:
    for raw in (
        own(ext={}).replace(b'"ext": {}', b'"ext": {"a": 1, "a": 1}'),
        own(ext={}).replace(b'"ext"', b'"data"'),
    ):
        with pytest.raises(ShapeError, match="twice"):
            canonical(raw)


@pytest.mark.parametrize("ext", [None, [], 7, "text", True])
def test_ext_is_an_object(ext: object) -> None:
    assert refused_at(own(ext=ext)) == "/ext"


def test_ext_has_4096_bytes_in_canonical_form() -> None:
    whole = {"a": "é" * 100 + "x" * (MAX_EXT_BYTES - len('{"a":""}') - 200)}
    assert len(canonical(own(ext=whole))) > MAX_EXT_BYTES
    spaced = json.dumps(json.loads(own(ext=whole)), indent=8).encode()  # é is escaped and there are spaces, as sent
    for raw in (own(ext=whole), spaced):
        decode(raw)
    with pytest.raises(ShapeError, match="4097 bytes") as refused:
        decode(own(ext={"a": whole["a"] + "x"}))
    assert refused.value.pointer == "/ext"


def test_ext_is_hashed_and_read_alone() -> None:
    usual = event("s", 3, "no_more_bets")
    for ext in ({}, {"b": 1, "a": 2}):
        with_ext = json.dumps(json.loads(usual) | {"ext": ext}).encode()
        assert canonical(with_ext) != canonical(usual)
        assert json.loads(canonical(with_ext))["ext"] == ext
        assert decode_canonical_all(b"[%b]" % with_ext) is None
        assert decode_stored(b"[%b]" % with_ext) == [decode(with_ext)]
    escaped = json.dumps(json.loads(usual) | {"ext": {"a": 1.5}}).encode().replace(b'"ext"', b'"\\u0065xt"')
    assert decode_canonical_all(b"[%b]" % escaped) is None
    assert refused_at(escaped) == "/ext/a"
    assert b'"b":1,"a":2' not in canonical(json.dumps(json.loads(usual) | {"ext": {"b": 1, "a": 2}}).encode())


@pytest.mark.parametrize(("sent", "hint"), [("EUX", "did you mean 'EUR'?"), ("ECU", ""), ("XXX", ""), ("XTS", "")])
def test_a_currency_that_there_is_not_is_refused(sent: str, hint: str) -> None:
    for new in (opens("fr-craps", currency=sent), counts(sent)):
        with pytest.raises(ShapeError, match="no currency of ISO 4217") as refused:
            refuse_unless_admitted(new, "fr-craps")
        assert refused.value.pointer == "/data/currency"
        assert refused.value.reason.endswith(hint)
        assert [*to_look_at([new])] == [0]


@pytest.mark.parametrize("sent", ["EUR", "CHF", "JPY", "FRF", "DEM", "XAF", "XPF"])
def test_a_currency_of_now_and_of_a_history_is_admitted(sent: str) -> None:
    refuse_unless_admitted(opens("fr-craps", currency=sent), "fr-craps")
    refuse_unless_admitted(counts(sent), None)


def test_the_currencies_are_those_of_the_source() -> None:
    since = date(1990, 1, 1)
    known = {
        code
        for spells in babel_core.get_global("territory_currencies").values()
        for code, _start, end, is_tender in spells
        if is_tender and (end is None or date(*end) >= since)
    }
    assert known - CURRENCIES == {"BAN", "MCF", "MDC", "MKN", "YUR"}, "they have a code of Unicode, none of ISO"
    assert CURRENCIES - known == {"VED"}, "a second code of the currency of Venezuela"


@pytest.mark.parametrize("sent", ["nevada-craps", "", "x" * 30_000])
def test_a_sandbox_refuses_a_ruleset_that_there_is_not_and_lists_those_there_are(sent: str) -> None:
    with pytest.raises(ShapeError) as refused:
        refuse_unless_admitted(opens(sent), sent, is_of_sandbox=True)
    assert refused.value.pointer == "/data/ruleset"
    assert all(f"'{name}'" in refused.value.reason for name in RULESETS)
    assert len(refused.value.reason) < 1_000


def test_a_sandbox_refuses_another_game_than_that_of_the_ruleset() -> None:
    with pytest.raises(ShapeError, match="the game of 'fr-craps' is 'craps'") as refused:
        refuse_unless_admitted(opens("fr-craps", game="baccarat"), "fr-craps", is_of_sandbox=True)
    assert refused.value.pointer == "/data/game"
    for name, ruleset in RULESETS.items():
        refuse_unless_admitted(opens(name, game=ruleset.game), name, is_of_sandbox=True)
