"""The law texts are the ones the code was written against, and every quotation is in them at its span."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

import pytest

from settlement import adjudicate, law
from settlement.catalogue import BET_LABELS
from settlement.law import LAW_TEXTS, Citation, LawText
from settlement.provisions import (
    CLOSED_LISTS,
    PROVISIONS,
    WAGER_PROVISIONS,
    WITHDRAWAL_PROVISIONS,
    Provision,
    wager_provision,
)
from settlement.rulesets import RULESETS
from tests.one_by_one import one_by_one
from tests.settlement.streams import opener

FOLDER = Path(law.__file__).parent / "law_texts"

# Text, paragraphs, how the first and the last begin.
PARAGRAPHS = """
    fr-art-54               9   Les joueurs ne peuvent      Lorsque le zéro sort au dernier coup
    fr-art-55-7             7   Le nombre des joueurs       Aucune mise ne peut être déposée
    fr-art-55-8            29   Les joueurs ne peuvent      2° Le wrong bet
    fr-art-57-1             9   Le matériel                 Les paiements doivent toujours
    qc-s-13.1-r-3-s-95.17   4   95.17. The “Place Bets”     (3)
"""

# The alinéas that rules.md counts, one per rule of conduct.
ALINEAS = """
    fr-art-55-7  2  Les dés sont proposés successivement
    fr-art-55-7  3  Le joueur qui lance les dés, ou tireur, doit les jeter immédiatement
    fr-art-55-7  4  Le tireur peut demander que les dés soient changés
    fr-art-55-7  5  Les dés sont lancés dans le sens de la longueur
    fr-art-55-7  6  Après un certain nombre de séries
    fr-art-55-7  7  Aucune mise ne peut être déposée
    fr-art-57-1  1  Le matériel de la roulette
    fr-art-57-1  2  Dix boîtes
    fr-art-57-1  3  De dimensions restreintes
    fr-art-57-1  4  Le personnel affecté
    fr-art-57-1  5  Le chef de table
    fr-art-57-1  6  Le croupier responsable
    fr-art-57-1  7  Quand la bille s'est définitivement arrêtée
    fr-art-57-1  8  Il ramasse les enjeux perdus
    fr-art-57-1  9  Les paiements doivent toujours
    fr-art-54    4  Dans les deux cas le joueur conserve sa mise
    fr-art-54    8  Si le zéro sort une seconde fois
