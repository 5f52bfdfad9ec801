"""The law as an officer reads it: the paragraphs of a text, with the words of a clause marked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from settlement.law import LAW_TEXTS, Citation, LawText
from settlement.provisions import PROVISIONS


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of a paragraph that is marked throughout, or not at all."""

    words: str
    marked: bool


@dataclass(frozen=True, slots=True)
class Paragraph:
    runs: tuple[Run, ...]

    @property
    def marked(self) -> bool:
        return any(run.marked for run in self.runs)


@dataclass(frozen=True, slots=True)
class MarkedText:
    """One text of law with every paragraph, and the clause of ``label`` marked in it."""

    label: str
    text: LawText
    paragraphs: tuple[Paragraph, ...]


def marked_text(label: str) -> MarkedText | None:
    """Return the text that ``label`` quotes, None where the provision is known by its number only."""
    provision = PROVISIONS.get(label)
    if provision is None or not provision.citations:
        return None
    text = LAW_TEXTS[provision.citations[0].text_id]
    spans = _merged(provision.citations)
    paragraphs = (Paragraph(tuple(_runs(text.content, each.start, each.end, spans))) for each in text.paragraphs)
    return MarkedText(label=label, text=text, paragraphs=tuple(paragraphs))


def _merged(citations: Iterable[Citation]) -> list[tuple[int, int]]:
    """Return the spans in order, none overlapping the next."""
    spans: list[tuple[int, int]] = []
    for citation in sorted(citations, key=lambda citation: citation.start):
        if spans and citation.start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], citation.end))
        else:
            spans.append((citation.start, citation.end))
    return spans


def _runs(words: str, start: int, end: int, spans: list[tuple[int, int]]) -> Iterable[Run]:
    place = start
    for left, right in spans:
        left, right = max(left, start), min(right, end)
        if left >= right:
            continue
        if place < left:
            yield Run(words[place:left], marked=False)
        yield Run(words[left:right], marked=True)
        place = right
    if place < end:
        yield Run(words[place:end], marked=False)
