"""One sentence of the law, and what answers for it.

The sentences of a text are named by their opening words, in order: each reaches to the next, the blanks between them
included, so that they tile the text. What a sentence asks of a table is held by rules; what it leaves open, by
readings; what it says of a bet, by that bet. What no table reports has a ``why``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from settlement.catalogue.rule import Wording
from settlement.law import LawText


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence by its opening words.

    ``rules``, ``readings`` and ``bets`` are names; ``why`` says what a table would have to report for the sentence, or
    for the part of it that no rule sees, to be checked. None: every part of it that asks something is checked.
    ``says`` is what a sentence is that holds for bets and defines none, a heading for example: pages show it in place
    of the bets.
    """

    opening: str
    rules: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()
    bets: tuple[str, ...] = ()
    why: Wording | None = None
    says: Wording | None = None


@dataclass(frozen=True, eq=False)
class Article:
    """A text, its sentences in order, and the rulesets that it governs. Others may rest on it by analogy."""

    text: LawText
    governs: tuple[str, ...]
    sentences: tuple[Sentence, ...]

    @cached_property
    def rules(self) -> frozenset[str]:
        """The rules that some sentence names."""
        return frozenset(name for sentence in self.sentences for name in sentence.rules)

    @cached_property
    def readings(self) -> frozenset[str]:
        """The readings that some sentence names."""
        return frozenset(name for sentence in self.sentences for name in sentence.readings)

    def spans(self) -> Iterator[tuple[Sentence, int, int]]:
        """Yield each sentence with its span in code points of the text."""
        starts = openings(self.text.content, [sentence.opening for sentence in self.sentences])
        yield from zip(self.sentences, starts, [*starts[1:], len(self.text.content)], strict=True)


class UnknownSentence(Exception):
    """The opening words of a sentence are not in its text, or not in that order."""


def openings(content: str, words: Sequence[str]) -> list[int]:
    """Return where in ``content`` each of ``words`` begins, each searched after the one before."""
    starts: list[int] = []
    cursor = 0
    for opening in words:
        start = content.find(opening, cursor)
        if start < 0:
            raise UnknownSentence(opening)
        starts.append(start)
        cursor = start + len(opening)
    return starts


# What answers for every bet, by what a sentence says of it.

PAID = (
    "payout-overpaid",
    "payout-underpaid",
    "stake-not-returned",
    "payout-put-right",
    "rounded-in-players-favour",
)

PRICED = (*PAID, "indivisible-stake")
"""For a sentence that says what a bet pays."""

UNDECIDED = ("push-paid", "payout-without-result", "winning-wager-collected")
"""For a sentence that says when a bet is neither won nor lost."""

DECIDED = (
    *UNDECIDED,
    *PAID,
    "payout-missing",
    "payout-duplicated",
    "losing-wager-paid",
    "losing-wager-not-collected",
    "void-stake-kept",
    "left-up-stake-mismatch",
    "withdrawal-of-decided-wager",
    "wager-left-open",
)
"""For a sentence that says when a bet wins and when it loses."""

# What a sentence is that defines no bet

NUMBER_OF_THE_TEXT = Wording("Number of the text", "Numéro du texte")
WHICH_TABLES = Wording("Heading: which tables it binds", "Titre : les tables auxquelles il s’applique")

# What no table reports, in several texts

PLACE_ON_THE_FELT = Wording(
    "Where on the layout the chips lie: a table would have to report the position of each stake, as read by a camera "
    "or by antennas under the felt. The event contract has the bet and its number.",
    "L’endroit du tapis où se trouve la mise : la table devrait transmettre la position de chaque mise, relevée par "
    "une caméra ou par des antennes sous le tapis. Le contrat d’événements porte la chance et son numéro.",
)
