"""What a fraud may do, and when: every method is a moment of a season, at which an honest casino does nothing."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

from benchmarks.seasons_apart.people import Night, follow

if TYPE_CHECKING:
    from benchmarks.seasons_apart.floor import Casino
    from benchmarks.seasons_apart.law import Wager
    from benchmarks.seasons_apart.session import Session


@dataclass(frozen=True)
class Planted:
    """A fraud of a season: the guilty subject, who or what else is in it, the first and last night (from 0)."""

    fraud: str
    kind: str
    subject: tuple[str, ...]
    accomplices: tuple[str, ...]
    first: int
    last: int
    strength: float


class Scheme:
    """A fraud; ``draw`` chooses the guilty, ``rate`` is how often an opportunity is taken."""

    kind: ClassVar[str] = "pair"
    games: ClassVar[tuple[str, ...]] = ("roulette", "craps")
    """What the names of rulesets end in where this fraud happens."""

    def __init__(self, fraud: str, casino: Casino, rng: Random) -> None:
        self.fraud, self.casino, self.rng = fraud, casino, rng
        nights = casino.nights
        start = rng.choice((0, 0, rng.randrange(max(1, nights // 3))))
        self.first, self.last = start, rng.choice((nights - 1, nights - 1, rng.randint(start + nights // 2, nights)))
        self.last = min(self.last, nights - 1)
        self.strength = rng.choice((0.4, 0.7, 1.0, 1.5))
        self.tables = {table.code for table in casino.tables if table.ruleset.endswith(self.games)}
        self.subject: tuple[str, ...] = ()
        self.accomplices: tuple[str, ...] = ()
        self.draw()

    def draw(self) -> None:
        """Choose a croupier and a friend."""
        self.croupier, self.friend = self.casino.innocent_croupier(), self.casino.innocent_player()
        self.subject = (self.croupier, self.friend)

    def planted(self) -> Planted:
        return Planted(self.fraud, self.kind, self.subject, self.accomplices, self.first, self.last, self.strength)

    def takes(self, rate: float) -> bool:
        """Whether an opportunity is taken that somebody of strength 1 takes at ``rate``."""
        return self.rng.random() < rate * self.strength

    def together(self, session: Session) -> bool:
        """Whether the croupier deals and the friend plays."""
        return session.croupier == self.croupier and self.friend in session.present

    # The moments

    def arrange(self, night: Night) -> None:
        """Change the plan of a night: the friend comes to where the croupier deals."""
        if self.kind == "pair" and self.rng.random() < 0.7:
            follow(self.rng, night, self.friend, self.croupier, self.tables)

    def weights(self, session: Session) -> list[float] | None:
        """Return the weights of the pockets, in the order of the wheel."""

    def faces(self, session: Session) -> tuple[int, int] | None:
        """Return the faces of a throw."""

    def stakes(self, session: Session) -> None:
        """Lay stakes before the call."""

    def before_call(self, session: Session, outcome: Any) -> None:
        """Act when the outcome can be seen and the call has not been made, because it is late."""

    def late(self, session: Session, outcome: Any) -> None:
        """Act when the outcome can be seen, after the call and before it is recorded."""

    def voids(self, session: Session, outcome: Any) -> Any:
        """Return something true to have the spin or throw voided; at craps it may be the flag."""

    def corrects(self, session: Session, outcome: Any) -> Any:
        """Return the outcome that the recorded one is changed to."""

    def spares(self, session: Session, wager: Wager) -> str | None:
        """Return how a loser escapes: ``lies``, ``lifted``, ``handed``."""

    def pays(self, session: Session, wager: Wager, won: int, back: int) -> tuple[int, int]:
        return won, back

    def after(self, session: Session) -> None:
        """Act when the coup is paid."""

    def counts(self, session: Session, counted: int, closer: str) -> int:
        return counted

    def at_desk(self, night: Night) -> None:
        """Act at the cash desk, when the tables are closed."""
