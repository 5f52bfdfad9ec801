"""Seasons of a casino with frauds planted in them, written apart from what is to find them.

These modules share no code with Cabochon: neither its law nor its simulation. Their author knew the contract of events,
the articles, and a list of frauds as manuals of surveillance describe them. The author had not read the ledger.

    >>> from benchmarks.seasons_apart import season
    >>> one = season(7, nights=2, tables=3, frauds=["past_poster"])
    >>> one.planted[0].kind
    'player'
    >>> [stream.table for stream in one.streams]
    ['T1', 'T2', 'T3', '', 'T1', 'T2', 'T3', '']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.seasons_apart.floor import FRAUDS, Casino, Deed, Stream
from benchmarks.seasons_apart.people import Shift
from benchmarks.seasons_apart.scheme import Planted

__all__ = ["FRAUDS", "Deed", "Planted", "Season", "Shift", "Stream", "season"]


class Season:
    """A season. ``deeds`` fills while ``streams`` is read: each act of a fraud, each honest mistake."""

    def __init__(self, seed: int, nights: int, tables: int, frauds: Sequence[str], mishaps: float) -> None:
        self._drawn = (seed, nights, tables, tuple(frauds), mishaps)
        casino = Casino(*self._drawn)
        self.planted: list[Planted] = [scheme.planted() for scheme in casino.schemes]
        self.players: list[str] = list(casino.players)
        self.croupiers: list[str] = casino.staff.croupiers
        self.inspectors: list[str] = casino.staff.inspectors
        self.duties: list[Shift] = [shift for night in casino.plans for all_ in night.shifts.values() for shift in all_]
        self.deeds: list[Deed] = []

    @property
    def streams(self) -> Iterator[Stream]:
        """Yield (name, gaming day, table, ruleset, events), night by night, the count of a night after its tables."""
        casino = Casino(*self._drawn)
        self.deeds = casino.deeds
        return casino.streams()


def season(seed: int, *, nights: int, tables: int, frauds: Sequence[str], mishaps: float = 1.0) -> Season:
    """Return the season of ``seed``; ``frauds`` are names in ``FRAUDS``, ``mishaps`` multiplies honest mistakes.

    ``ValueError``: there are too few tables or people for these frauds. ``KeyError``: no such fraud.
    """
    return Season(seed, nights, tables, frauds, mishaps)
