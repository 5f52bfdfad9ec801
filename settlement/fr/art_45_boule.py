"""Art. 45: the employees of la boule take turns at the throw.

Law       Arrêté of 14 May 2007, art. 45 «Installation des jeux de la boule et du vingt-trois».
In force  See ``law.ARRETE_2007``.
Scope     That no employee is specialised in throwing the ball.
Missing   The numbers of the tables (al. 1), the order of the turns as the direction sets it (al. 2), and where the chef
          de partie stands (al. 3): no event shows them.

«Tous les employés … à l'exception des seuls chefs de partie, doivent être chargés successivement … de lancer la boule.»
The direction decides how long a turn lasts, so a run of throws proves nothing. The record shows a session in which
nobody else ever had a turn: the reading ``thrower_of_a_session``.

    boule.settled person=P ─► tallies[P], plus one if somebody else could have thrown ─► session.closed
"""

from __future__ import annotations

from settlement.findings import find
from settlement.fr.boule_events import BouleSettled
from settlement.state import Table

EXEMPT = ("chef_de_partie",)
"""Al. 2: «à l'exception des seuls chefs de partie»."""

LEAST_THROWS = 30
"""Throws in company from which a session without a change of thrower is found: half an hour at one a minute."""

UNKNOWN = ""
"""In place of a thrower whom nobody named: then nothing is known of the turns of the session."""


def note_thrower(table: Table, event: BouleSettled) -> None:
    """Count a throw for who made it, if another employee was there to take the turn."""
    person = event.data.person or UNKNOWN
    has_colleague = any(other != person and role not in EXEMPT for other, role in table.staff)
    table.tallies[person] = table.tallies.get(person, 0) + has_colleague


def report_turns(table: Table, seq: int) -> None:
    """Find a session of which one employee made every throw. Lost events may hold the throws of another."""
    if table.after_loss or len(table.tallies) != 1 or "staff" not in table.open_session().observes:
        return
    ((person, throws),) = table.tallies.items()
    if person != UNKNOWN and throws >= LEAST_THROWS:
        find(table, "thrower-not-rotated", table.last_result, seq, recorded=throws, croupier=person, thrower=person)
