"""The kinds of processes: what about, against which null, with which mixture, which question, which weight.

``half`` says which half of the budget a kind belongs to, ``weight`` how many of ``PARTS`` of that half. ``variant`` of
a process is the number of pockets of its wheel, 0 without one.

All parts are given out: half of a person's luck, and of what a croupier's findings are, for what most people would do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, NamedTuple

from settlement.eprocess import mixtures
from settlement.eprocess.process import Mixture

PARTS = 160


class Kind(NamedTuple):
    """One kind of process. ``question`` is the rule that it asks by, ``null`` what is true of an orderly subject."""

    subject: str
    null: str
    question: str
    half: Literal["equipment", "persons"]
    weight: int
    mixture: Callable[[int], Mixture]

    @property
    def share(self) -> Fraction:
        """Its part of its half of the budget."""
        return Fraction(self.weight, PARTS)


def _plain(mixture: Callable[[], Mixture]) -> Callable[[int], Mixture]:
    return lambda _variant: mixture()


EVEN = "pockets are even and independent of those before"
FAIR_DICE = "faces are even and independent"
THROWS = "faces are even and independent, or his turns with a set show what those of the others show"
LUCK = "given the stakes that stand, a draw changes the expectation of nobody"
CORRECTED = "given the stakes that stand, a result that was corrected changes the expectation of nobody"
PAIR = "his draws of a session change nothing on average, or as much with this croupier as with the others"
DEALER = "the draws of a session change nothing on average, or as much with this croupier as with the others"
ALIKE = "which croupier of a session dealt a coup has nothing to do with the findings about it"
PAIR_ALIKE = "who dealt has nothing to do with the findings about a player, or who staked with those about a croupier"
PEERS = "which croupier of a session made a payout has nothing to do with its error"
OWN_ALIKE = "whose stakes of a croupier's coups the findings are about has nothing to do with whose they are"
VOIDS = "which croupier dealt has nothing to do with what is called void, and that would have paid like any other"
PAIR_VOIDS = "who dealt, or who staked, has nothing to do with what is called void; that would have paid like any other"
BALANCED = "an accounting variance, cut off at twice the mean size of those before, is 0 on average"
BALANCED_OR_ALIKE = "an accounting variance, cut off, is 0 on average, or as without this person at the same table"

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "wheel": Kind("wheel", EVEN, "wheel-fairness", "equipment", 40, mixtures.wheel),
        "wheel-displacement": Kind("wheel", EVEN, "wheel-signature", "equipment", 20, mixtures.displacement),
        "wheel-memory": Kind("wheel", EVEN, "wheel-fairness", "equipment", 10, mixtures.memory_of_wheel),
        "die": Kind("dice set, die", FAIR_DICE, "dice-fairness", "equipment", 20, _plain(mixtures.die)),
        "dice-supply": Kind("table", FAIR_DICE, "dice-fairness", "equipment", 20, _plain(mixtures.die)),
        "dice-pair": Kind("dice set", FAIR_DICE, "dice-fairness", "equipment", 10, _plain(mixtures.dice_pair)),
        "void-call": Kind(
            "table", "a coup is called void whatever it shows", "void-call-bias", "equipment", 10,
            mixtures.void_call,
        ),
        "table-luck": Kind("table", LUCK, "table-luck", "equipment", 20, _plain(mixtures.table_luck)),
        "table-drift": Kind("table", BALANCED, "accounting-drift", "equipment", 10, _plain(mixtures.drift)),
        "croupier-displacement": Kind(
            "croupier, wheel", EVEN, "wheel-signature", "persons", 20, mixtures.displacement_of_croupier
        ),
        "shooter": Kind("player", THROWS, "shooter-fairness", "persons", 10, _plain(mixtures.shooter)),
        "player-luck": Kind("player", LUCK, "player-luck", "persons", 20, _plain(mixtures.player_luck)),
        "pair-luck": Kind("player, croupier", PAIR, "player-luck", "persons", 10, _plain(mixtures.pair_luck)),
        "late-luck": Kind("player", LUCK, "player-luck", "persons", 10, _plain(mixtures.player_luck)),
        "corrected-luck": Kind("player", CORRECTED, "player-luck", "persons", 10, _plain(mixtures.corrected_luck)),
        "croupier-luck": Kind("croupier", DEALER, "croupier-luck", "persons", 10, _plain(mixtures.croupier_luck)),
        "concentration": Kind(
            "croupier, rule", ALIKE, "concentration", "persons", 14, _plain(mixtures.concentration)
        ),
        "pair-concentration": Kind(
            "player, croupier, rule", PAIR_ALIKE, "concentration", "persons", 4, _plain(mixtures.pair_concentration)
        ),
        "player-concentration": Kind(
            "player, rule", OWN_ALIKE, "concentration", "persons", 4, _plain(mixtures.concentration)
        ),
        "croupier-voids": Kind("croupier", VOIDS, "void-call-bias", "persons", 4, _plain(mixtures.croupier_voids)),
        "pair-voids": Kind("player, croupier", PAIR_VOIDS, "void-call-bias", "persons", 4, _plain(mixtures.pair_voids)),
        "payout-lean": Kind("croupier", PEERS, "payout-errors-one-sided", "persons", 10, _plain(mixtures.payout_lean)),
        "payout-rate": Kind("croupier", PEERS, "payout-error-rate", "persons", 10, _plain(mixtures.payout_rate)),
        "team-drift": Kind("count team", BALANCED, "accounting-drift", "persons", 5, _plain(mixtures.drift)),
        "shift-drift": Kind("shift", BALANCED, "accounting-drift", "persons", 5, _plain(mixtures.drift)),
        "closer-drift": Kind(
            "closer", BALANCED_OR_ALIKE, "accounting-drift", "persons", 5, _plain(mixtures.drift_of_person)
        ),
        "duty-drift": Kind(
            "croupier", BALANCED_OR_ALIKE, "accounting-drift", "persons", 5, _plain(mixtures.drift_of_person)
        ),
    }
)  # fmt: skip
"""By the name that a process keeps."""
