"""The people of simulated nights: an invented name for every id that the events use, the same from the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping

import msgspec

from audit.models import Casino, Person, PersonKind
from audit.persons.directory import Family, PersonId, family_of, mentioned_in
from audit.simulation.nights import Night
from settlement import decode

FIRST_NAMES = (
    *(
        "Adèle Agathe Amélie Aurélien Bastien Camille Céline Clément Corentin Delphine Éloïse Élodie Émile Étienne"
    ).split(),
    *("Fabrice Florence Gaétan Geneviève Guillaume Hélène Isabelle Jérôme Julien Laurence Léa Lucie Manon").split(),
    *(
        "Mathilde Maxime Mélanie Noémie Olivier Pascale Raphaël Rémi Simon Solène Sylvain Théo Valérie Yannick Zoé"
    ).split(),
)
LAST_NAMES = (
    *("Arnaud Aubert Bouchard Boulanger Caron Chevallier Cloutier Delorme Desjardins Dufour Dumoulin Fournier").split(),
    *(
        "Gagnon Garnier Gauthier Giraud Hébert Jolivet Lacroix Lamoureux Lapointe Leclerc Lefèvre Legrand Lemieux"
    ).split(),
    *("Marchand Meunier Morin Ouellet Pelletier Perrin Picard Poirier Renaud Rivière Rousseau Savard Simard").split(),
    *("Tessier Thibault Tremblay Vasseur Villeneuve").split(),
)

KINDS: Mapping[str, PersonKind] = {
    "chef": PersonKind.CHEF_DE_TABLE,
    "croupier": PersonKind.CROUPIER,
    "stickman": PersonKind.STICKMAN,
    "employe": PersonKind.EMPLOYE,
}
"""By the beginning of a simulated employee's id."""


def people_of(casino: Casino, nights: Iterable[Night], *, seed: int) -> list[Person]:
    """Return everybody whom the events of ``nights`` name, in order of their ids; not saved, and no two alike."""
    events = (decode(msgspec.json.encode(event)) for night in nights for event in night.events)
    taken: set[str] = set()
    people = []
    for family, code in sorted(set(mentioned_in(events))):
        chance = random.Random(f"{seed}/{casino.code}/{family}/{code}")
        name = _name(chance)
        while name in taken:
            name = _name(chance)
        taken.add(name)
        is_player = family is Family.PLAYER
        kind = PersonKind.PLAYER if is_player else KINDS.get(code.partition("-")[0], PersonKind.CROUPIER)
        card = f"{'C' if is_player else 'A'}-{chance.randrange(100_000, 1_000_000)}"
        people.append(Person(casino=casino, code=code, kind=kind, name=name, card_or_licence=card))
    return people


def fill_directory(casino: Casino, nights: Iterable[Night], *, seed: int) -> int:
    """Add to a casino's directory who is in ``nights`` and not in it yet. Return how many were added."""
    known = {
        PersonId(family_of(kind), code)
        for kind, code in Person.objects.filter(casino=casino).values_list("kind", "code")
    }
    new = [each for each in people_of(casino, nights, seed=seed) if (family_of(each.kind), each.code) not in known]
    return len(Person.objects.bulk_create(new))


def _name(chance: random.Random) -> str:
    return f"{chance.choice(FIRST_NAMES)} {chance.choice(LAST_NAMES)}"
