"""Whom a process of the evidence ledger is about: the persons in its subject.

"p9001"                   player-luck       a player
"p9001, c-3"              pair-luck         a player and a croupier
"c-3, W1"                 croupier-…        a croupier, at a wheel
"c-3, goodwill-paid"      concentration     a croupier, and the rule of findings; "p9001, c-3, …" with a player
"p9001, wager-near-call"  player-…          a player, and the rule of findings
"c-3"                     closer-drift      who closed tables
"compteur-1 + compteur-2" team-drift        a count team
"""

from __future__ import annotations

from collections.abc import Iterator

from audit.persons.directory import Directory, PersonId, players, staff
from audit.presentation import finding_title
from settlement.catalogue import RULES
from settlement.eprocess.kinds import KINDS

TEAM = " + "
"""Between the members of a count team."""


def persons_in(kind: str, subject: str) -> Iterator[PersonId]:
    """Yield the persons whom a process of ``kind`` is about; nobody of a kind that is not known any longer."""
    first, _, second = subject.partition(", ")
    match _about(kind):
        case "player":
            yield from players([subject])
        case "player, croupier":
            yield from players([first])
            yield from staff([second])
        case "player, rule":
            yield from players([first])
        case "croupier" | "closer":
            yield from staff([subject])
        case "croupier, wheel" | "croupier, rule":
            yield from staff([first])
        case "player, croupier, rule":
            yield from players([first])
            yield from staff([second.rpartition(", ")[0]])
        case "count team":
            yield from staff(subject.split(TEAM))


def named_subject(kind: str, subject: str, directory: Directory) -> str:
    """Return the subject of a process of ``kind`` as a page or a file shows its persons, a rule by its title."""
    first, comma, second = subject.partition(", ")
    match _about(kind):
        case "player":
            return directory.player(subject)
        case "player, croupier":
            return f"{directory.player(first)}{comma}{directory.staff(second)}"
        case "player, rule":
            return f"{directory.player(first)}{comma}{rule_title(second)}"
        case "croupier" | "closer":
            return directory.staff(subject)
        case "croupier, wheel":
            return f"{directory.staff(first)}{comma}{second}"
        case "croupier, rule":
            return f"{directory.staff(first)}{comma}{rule_title(second)}"
        case "player, croupier, rule":
            croupier, comma, rule = second.rpartition(", ")
            return f"{directory.player(first)}, {directory.staff(croupier)}{comma}{rule_title(rule)}"
        case "count team":
            return TEAM.join(map(directory.staff, subject.split(TEAM)))
        case _:
            return subject


def rule_title(name: str) -> str:
    """Return the title of the findings of a rule; the name of one that there is not any longer."""
    return finding_title(name) if name in RULES else name


def _about(kind: str) -> str:
    """Return what a subject of ``kind`` consists of."""
    return KINDS[kind].subject if kind in KINDS else ""
