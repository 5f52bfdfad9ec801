"""Times in the casino's zone, people, amounts, values and countdowns, in both languages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone, translation

from audit import presentation
from audit.models import Casino, Officer

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


def test_an_instant_is_in_the_casinos_zone_and_says_utc_without_a_casino() -> None:
    assert presentation.instant(MOMENT, PARIS) == "2026-11-20 00:30:09"
    assert presentation.instant(MOMENT, None) == "2026-11-19 23:30:09"
    assert presentation.clock(MOMENT, MONTREAL) == "18:30:09"
    assert in_both(lambda: presentation.date_time(MOMENT, MONTREAL)) == (
        "Nov. 19, 2026, 6:30 p.m.",
        "19 novembre 2026 18:30",
    )
    assert in_both(lambda: presentation.date_time(MOMENT, None, "SHORT_DATETIME_FORMAT")) == (
        "11/19/2026 11:30 p.m. UTC",
        "19/11/2026 23:30 UTC",
    )


def test_an_amount_has_its_currency_and_is_never_in_minor_units() -> None:
    assert in_both(lambda: presentation.money(123_450, "EUR")) == ("€1,234.50", "1\u202f234,50\xa0€")
    assert presentation.money(500, "JPY") == "¥500"
    assert [presentation.signed_money(minor, "EUR") for minor in (200, 0, -200)] == ["+€2.00", "€0.00", "−€2.00"]


def test_a_value_is_written_as_its_kind() -> None:
    assert presentation.value(700, "money", "EUR") == "€7.00"
    assert presentation.value([5, 3], "faces", "EUR") == "5-3"
    assert presentation.value(None, "money", "EUR") is None
    assert presentation.wager_status("no such status", "EUR") == "no such status"


def test_an_officer_is_a_name_and_nobody_is_a_dash() -> None:
    assert presentation.officer_name(Officer(username="claire")) == "claire"
    assert presentation.officer_name(None) == "—"


def test_a_finding_has_the_title_of_its_rule() -> None:
    assert in_both(lambda: presentation.finding_title("payout-overpaid")) == ("Paid too much", "Paiement excessif")


@pytest.mark.parametrize(
    ("hours", "text", "css_class", "days"),
    [(47.5, "47 h left", "", 1), (23.5, "23 h left", "near", 0), (-2.5, "2 h overdue", "overdue", 0)],
)
def test_a_countdown_is_near_a_day_before_its_end_and_overdue_after(
    hours: float, text: str, css_class: str, days: int
) -> None:
    countdown = presentation.countdown(timezone.now() + timedelta(hours=hours))
    assert (countdown.text, countdown.css_class, countdown.days) == (text, css_class, days)
