"""Void calls by croupier and by player: how often coups are void, and what they would have paid.

Many spins are called void before anybody has noted a result. Then only the croupier and the players are known.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from msgspec import Struct, field

from settlement.eprocess.bets import Change, Share
from settlement.eprocess.observations import Observations

Pair: TypeAlias = tuple[str, str]
"""A player, and a croupier."""


class Called(Struct):
    """What a croupier called void: of each session how often, and what each known result would have changed."""

    calls: list[Share] = field(default_factory=list)
    luck: list[Change] = field(default_factory=list)


class CalledWith(Struct):
    """The same while a player had stakes: of the player's coups, and of the croupier's."""

    of_player: list[Share] = field(default_factory=list)
    of_croupier: list[Share] = field(default_factory=list)
    luck: list[Change] = field(default_factory=list)


class Coups:
    """The coups of a session by croupier, those of them that had been called void, and whose stakes lay there.

    A coup that is called void is taken for the next one of who dealt it, where the same stakes lie; else for the last.
    """

    def __init__(self, session: Observations) -> None:
        self.dealt: Counter[str] = Counter()
        self.staked: Counter[Pair] = Counter()
        self.void: Counter[str] = Counter()
        self.void_with: Counter[Pair] = Counter()
        seqs: dict[str, list[int]] = {}
        for draw in session.drawn:
            if draw.croupier:
                seqs.setdefault(draw.croupier, []).append(draw.seq)
        called = {
            own[min(bisect_left(own, call.seq), len(own) - 1)]
            for call in session.void_calls
            for own in [seqs.get(call.croupier)]
            if own
        }
        for draw in session.drawn:
            if draw.croupier:
                is_called = draw.seq in called
                self.dealt[draw.croupier] += 1
                self.void[draw.croupier] += is_called
                for player in draw.players:
                    self.staked[player, draw.croupier] += 1
                    self.void_with[player, draw.croupier] += is_called

    def by_croupier(self) -> Iterator[tuple[str, Share]]:
        """Yield the share of each croupier in what was called void; of one who dealt alone, none."""
        everything, void = self.dealt.total(), self.void.total()
        for croupier, own in self.dealt.items() if void and len(self.dealt) > 1 else ():
            yield croupier, Share(self.void[croupier], own, void, everything)

    def by_pair(self) -> Iterator[tuple[Pair, Share, Share]]:
        """Yield the share of each pair in what was void of the player's coups, and of the croupier's.

        Only of players of whose coups one was. Where it can be the pair's alone, at least one is: the second share is
        given that. A pair in which one had nobody else is compared with nobody.
        """
        played: Counter[str] = Counter()
        void: Counter[str] = Counter()
        for (player, croupier), own in self.staked.items():
            played[player] += own
            void[player] += self.void_with[player, croupier]
        for (player, croupier), own in self.staked.items():
            if void[player] and own < played[player] and own < self.dealt[croupier]:
                both = self.void_with[player, croupier]
                least = int(void[player] == both)
                yield (
                    (player, croupier),
                    Share(both, own, void[player], played[player]),
                    Share(both, own, self.void[croupier], self.dealt[croupier], least),
                )


def called_void(sessions: Iterable[Observations]) -> tuple[dict[str, Called], dict[Pair, CalledWith]]:
    """Return what the coups called void in some sessions feed to croupiers, and to players with croupiers."""
    croupiers: dict[str, Called] = {}
    pairs: dict[Pair, CalledWith] = {}
    for session in sessions:
        coups = Coups(session)
        for croupier, share in coups.by_croupier():
            croupiers.setdefault(croupier, Called()).calls.append(share)
        for pair, of_player, of_croupier in coups.by_pair():
            with_him = pairs.setdefault(pair, CalledWith())
            with_him.of_player.append(of_player)
            with_him.of_croupier.append(of_croupier)
        for draw in session.voided:
            if draw.croupier and draw.luck is not None:
                croupiers.setdefault(draw.croupier, Called()).luck.append(draw.luck)
            for player, change in draw.players.items() if draw.croupier else ():
                pairs.setdefault((player, draw.croupier), CalledWith()).luck.append(change)
    return croupiers, pairs
