"""The accounting variances of a table, by who closed it and by who dealt, compared with counts without that person.

    counts of one table     a1   a2   b1   b2   b3       b1 is compared with a2, b2 with a1, b3 with none

A run of counts of a person is compared with the run of others before it, from the middle outwards: so each count is in
one comparison of that person at most. Where who closes, or deals, has nothing to do with the variances, the two of a
comparison are exchangeable: their difference is as likely to be the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct

from settlement.eprocess.bets import Share

MOST_BEFORE = 60
"""Counts of a table that are looked back at."""

CLOSER, ON_DUTY = "closer-drift", "duty-drift"

Others: TypeAlias = Mapping[str, Mapping[str, int]]
"""By kind and person the variance of the count that a count is compared with."""

NO_OTHERS: Others = MappingProxyType({})


class Counted(Struct, frozen=True):
    """The variance of one count, in minor units; who closed the table, "" if not known, and who dealt, if known."""

    variance: int
    closer: str
    dealt: tuple[str, ...]


class Varied(NamedTuple):
    """What a count shows of a person: by itself, and compared with the other one."""

    alone: list[Any]
    compared: list[Any]


def others_of(before: Sequence[Counted], counted: Counted) -> dict[str, dict[str, int]]:
    """Return what a count is compared with for each of its persons; ``before`` are the counts of its table, in order.

    A person without an earlier count to compare with is left out, and so is a count of which nobody knows whose it was.
    """
    found: dict[str, dict[str, int]] = {}
    for kind, persons_of in ((CLOSER, _closers), (ON_DUTY, _dealers)):
        known = [each for each in before[-MOST_BEFORE:] if persons_of(each)]
        others = {person: _other(known, person, persons_of) for person in persons_of(counted)}
        found[kind] = {person: other.variance for person, other in others.items() if other is not None}
    return found


def varied(variance: int, others: Others) -> Iterator[tuple[str, str, dict[str, Varied]]]:
    """Yield the kind, the person and what the process sees of a count, for each person who is compared."""
    for kind, of_kind in others.items():
        for person, other in sorted(of_kind.items()):
            below = [Share(int(variance < each), 1, 1, 2) for each in (0, other) if variance != each]
            alone, compared = (below[:1], below[1:]) if variance else ([], below)
            seen = {"variance": Varied([variance], [variance - other]), "below": Varied(alone, compared)}
            yield kind, person, seen


def _closers(counted: Counted) -> Collection[str]:
    return (counted.closer,) if counted.closer else ()


def _dealers(counted: Counted) -> Collection[str]:
    return counted.dealt


def _other(before: Sequence[Counted], person: str, persons_of: Callable[[Counted], Collection[str]]) -> Counted | None:
    """Return the count without a person that the next one of his is compared with; None if there is none left."""
    own = 0
    while own < len(before) and person in persons_of(before[-1 - own]):
        own += 1
    reach = before[-1 - 2 * own : len(before) - own] if 2 * own < len(before) else ()
    return reach[0] if reach and not any(person in persons_of(each) for each in reach) else None
