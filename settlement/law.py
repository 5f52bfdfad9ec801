"""The law texts, and the citations that point into them.

A *text* is one article as it was supplied to us, byte for byte. It is read once, when this module is imported, and must
have the digest given here: a word changed in a text stops the program instead of changing the law. Reading these files
is the only input of this package.

An *instrument* is the regulation that holds the articles. A *citation* is a text and an exact quotation from it, so
that a screen can mark its span.

The French texts bear no date and do not name their instrument. It is inferred from their numbering, and
``Instrument.inferred_from`` says so. Days in force are given only if they are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

from settlement import registries


@dataclass(frozen=True, slots=True, kw_only=True)
class Instrument:
    """A regulation: how it is cited, where it is published, when it was in force."""

    cited_as: str
    title: str
    source: str | None  # where it is published; None if we know no permanent address
    in_force_from: date | None  # None: not known to us
    in_force_until: date | None  # first day it no longer applied; None: no end is known
    inferred_from: str | None  # how we know that a text belongs to it; None: the text names it
    published: date | None = None
    also_given: date | None = None  # another first day in force, as a public database has it
    in_force_source: str | None = None  # where the days in force are from, and what is not known of them


ARRETE_1959 = Instrument(
    cited_as="arrêté du 23 décembre 1959",
    title="Arrêté du 23 décembre 1959 portant réglementation des jeux dans les casinos",
    source=None,
    in_force_from=None,
    in_force_until=None,
    inferred_from="the numbering of articles 54 and 57-1",
    in_force_source="its title gives its day; when it ceased to apply is not in our documents",
)

ARRETE_2007 = Instrument(
    cited_as="arrêté du 14 mai 2007",
    title="Arrêté du 14 mai 2007 relatif à la réglementation des jeux dans les casinos",
    source="https://www.legifrance.gouv.fr/loda/id/JORFTEXT000000278899",
    in_force_from=date(2007, 5, 18),
    in_force_until=None,
    inferred_from="the numbering of articles 55-7 and 55-8",
    published=date(2007, 5, 17),
    also_given=date(2007, 5, 17),
    in_force_source="JORF n° 114 of 17 May 2007; without a clause of its own a text is in force on the day after its "
    "publication (Code civil, art. 1), 18 May 2007, while a public database gives 17 May 2007",
)

BY_LAW_R_3 = Instrument(
    cited_as="CQLR c. S-13.1, r. 3",
    title="By-law respecting casino games",
    source="https://www.legisquebec.gouv.qc.ca/en/document/cr/S-13.1,%20r.%203",
    in_force_from=None,
    in_force_until=date(2011, 10, 13),  # replaced by r. 3.1
    inferred_from=None,
    in_force_source="CQLR c. S-13.1, r. 3.1, which replaced it",
)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph (alinéa) of a text. ``number`` counts from 1; the span is in characters of the text."""

    number: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, kw_only=True)
class LawText:
    """One article as supplied. ``content`` is the whole file, headings included; ``sha256`` 64 hex digits."""

    id: str
    file: str
    sha256: str
    language: Literal["en", "fr"]
    title: str
    article: str  # as cited: "art. 54", "s. 95.17"
    instrument: Instrument
    heading_lines: int  # non-blank lines before the first paragraph
    closing_lines: int  # non-blank lines after the last one: the history note of the Québec text
    content: str

    @cached_property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        """The paragraphs in order, headings and closing note left out."""
        lines: list[tuple[int, str]] = []
        start = 0
        for line in self.content.splitlines(keepends=True):
            if line.strip():
                lines.append((start, line.rstrip("\n")))
            start += len(line)
        body = lines[self.heading_lines : len(lines) - self.closing_lines]
        return tuple(
            Paragraph(number, start, start + len(line), line) for number, (start, line) in enumerate(body, start=1)
        )


class LawTextChanged(Exception):
    """A text of the package does not have the digest that this code expects."""


