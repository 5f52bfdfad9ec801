"""The text of the law on a finding's page: its paragraphs, with the clause that applies marked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from settlement.law import LAW_TEXTS, Citation, LawText
from settlement.law_coverage.quoted import quoted
from settlement.provisions import PROVISIONS


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of a paragraph, marked as a whole or not at all."""

    text: str
    is_marked: bool


@dataclass(frozen=True, slots=True)
class Paragraph:
    runs: tuple[Run, ...]

    @property
    def is_marked(self) -> bool:
        return any(run.is_marked for run in self.runs)


@dataclass(frozen=True, slots=True)
class MarkedText:
    """One text of law in full, with the clause of provision ``label`` marked."""

    label: str
    text: LawText
    paragraphs: tuple[Paragraph, ...]


def marked_text(label: str, rule: str | None = None) -> MarkedText | None:
    """Return the text that provision ``label`` quotes; None if it is cited by number alone.

    Of the clause, the sentences that ``rule`` checks are marked; without a rule, all of it.
    """
    provision = PROVISIONS.get(label)
    if provision is None or not provision.citations:
        return None
    citations = provision.citations if rule is None else quoted(rule, [label])
    text = LAW_TEXTS[citations[0].text_id]
    spans = _merged(citations)
    paragraphs = (Paragraph(tuple(_runs(text.content, each.start, each.end, spans))) for each in text.paragraphs)
    return MarkedText(label=label, text=text, paragraphs=tuple(paragraphs))


def _merged(citations: Iterable[Citation]) -> list[tuple[int, int]]:
    """Return the quoted spans in order, overlapping ones joined."""
    spans: list[tuple[int, int]] = []
    for citation in sorted(citations, key=lambda citation: citation.start):
        if spans and citation.start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], citation.end))
        else:
            spans.append((citation.start, citation.end))
    return spans


def _runs(content: str, start: int, end: int, spans: list[tuple[int, int]]) -> Iterable[Run]:
    """Yield the paragraph ``content[start:end]`` cut at the edges of ``spans``."""
    position = start
    for left, right in spans:
        left, right = max(left, start), min(right, end)
        if left >= right:
            continue
        if position < left:
            yield Run(content[position:left], is_marked=False)
        yield Run(content[left:right], is_marked=True)
        position = right
    if position < end:
        yield Run(content[position:end], is_marked=False)
