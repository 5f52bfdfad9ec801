"""The sentences that a finding quotes: of the clauses it cites, those that its rule checks.

    art. 57-1 al. 6, six obligations ──► `stacks-not-rebuilt` checks one ──► «A chaque coup, il doit … la bille.»

A provision quotes a paragraph, or what of it carries rules. Of that a finding quotes the sentence with the obligation
that was broken. Where the list of obligations names the rule nowhere in the provision, it is quoted as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from settlement import registries
from settlement.law import LAW_TEXTS, Citation
from settlement.law_coverage import articles
from settlement.law_coverage.sentence import Article
from settlement.provisions import PROVISIONS

_END_OF_SENTENCE = re.compile(r"(?<=\.) (?=[A-ZÀÉ“])|\n+")
"""Between two sentences: «etc., », «50 p. 100» and «A. - Les» are inside of one."""


def quoted(rule: str, labels: Iterable[str | None]) -> tuple[Citation, ...]:
    """Return what a finding of ``rule`` quotes of the provisions that it cites, in their order, each once.

    There are none for a label that is no provision, or is known by its number only.
    """
    return tuple(dict.fromkeys(each for label in labels if label for each in _of_provision(rule, label)))


@cache
def _of_provision(rule: str, label: str) -> tuple[Citation, ...]:
    provision = PROVISIONS.get(label)
    if provision is None:
        return ()
    named = [each for citation in provision.citations for each in _sentences(rule, citation)]
    return tuple(dict.fromkeys(named)) or provision.citations


def _sentences(rule: str, citation: Citation) -> Iterator[Citation]:
    """Yield the sentences of ``citation`` with an obligation that ``rule`` checks."""
    article = next((each for each in articles() if each.text.id == citation.text_id), None)
    if article is None:
        return
    checked = _spans_of(rule, article)
    for start, end in _parts(citation):
        if any(left < end and start < right for left, right in checked):
            yield _cut(citation.text_id, start, end)


def _spans_of(rule: str, article: Article) -> list[tuple[int, int]]:
    """Return the spans of the clauses that name ``rule``, without the blanks that follow them."""
    content = article.text.content
    return [
        (start, start + len(content[start:end].rstrip()))
        for clause, start, end in article.spans()
        if rule in clause.rules
    ]


def _parts(citation: Citation) -> Iterator[tuple[int, int]]:
    """Yield the span of each sentence of a citation, in its text."""
    start = first = citation.start
    for gap in _END_OF_SENTENCE.finditer(citation.quote):
        yield start, first + gap.start()
        start = first + gap.end()
    yield start, citation.end


def _cut(text_id: str, start: int, end: int) -> Citation:
    content = LAW_TEXTS[text_id].content
    quote = content[start:end]
    if content.count(quote) == 1:
        return Citation(text_id, quote)
    before, at = 1, content.index(quote)
    while at < start:
        before, at = before + 1, content.index(quote, at + 1)
    return Citation(text_id, quote, before)


registries.forgets(_of_provision.cache_clear)
