"""What an officer typed into the palette, taken apart: “keller r3 23:41”, “DEA-26-0143”, “night 19 Nov”, “art 55-7”."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta

from audit.desk.tables.moment import CLOCK, clock_in
from audit.presentation import MONTHS_EN, MONTHS_FR, REFERENCE

MAX_TEXT = 100

ORDER = re.compile(r"\b[PWN]-\d\d-\d{4,15}\b", re.IGNORECASE)
"""The number of a payment order, of a waiver or of a kept sum: “P-26-0007”."""

TABLE = re.compile(r"[^\W\d_]{1,3}\d{1,3}")
"""What looks like the code of a table: “r9”, “BJ12”."""

DAYS_BACK = {"today": 0, "aujourd’hui": 0, "aujourd'hui": 0, "yesterday": 1, "hier": 1}
"""Words for a day, in both languages, and how many days before today it is."""

ISO_DAY = re.compile(r"\b(20\d\d)-(\d\d)-(\d\d)\b")

WRITTEN_DAY = re.compile(r"\b(\d{1,2})(?:er)? ([^\W\d_]{3,9})\b\.?(?: (20\d\d))?")
"""A day as the desk writes it: “19 Nov”, « 1er déc. », with a year or without."""


@dataclass(frozen=True, slots=True)
class Query:
    """What was typed. ``words`` are what is left of it: names, ids, tables, words of a title, as they were typed."""

    text: str
    words: Sequence[str]
    clock: time | None
    day: date | None
    reference: re.Match[str] | None
    """The reference of a finding."""
    orders: Sequence[str] = ()
    """Numbers of payment orders, in capitals."""

    @property
    def ids(self) -> Sequence[str]:
        """Return the words as ids may be written: as typed, and in small and in capital letters."""
        return sorted({case for word in self.words for case in (word, word.lower(), word.upper())})

    @property
    def marked(self) -> Sequence[str]:
        """Return what to mark where it occurs in a result, the longest first."""
        clock = [f"{self.clock:%H:%M}"] if self.clock is not None else []
        return sorted({*self.words, *self.orders, *clock}, key=lambda word: (-len(word), word))


def query_of(text: str, *, today: date) -> Query:
    """Take apart what was typed. A day without a year is the last such day until ``today``."""
    text = " ".join(text.replace("\0", " ").split())[:MAX_TEXT]
    found = REFERENCE.search(text)
    orders = tuple(each.upper() for each in ORDER.findall(text))
    rest = ORDER.sub(" ", REFERENCE.sub(" ", text))
    day, rest = _day_in(rest, today)
    clock = clock_in(rest)
    rest = CLOCK.sub(" ", rest)
    words = tuple(word for word in (each.strip(".,;:") for each in rest.split()) if word)
    return Query(text, words, clock, day, reference=found, orders=orders)


def folded(text: str) -> str:
    """Return a text without case and accents, so that “regle” finds « Règles »."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in parts if not unicodedata.combining(each))


def _day_in(text: str, today: date) -> tuple[date | None, str]:
    """Return the day that a text names, and the text without it; None if it names none that there is."""
    iso = ISO_DAY.search(text)
    if iso is not None:
        day = _date(int(iso[1]), int(iso[2]), int(iso[3]))
        return day, ISO_DAY.sub(" ", text) if day else text
    for word in text.split():
        if word.lower() in DAYS_BACK:
            back = timedelta(days=DAYS_BACK[word.lower()])
            return today - back, text.replace(word, " ", 1)
    for written in WRITTEN_DAY.finditer(text):
        month = _month(written[2])
        if month is None:
            continue
        years = [int(written[3])] if written[3] else [today.year, today.year - 1]
        days = [day for year in years if (day := _date(year, month, int(written[1]))) is not None]
        past = [day for day in days if written[3] or day <= today]
        if past:
            return past[0], text[: written.start()] + " " + text[written.end() :]
    return None, text


def _month(word: str) -> int | None:
    """Return the number of a month by its name or the beginning of it, in either language."""
    word = folded(word)
    for names in (MONTHS_EN, MONTHS_FR):
        for number, name in enumerate(names, 1):
            short = folded(name).rstrip(".")
            if word.startswith(short) or short.startswith(word):
                return number
    return None


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
