"""A clause of the law, and what answers for it: a sentence, or the part of one that holds one obligation.

    Le croupier … doit, obligatoirement, actionner chaque fois le cylindre │ dans un sens opposé au précédent, │ et
    lancer la bille │ en sens inverse.

The clauses of a text are named by their opening words, in order: each reaches to the next, the blanks between them
included, so that they tile the text. A duty of somebody is an obligation: rules check it, or no table reports it,
which has a ``why``. Readings hold what a clause leaves open; a bet holds what it says of that bet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from settlement.catalogue.rule import Wording
from settlement.law import LawText


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause by its opening words.

    ``obligation`` is what somebody has to obey, in words of the clause: its verb, «actionner», or how it is to be done,
    «en sens inverse». "": nobody has to do anything. ``rules`` check it; ``readings`` and ``bets`` are names, too.
    ``why`` says what a table would have to report for the obligation, or for the part of it that no rule sees, to be
    checked. None: all of it is checked. ``says`` is what a clause is that holds for bets and defines none, a heading
    for example: pages show it in place of the bets.
    """

    opening: str
    obligation: str = ""
    rules: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()
    bets: tuple[str, ...] = ()
    why: Wording | None = None
    says: Wording | None = None


@dataclass(frozen=True, eq=False)
class Article:
    """A text, its clauses in order, and the rulesets that it governs. Others may rest on it by analogy."""

    text: LawText
    governs: tuple[str, ...]
    clauses: tuple[Clause, ...]

    @cached_property
    def rules(self) -> frozenset[str]:
        """The rules that some clause names."""
        return frozenset(name for clause in self.clauses for name in clause.rules)

    @cached_property
    def readings(self) -> frozenset[str]:
        """The readings that some clause names."""
        return frozenset(name for clause in self.clauses for name in clause.readings)

    def spans(self) -> Iterator[tuple[Clause, int, int]]:
        """Yield each clause with its span in code points of the text."""
        starts = openings(self.text.content, [clause.opening for clause in self.clauses])
        yield from zip(self.clauses, starts, [*starts[1:], len(self.text.content)], strict=True)


class UnknownClause(Exception):
    """The opening words of a clause are not in its text, or not in that order."""


def openings(content: str, words: Sequence[str]) -> list[int]:
    """Return where in ``content`` each of ``words`` begins, each searched after the one before."""
    starts: list[int] = []
    cursor = 0
    for opening in words:
        start = content.find(opening, cursor)
        if start < 0:
            raise UnknownClause(opening)
        starts.append(start)
        cursor = start + len(opening)
    return starts


# What answers for every bet, by what a clause says of it.

PAID = (
    "payout-overpaid",
    "payout-underpaid",
    "stake-not-returned",
    "payout-put-right",
    "rounded-in-players-favour",
)

PRICED = (*PAID, "indivisible-stake")
"""For a clause that says what a bet pays."""

UNDECIDED = ("push-paid", "payout-without-result", "winning-wager-collected")
"""For a clause that says when a bet is neither won nor lost."""

_ENDED = ("withdrawal-of-decided-wager", "wager-left-open")

WON = (
    *UNDECIDED,
    *PAID,
    "payout-missing",
    "payout-duplicated",
    "void-stake-kept",
    "left-up-stake-mismatch",
    *_ENDED,
)
"""For a clause that says when a bet wins."""

LOST = ("losing-wager-paid", "losing-wager-not-collected", *_ENDED)
"""For a clause that says when a bet loses."""

DECIDED = tuple(dict.fromkeys((*WON, *LOST)))
"""For a clause that says when a bet wins and when it loses."""

# What a clause is that defines no bet

NUMBER_OF_THE_TEXT = Wording("Number of the text", "Numéro du texte")
WHICH_TABLES = Wording("Heading: which tables it binds", "Titre : les tables auxquelles il s’applique")

# What no table reports, in several texts

PLACE_ON_THE_FELT = Wording(
    "Where on the layout the chips lie: a table would have to report the position of each stake, as read by a camera "
    "or by antennas under the felt. The event contract has the bet and its number.",
    "L’endroit du tapis où se trouve la mise : la table devrait transmettre la position de chaque mise, relevée par "
    "une caméra ou par des antennes sous le tapis. Le contrat d’événements porte la chance et son numéro.",
)
