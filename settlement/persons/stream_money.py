"""What is kept of one stream when it closes: the money of each player in it. It is joined by gaming day (``day``)."""

from __future__ import annotations

from fractions import Fraction

import msgspec
from msgspec import Struct

from settlement.night.notes import Slip
from settlement.persons.exchanges import Exchange
from settlement.persons.opposing import Pair


class Play(Struct):
    """The play of one player: amounts in minor units, wins those of the house.

    ``handle`` is what was staked and decided, ``undecided`` what is still in play or in prison, ``returned`` the stakes
    that were not lost: chips that were there before. It is 0 where an earlier version kept the stream. ``recorded`` has
    goodwill and disputes in it, and what is ``unadjudicated``, of bets that no ruleset decides; ``variance`` is that of
    the luck of his stakes, in squared minor units. ``tips`` are apart from everything else: they are neither the
    house's nor a stake.
    """

    wagers: int = 0
    handle: int = 0
    undecided: int = 0
    theoretical: Fraction = Fraction(0)
    adjudicated: int = 0
    recorded: int = 0
    unadjudicated: int = 0
    carried: Fraction = Fraction(0)
    variance: Fraction = Fraction(0)
    tips: int = 0
    returned: int = 0

    @property
    def luck(self) -> Fraction:
        """The luck of the house with this player: what the rules gave, less the theoretical win."""
        return self.adjudicated - self.theoretical

    @property
    def payout_errors(self) -> int:
        """What the house has too much of by wrong payouts; below zero, the player has it."""
        return self.recorded - self.adjudicated - self.unadjudicated

    def __add__(self, other: Play) -> Play:
        names = Play.__struct_fields__
        return Play(**{name: getattr(self, name) + getattr(other, name) for name in names})


class Rack(Struct, frozen=True, kw_only=True):
    """The chips of one table, in minor units. ``closing`` is None while the session is open.

    ``is_followed``: everything that moves chips is observed, and nothing else than chips was staked, so that slips,
    wagers and buy-ins say what the rack should hold.
    """

    opening: int = 0
    fills: int = 0
    credits: int = 0
    buy_ins: int = 0
    recorded: int = 0
    closing: int | None = None
    is_followed: bool = False

    @property
    def expected(self) -> int:
        """What the rack should hold: the opening float, fills less credits, the win, less the chips sold."""
        return self.opening + self.fills - self.credits + self.recorded - self.buy_ins


class StreamMoney(Struct, kw_only=True):
    """The money of the players of one stream, through its last event read.

    ``rack`` is None for a count room. ``is_closed``: nothing more is expected of it. ``sees_wagers``: its wagers are
    observed, so that somebody without any did not play there.
    """

    stream: str
    casino: str = ""
    table: str = ""
    gaming_day: str = ""
    currency: str = ""
    ruleset: str = ""
    opened_at: str = ""
    closed_by: int = 0
    sees_wagers: bool = False
    exchanges: list[Exchange] = []
    players: dict[str, Play] = {}
    pairs: list[Pair] = []
    slips: list[Slip] = []
    rack: Rack | None = None

    @property
    def is_closed(self) -> bool:
        return self.closed_by > 0


def encode(money: StreamMoney) -> bytes:
    """Return the money of a stream as canonical JSON; a fraction is the text ``n/d``."""
    encoded: bytes = msgspec.json.encode(money, enc_hook=str, order="sorted")
    return encoded


def decode(encoded: bytes) -> StreamMoney:
    """Return what ``encode`` encoded."""
    return msgspec.json.decode(encoded, type=StreamMoney, dec_hook=_fraction)


def _fraction(kind: type, text: object) -> object:
    return kind(text)


class OfPlayer(Struct):
    """What a stream keeps of one player: ``play`` is None for who only exchanged something there."""

    stream: str
    table: str
    gaming_day: str
    currency: str
    play: Play | None
    exchanges: list[Exchange]


class _Undecoded(Struct):
    stream: str
    table: str = ""
    gaming_day: str = ""
    currency: str = ""
    exchanges: list[Exchange] = []
    players: dict[str, msgspec.Raw] = {}


def decode_player(encoded: bytes, player: str) -> OfPlayer | None:
    """Return what ``encode`` encoded of one player, without decoding the others; None if he is not in it."""
    kept = msgspec.json.decode(encoded, type=_Undecoded)
    own = kept.players.get(player)
    play = msgspec.json.decode(own, type=Play, dec_hook=_fraction) if own is not None else None
    exchanges = [each for each in kept.exchanges if each.player == player]
    if play is None and not exchanges:
        return None
    return OfPlayer(kept.stream, kept.table, kept.gaming_day, kept.currency, play, exchanges)