def read_text(
    file: str,
    *,
    digest: str,
    language: Literal["en", "fr"],
    title: str,
    article: str,
    instrument: Instrument,
    heading_lines: int = 2,
    closing_lines: int = 0,
) -> LawText:
    """Return the text in a ``file`` of ``law_texts``. Raise ``LawTextChanged`` if it has not the ``digest``, in hex."""
    raw = files("settlement").joinpath("law_texts", file).read_bytes()
    if sha256(raw).hexdigest() != digest:
        raise LawTextChanged(f"{file} does not have the digest {digest}")
    return LawText(
        id=file.removesuffix(".txt"),
        file=file,
        sha256=digest,
        language=language,
        title=title,
        article=article,
        instrument=instrument,
        heading_lines=heading_lines,
        closing_lines=closing_lines,
        content=raw.decode("utf-8"),
    )


ART_54 = read_text(
    "fr-art-54.txt",
    digest="28545060f763644accb77fcb4aeb5b060657c581b4574cea62171801e67de171",
    language="fr",
    title="Combinaisons autorisées au jeu de la roulette",
    article="art. 54",
    instrument=ARRETE_1959,
)

ART_55_7 = read_text(
    "fr-art-55-7.txt",
    digest="26e5011d9b062885f553a1fb79b544d571f8bf32292078e2c624731e68146a79",
    language="fr",
    title="Fonctionnement du craps",
    article="art. 55-7",
    instrument=ARRETE_2007,
)

ART_55_8 = read_text(
    "fr-art-55-8.txt",
    digest="5dec4f402f07145d062796ef9c3f4b7f2cf8e7b7c83e9dc7c8cabd3bbf586049",
    language="fr",
    title="Les chances du craps",  # the article has no title of its own
    article="art. 55-8",
    instrument=ARRETE_2007,
    heading_lines=1,
)

ART_57_1 = read_text(
    "fr-art-57-1.txt",
    digest="2f2602d6753863f7240c7809e150c5cd2d93eb48b7d136350fd3fbfbe26962a1",
    language="fr",
    title="Fonctionnement de la roulette dite américaine",
    article="art. 57-1",
    instrument=ARRETE_1959,
)

S_95_17 = read_text(
    "qc-s-13.1-r-3-s-95.17.txt",
    digest="d9ada6ad963364953286a63dc13fc06241f5d6f241b701d2d9825e96b6d42006",
    language="en",
    title="By-law respecting casino games: the “Place Bets” wagers",
    article="s. 95.17",
    instrument=BY_LAW_R_3,
    closing_lines=1,
)

_law_texts: dict[str, LawText] = registries.table(
    {text.id: text for text in (ART_54, ART_55_7, ART_55_8, ART_57_1, S_95_17)}
)
LAW_TEXTS: Mapping[str, LawText] = MappingProxyType(_law_texts)
"""Every text by its id."""


def add_text(text: LawText) -> None:
    """Take a text. Raise ``LawTextChanged`` if its content has not its digest."""
    if sha256(text.content.encode()).hexdigest() != text.sha256:
        raise LawTextChanged(f"{text.file} does not have the digest {text.sha256}")
    registries.share(_law_texts, text.id, text, "a law text")


@dataclass(frozen=True, slots=True)
class Citation:
    """An exact quotation from a text; ``start`` and ``end`` are its span in characters.

    ``occurrence`` counts from 1 if the text has the quotation more than once; None if it is there once.
    """

    text_id: str
    quote: str
    occurrence: int | None = None

    def __post_init__(self) -> None:
        count = self.text.content.count(self.quote)
        if self.occurrence is None:
            assert count == 1, f"{self.text_id}: {count} times {self.quote!r}"
        else:
            assert 1 <= self.occurrence <= count > 1, f"{self.text_id}: {count} times {self.quote!r}"

    @property
    def text(self) -> LawText:
        return LAW_TEXTS[self.text_id]

    @property
    def start(self) -> int:
        start = -1
        for _ in range(self.occurrence or 1):
            start = self.text.content.index(self.quote, start + 1)
        return start

    @property
    def end(self) -> int:
        return self.start + len(self.quote)
