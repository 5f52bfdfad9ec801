"""Times in the casino's zone, people, amounts, values and countdowns, in both languages."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone, translation

from audit import presentation
from audit.models import Casino, Officer
from settlement.catalogue.sentences import amount_in_prose
from settlement.law import ART_54, LAW_TEXTS, S_95_17
from settlement.provisions import PROVISIONS

MOMENT = datetime(2026, 11, 19, 23, 30, 9, tzinfo=UTC)
PARIS, MONTREAL = Casino(time_zone="Europe/Paris"), Casino(time_zone="America/Montreal")


def in_both(text: object) -> tuple[str, str]:
    """Return what a call writes in English and in French."""
    assert callable(text)
    written = []
    for language in ("en", "fr"):
        with translation.override(language):
            written.append(text())
    return written[0], written[1]


@pytest.mark.parametrize(
    ("casino", "english", "french"),
    [
        (PARIS, "20 Nov, 00:30 CET", "20 nov., 00:30 CET"),
        (MONTREAL, "19 Nov, 18:30 EST", "19 nov., 18:30 EST"),
        (None, "19 Nov, 23:30 UTC", "19 nov., 23:30 UTC"),
        (Casino(time_zone="America/Sao_Paulo"), "19 Nov, 20:30 UTC−03", "19 nov., 20:30 UTC−03"),
    ],
)
@time_machine.travel("2026-12-31 12:00:00Z", tick=False)
def test_an_instant_has_its_day_its_time_and_the_zone_of_the_casino(
    casino: Casino | None, english: str, french: str
) -> None:
    assert in_both(lambda: presentation.date_time(MOMENT, casino)) == (english, french)


def test_the_zone_is_that_of_the_season_and_seconds_are_there_where_wanted() -> None:
    in_summer = datetime(2026, 6, 1, 21, 5, 7, tzinfo=UTC)
    assert in_both(lambda: presentation.date_time(in_summer, PARIS, seconds=True, with_year=True)) == (
        "1 Jun 2026, 23:05:07 CEST",
        "1er juin 2026, 23:05:07 CEST",
    )
    assert presentation.clock(MOMENT, MONTREAL) == "18:30:09"


def test_a_day_has_its_year_in_another_year_and_in_a_file() -> None:
    gaming_day = date(2026, 11, 19)
    with time_machine.travel("2027-01-01 12:00:00Z", tick=False):
        assert presentation.day(gaming_day) == "19 Nov 2026"
    with time_machine.travel("2026-12-31 12:00:00Z", tick=False):
        assert presentation.day(gaming_day) == "19 Nov"
        assert presentation.day(gaming_day, with_year=True) == "19 Nov 2026"
        assert in_both(lambda: presentation.night_of(gaming_day)) == ("Night of Thu 19 Nov", "Nuit du jeudi 19 nov.")
        assert in_both(lambda: presentation.month_of(gaming_day)) == ("Nov 2026", "nov. 2026")
        in_full = ("Thursday 19 November", "jeudi 19 novembre")
        assert in_both(lambda: presentation.day_in_full(gaming_day)) == in_full
        assert presentation.day_in_full(date(2025, 11, 1)) == "Saturday 1 November 2025"
        with translation.override("fr"):
            assert presentation.day_in_full(date(2025, 11, 1)) == "samedi 1er novembre 2025"


def test_an_amount_has_its_currency_and_is_never_in_minor_units() -> None:
    assert in_both(lambda: presentation.money(123_450, "EUR")) == ("€1,234.50", "1\u202f234,50\xa0€")
    assert presentation.money(500, "JPY") == "¥500"


@pytest.mark.parametrize(
    ("minor", "currency", "english", "french"),
    [
        (86_400, "EUR", "€864", "864\xa0€"),
        (86_450, "EUR", "€864.50", "864,50\xa0€"),
        (100_000_000, "EUR", "€1,000,000", "1\u202f000\u202f000\xa0€"),
        (-100_000, "EUR", "−€1,000", "−1\u202f000\xa0€"),
        (100_000, "JPY", "¥100,000", "100\u202f000\xa0¥"),
        (1_000_000, "KWD", "KWD\xa01,000", "1\u202f000\xa0KWD"),
        (1_000_500, "KWD", "KWD\xa01,000.500", "1\u202f000,500\xa0KWD"),
    ],
)
def test_in_prose_only_decimals_that_are_all_zeros_are_left_out(
    minor: int, currency: str, english: str, french: str
) -> None:
    assert in_both(lambda: presentation.money_in_prose(minor, currency)) == (english, french)


def test_a_value_is_written_as_its_kind() -> None:
    assert presentation.value(700, "money", "EUR") == "€7.00"
    assert presentation.value(700, "money", "EUR", amount_in_prose) == "€7"
    assert presentation.value([5, 3], "faces", "EUR") == "5-3"
    assert presentation.value(None, "money", "EUR") is None
    assert presentation.wager_status("no such status", "EUR") == "no such status"


def test_how_many_times_a_stake_has_become_is_written_in_the_language_of_the_page() -> None:
    kept = presentation.whole_times(3_696)
    assert in_both(lambda: presentation.multiple(kept)) == ("3,696", "3\u202f696")
    assert in_both(lambda: presentation.multiple("< 16")) == ("< 16", "< 16")
    assert in_both(lambda: presentation.value(kept, "multiple", "EUR")) == ("3,696", "3\u202f696")
    assert in_both(lambda: presentation.multiple(presentation.whole_times(10**15))) == ("10¹⁵", "10¹⁵")


def test_an_officer_is_a_name_and_nobody_is_no_dash() -> None:
    assert presentation.officer_name(Officer(username="claire")) == "claire"
    named = Officer(username="claire", first_name="Claire", last_name="Morel")
    assert presentation.officer_name(named) == "Claire Morel"
    assert presentation.officer_name(None) == ""


def test_a_finding_has_the_title_of_its_rule() -> None:
    assert in_both(lambda: presentation.finding_title("payout-overpaid")) == ("Paid too much", "Paiement excessif")


@pytest.mark.parametrize(
    ("label", "french"),
    [
        ("art. 54 last al.", "art. 54 dernier al."),
        ("art. 55-8 A after 4°", "art. 55-8 A après le 4°"),
        ("art. 55-7 al. 5", "art. 55-7 al. 5"),
        ("s. 95.17 (2)", "art. 95.17 (2)"),
        ("s. 95.17 intro", "art. 95.17 introduction"),
        ("r. 3 s. 4–5", "r. 3 art. 4–5"),
        ("SOR/2002-184 s. 70", "DORS/2002-184 art. 70"),
    ],
)
def test_the_label_of_a_provision_has_no_english_word_in_french(label: str, french: str) -> None:
    assert label in PROVISIONS
    with translation.override("en"):
        assert presentation.provision(label) == label
    with translation.override("fr"):
        assert presentation.provision(label) == french


def test_every_label_of_a_provision_is_french_in_french() -> None:
    with translation.override("fr"):
        labels = " ".join(presentation.provision(label) for label in PROVISIONS)
        labels += " ".join(presentation.provision(text.article) for text in LAW_TEXTS.values())
    assert not re.search(r"\b(last|after|before|and|intro|SOR)\b|\bs\. ", labels)


def test_an_article_and_its_instrument_are_cited_in_the_language_of_the_page() -> None:
    assert in_both(lambda: presentation.provision(S_95_17.article)) == ("s. 95.17", "art. 95.17")
    assert in_both(lambda: presentation.provision(S_95_17.instrument.cited_as)) == (
        "CQLR c. S-13.1, r. 3",
        "RLRQ, c. S-13.1, r. 3",
    )
    assert in_both(lambda: presentation.provision(ART_54.instrument.cited_as)) == (ART_54.instrument.cited_as,) * 2


def test_a_type_of_event_is_called_as_the_catalogue_does_and_one_of_an_integrator_as_it_was_sent() -> None:
    assert in_both(lambda: presentation.event_name("count.closed")) == ("closing of the count", "clôture de la comptée")
    assert in_both(lambda: presentation.event_name("x.acme.lamp")) == ("x.acme.lamp", "x.acme.lamp")


@pytest.mark.parametrize(
    ("hours", "text", "css_class", "days"),
    [(47.5, "47 h left", "", 1), (23.5, "23 h left", "near", 0), (-2.5, "2 h overdue", "overdue", 0)],
)
def test_a_countdown_is_near_a_day_before_its_end_and_overdue_after(
    hours: float, text: str, css_class: str, days: int
) -> None:
    countdown = presentation.countdown(timezone.now() + timedelta(hours=hours))
    assert (countdown.text, countdown.css_class, countdown.days) == (text, css_class, days)


@pytest.mark.parametrize(
    ("text", "shown"), [("Rémi", "Rémi"), ("\N{HEBREW LETTER ALEF}12", "\u2068\N{HEBREW LETTER ALEF}12\u2069")]
)
def test_what_is_written_from_right_to_left_leaves_the_sentence_in_order(text: str, shown: str) -> None:
    assert presentation.isolated(text) == shown
    assert presentation.officer_name(Officer(username=text)) == shown
    assert presentation.person("p1", text) == f"{shown} (p1)"
