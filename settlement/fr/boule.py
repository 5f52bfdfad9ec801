"""The ruleset *fr-boule*: art. 45 and 46 of the arrêté of 2007, and which of them looks at which event."""

from __future__ import annotations

from types import MappingProxyType

from settlement.catalogue.boule import BOULE
from settlement.catalogue.rule import Wording
from settlement.events import SessionClosed
from settlement.fr import art_46_boule as art_46
from settlement.fr.art_45_boule import report_turns
from settlement.fr.boule_events import BouleSettled, BouleVoided
from settlement.fr.boule_texts import ART_45, ART_46, INSTRUMENT, NAME, QUOTATIONS_45, QUOTATIONS_46
from settlement.fr.clauses import of_every_game
from settlement.play import closing, nothing_of_play, stakes
from settlement.readings import Reading
from settlement.ruleset import Ruleset

READINGS = (
    Reading(
        name="thrower_of_a_session",
        leaves_open=("art. 45 al. 2",),
        rulesets=(NAME,),
        decision=Wording(
            "Found when one employee makes every throw of a session, 30 or more of them with a colleague at the table.",
            "Constaté quand un seul employé fait tous les lancers d’une séance, dont 30 au moins en présence d’un "
            "collègue.",
        ),
        reason=Wording(
            "The direction sets the order of the turns and how long each lasts, and no event shows it. In a whole "
            "session somebody else should have had a turn.",
            "La direction fixe l’ordre et la durée des tours, et aucun événement ne les montre. Sur une séance "
            "entière, un autre aurait dû avoir son tour.",
        ),
    ),
    Reading(
        name="numbers_of_the_simple_chances",
        leaves_open=("art. 46 al. 2 2°",),
        rulesets=(NAME,),
        decision=Wording(
            "Red 1, 3, 6, 8; black 2, 4, 7, 9; manque 1 to 4, passe 6 to 9; the 5 in none.",
            "Rouges 1, 3, 6, 8 ; noirs 2, 4, 7, 9 ; manque de 1 à 4, passe de 6 à 9 ; le 5 dans aucune.",
        ),
        reason=Wording(
            "The text names the chances and not their numbers: custom decides.",
            "Le texte nomme les chances sans leurs numéros : l’usage décide.",
        ),
    ),
    Reading(
        name="call_at_la_boule",
        leaves_open=("art. 46 al. 2",),
        rulesets=(NAME,),
        decision=Wording("A stake placed after the call is void.", "Une mise déposée après l’annonce est nulle."),
        reason=Wording(
            "The text says nothing of the call; by analogy with art. 57-1 al. 6.",
            "Le texte ne dit rien de l’annonce ; par analogie avec l’art. 57-1 al. 6.",
        ),
    ),
)

_CALL = ("art. 57-1 al. 6",)

FR_BOULE = Ruleset(
    name=NAME,
    game="boule",
    title=Wording("La boule", "La boule"),
    game_title=Wording("La boule", "La boule"),
    game_name=Wording("la boule", "la boule"),
    instrument=INSTRUMENT,
    kinds=art_46.KINDS,
    closed_list="art. 46 al. 2",
    rules=BOULE,
    clauses=MappingProxyType(of_every_game("art. 46 al. 2", _CALL)),
    texts=((ART_45, QUOTATIONS_45), (ART_46, QUOTATIONS_46)),
    articles=("settlement.law_coverage.art_45_boule:ART_45", "settlement.law_coverage.art_46_boule:ART_46"),
    readings=READINGS,
    handlers=MappingProxyType(
        {
            **stakes(art_46.KINDS),
            SessionClosed: closing(report_turns),
            BouleSettled: art_46.settle,
            BouleVoided: art_46.void_throw,
        }
    ),
    events=(BouleSettled, BouleVoided),
    result=BouleSettled,
    state_of_play=nothing_of_play,
    layout=art_46.LAYOUT,
    wheel_name=Wording("apparatus", "appareil"),
    equipment="wheel",
    opposites=((("rouge",), ("noir",)), (("pair",), ("impair",)), (("manque",), ("passe",))),
    chances="settlement.night.boule:CHANCES",
    felt="audit.felt.boule:FELT",
    simulator="audit.simulation.boule_tables:Boule",
)