"""

QUOTED = [provision for provision in PROVISIONS.values() if provision.citations]


def rows(table: str) -> list[list[str]]:
    return [re.split(r"\s{2,}", line.strip()) for line in table.strip().splitlines()]


@pytest.mark.parametrize("text", LAW_TEXTS.values(), ids=lambda text: text.id)
def test_a_text_is_its_file_byte_for_byte(text: LawText) -> None:
    raw = (FOLDER / text.file).read_bytes()
    assert sha256(raw).hexdigest() == text.sha256
    assert text.content.encode() == raw


def test_every_file_of_the_folder_is_a_text() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {text.file for text in LAW_TEXTS.values()}


def test_a_changed_text_stops_the_import() -> None:
    with pytest.raises(law.LawTextChanged, match=r"fr-art-54\.txt"):
        law.read_text(
            "fr-art-54.txt",
            digest="0" * 64,
            language="fr",
            title="",
            article="art. 54",
            instrument=law.ARRETE_1959,
        )


@pytest.mark.parametrize("row", rows(PARAGRAPHS), ids=lambda row: row[0])
def test_paragraphs_leave_out_headings_and_history(row: list[str]) -> None:
    text_id, count, first, last = row
    paragraphs = LAW_TEXTS[text_id].paragraphs
    assert len(paragraphs) == int(count)
    assert paragraphs[0].text.startswith(first)
    assert re.sub(r"\s+", " ", paragraphs[-1].text).startswith(re.sub(r"\s+", " ", last))


@pytest.mark.parametrize("row", rows(ALINEAS), ids=lambda row: f"{row[0]} al. {row[1]}")
def test_alineas_are_counted_as_the_rules_count_them(row: list[str]) -> None:
    text_id, number, beginning = row
    paragraph = LAW_TEXTS[text_id].paragraphs[int(number) - 1]
    assert paragraph.text.startswith(beginning)
    assert LAW_TEXTS[text_id].content[paragraph.start : paragraph.end] == paragraph.text


@one_by_one(QUOTED, lambda provision: provision.label)
def test_every_quotation_stands_at_its_span(provision: Provision) -> None:
    for citation in provision.citations:
        assert citation.text.content[citation.start : citation.end] == citation.quote
        assert provision.label.startswith(citation.text.article + " ")


@one_by_one(QUOTED, lambda provision: provision.label)
def test_a_quotation_stands_in_the_paragraph_its_label_names(provision: Provision) -> None:
    text = provision.citations[0].text
    numbered = re.search(r" al\. (\d+)$", provision.label)
    listed = re.search(r"(?<=55-8 )([A-D]) (\d)°$", provision.label)
    for citation in provision.citations:
        within = [p for p in text.paragraphs if p.start <= citation.start and citation.end <= p.end]
        assert len(within) == 1, "a quotation crosses no paragraph"
        if numbered:
            assert within[0].number == int(numbered[1])
        elif listed and citation.quote not in _SHARED_ODDS:
            assert within[0].text.startswith(f"{listed[2]}° ")
            chapter = [p.text[0] for p in text.paragraphs[: within[0].number] if re.match(r"[A-D]\. -", p.text)]
            assert chapter[-1] == listed[1]


# "Payée comme la chance associée du win": C 3° and 4° quote the odds of C 1° and 2°.
_SHARED_ODDS = {PROVISIONS[f"art. 55-8 C {n}°"].quotes[1] for n in (1, 2)}


def test_a_provision_without_quotation_says_why_in_both_languages() -> None:
    for provision in PROVISIONS.values():
        if provision.citations:
            assert provision.text_missing is None
        else:
            assert provision.text_missing is not None
            assert set(provision.text_missing) == {"en", "fr"}


def test_words_that_stand_twice_need_their_occurrence() -> None:
    twice = "La mise peut rester ou être retirée sur les coups non décisifs"
    with pytest.raises(AssertionError, match="2 times"):
        Citation("fr-art-55-8", twice)
    first, second = Citation("fr-art-55-8", twice, 1), Citation("fr-art-55-8", twice, 2)
    assert first.start < second.start
    assert second.text.content[second.start : second.end] == twice


def test_words_that_are_not_there_cannot_be_quoted() -> None:
    with pytest.raises(AssertionError, match="0 times"):
        Citation("fr-art-54", "le joueur perd sa mise")


@pytest.mark.parametrize(
    ("ruleset", "day", "rules"),
    [
        ("qc-craps", "2011-10-12", []),
        ("qc-craps", "2011-10-13", ["ruleset-not-in-force"]),
        ("fr-craps", "2026-11-19", []),  # no end is known
    ],
)
def test_the_quebec_by_law_ended_when_its_successor_began(ruleset: str, day: str, rules: list[str]) -> None:
    findings = adjudicate([opener("s", ruleset, gaming_day=day)]).findings
    assert [finding.rule for finding in findings] == rules


def test_a_ruleset_is_in_force_as_long_as_the_instrument_of_its_wagers() -> None:
    for ruleset in RULESETS.values():
        instruments = {
            PROVISIONS[label].citations[0].text.instrument for label in WAGER_PROVISIONS[ruleset.name].values()
        }
        assert instruments == {ruleset.instrument}


def test_every_bet_has_a_quoted_provision_in_its_ruleset() -> None:
    for ruleset, bets in WAGER_PROVISIONS.items():
        for bet, label in bets.items():
            assert PROVISIONS[label].citations
            assert (ruleset, bet) in BET_LABELS
        assert PROVISIONS[CLOSED_LISTS[ruleset]].citations
    for bets in WITHDRAWAL_PROVISIONS.values():
        assert all(PROVISIONS[label].citations for label in bets.values())


def test_a_bet_the_ruleset_does_not_know_rests_on_its_closed_list() -> None:
    assert wager_provision("fr-craps", "buy_bet") == "art. 55-8 intro"
    assert wager_provision("qc-craps", None) == "s. 95.17 intro"
