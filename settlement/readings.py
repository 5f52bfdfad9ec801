"""Readings: what the texts leave open, and how each gap is read.

A *reading* is a decision that no law makes. A session may set those that are parameters (``params`` of
``session.opened``); the others hold for every session. All are listed here with their reason, for documents and desk.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from settlement import registries
from settlement.catalogue.rule import RULESET_NAMES, Wording


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One gap and how it is read.

    ``leaves_open`` are the labels of the provisions that are silent or unclear; ``rulesets`` are those it matters to.
    ``values`` and ``default`` describe a parameter, and are None for a reading that cannot be set. A default that
    differs is given by ruleset.
    """

    name: str
    leaves_open: tuple[str, ...]
    decision: Wording
    reason: Wording
    rulesets: Collection[str] = field(default_factory=lambda: RULESET_NAMES)
    values: Wording | None = None
    default: str | Mapping[str, str] | None = None


_FR_CRAPS = ("fr-craps",)
_QC_CRAPS = ("qc-craps",)
_CRAPS = ("fr-craps", "qc-craps")
_ROULETTES = ("fr-roulette", "fr-american-roulette")
_AMERICAN = ("fr-american-roulette",)

PARAMETERS = (
    Reading(
        name="payout_unit",
        leaves_open=("art. 54 A", "art. 55-8 D 1°", "s. 95.17 (1)"),
        values=Wording(
            "an amount; winnings and halves are floored to it", "un montant ; gains et moitiés y sont arrondis"
        ),
        default="1",
        decision=Wording(
            "Winnings are rounded down to the unit; what does not divide is reported.",
            "Les gains sont arrondis à l’unité inférieure ; ce qui ne se divise pas est signalé.",
        ),
        reason=Wording("No text says who keeps the fraction.", "Aucun texte ne dit à qui revient la fraction."),
    ),
    Reading(
        name="commission_rounding",
        leaves_open=("s. 95.17 (2)", "s. 95.17 (3)"),
        rulesets=_QC_CRAPS,
        values=Wording("ceil, floor or nearest", "ceil, floor ou nearest"),
        default="ceil",
        decision=Wording(
            "The smallest whole unit that is at least 5%.", "La plus petite unité entière qui fasse au moins 5 %."
        ),
        reason=Wording("Less would not be “a commission of 5%”.", "Moins ne serait pas « une commission de 5 % »."),
    ),
    Reading(
        name="commission_refunded_on_withdrawal",
        leaves_open=("s. 95.17 (2)", "s. 95.17 (3)"),
        rulesets=_QC_CRAPS,
        values=Wording("true or false", "true ou false"),
        default="false",
        decision=Wording(
            "A withdrawn wager does not get its commission back.", "La commission d’une mise retirée est conservée."
        ),
        reason=Wording("The text is silent.", "Le texte est muet."),
    ),
    Reading(
        name="zero_rule",
        leaves_open=("art. 54 B", "art. 57-1 al. 1"),
        rulesets=_ROULETTES,
        values=Wording("choice, half or lose", "choice, half ou lose"),
        default=MappingProxyType({"fr-roulette": "choice", "fr-american-roulette": "lose"}),
        decision=Wording(
            "At French roulette the player chooses; at American roulette a simple chance loses with zero and double "
            "zero unless the session says otherwise.",
            "À la roulette française, le joueur choisit ; à la roulette américaine, une chance simple perd avec le "
            "zéro et le double zéro, sauf indication contraire de la séance.",
        ),
        reason=Wording(
            "Art. 57-1 says nothing of what zero does to a simple chance.",
            "L’art. 57-1 ne dit rien de l’effet du zéro sur une chance simple.",
        ),
    ),
    Reading(
        name="release_value",
        leaves_open=("art. 54 B 2°", "art. 54 al. 8", "art. 54 last al."),
        rulesets=_ROULETTES,
        values=Wording(
            "halving: half is freed after two zeros, a quarter after three; full: all of it",
            "halving : la moitié est libérée après deux zéros, le quart après trois ; full : la totalité",
        ),
        default="halving",
        decision=Wording(
            "A stake that met two zeros is worth half when freed, a quarter after three; after one it is whole.",
            "Une mise qui a subi deux zéros vaut la moitié à sa libération, le quart après trois ; après un seul, elle "
            "est entière.",
        ),
        reason=Wording(
            "The refund of ½, ¼, ⅛ is half of what stands each time; “la totalité de la mise” stands after the first "
            "zero.",
            "Le remboursement de ½, ¼, ⅛ est chaque fois la moitié de ce qui subsiste ; « la totalité de la mise » "
            "subsiste après le premier zéro.",
        ),
    ),
    Reading(
        name="call_tolerance_ms",
        leaves_open=("art. 55-7 al. 7",),
        values=Wording("milliseconds, 1,000 at most", "millisecondes, 1 000 au plus"),
        default="500",
        decision=Wording(
            "A stake or a withdrawal is late when its clock is more than half a second after that of the call.",
            "Une mise ou un retrait est tardif lorsque son horloge dépasse celle de l’annonce de plus d’une "
            "demi-seconde.",
        ),
        reason=Wording(
            "No text gives a measure, and chip sensors and a call button keep no perfect order.",
            "Aucun texte ne donne de mesure, et capteurs de jetons et bouton d’annonce ne s’accordent pas "
            "parfaitement.",
        ),
    ),
    Reading(
        name="commission_unit",
        leaves_open=("s. 95.17 (2)", "s. 95.17 (3)"),
        rulesets=_QC_CRAPS,
        values=Wording("an amount; the commission is rounded to it", "un montant ; la commission y est arrondie"),
        default="1",
        decision=Wording(
            "The commission is rounded to the smallest unit of the currency.",
            "La commission est arrondie à la plus petite unité de la monnaie.",
        ),
        reason=Wording(
            "The text gives 5% and no unit; tables collect whole dollars.",
            "Le texte donne 5 % sans unité ; les tables perçoivent des dollars entiers.",
        ),
    ),
    Reading(
        name="throw_delay_s",
        leaves_open=("art. 55-7 al. 3",),
        rulesets=_FR_CRAPS,
        values=Wording("seconds", "secondes"),
        default="10",
        decision=Wording("“Immédiatement” is within ten seconds.", "« Immédiatement » s’entend de dix secondes."),
        reason=Wording("A threshold is needed.", "Il faut un seuil."),
    ),
    Reading(
        name="seat_limit",
        leaves_open=("art. 57-1 al. 3",),
        rulesets=_AMERICAN,
        values=Wording("a number of players", "un nombre de joueurs"),
        default="7, 14",
        decision=Wording("Seven players; fourteen at a double table.", "Sept joueurs ; quatorze à une double table."),
        reason=Wording("A double table is twice seven.", "La double table fait deux fois sept."),
    ),
    Reading(
        name="result_slip_s",
        leaves_open=("art. 55-7 al. 5", "art. 57-1 al. 8", "s. 95.17 intro"),
        values=Wording("seconds, 30 at most", "secondes, 30 au plus"),
        default="10",
        decision=Wording(
            "A result corrected within ten seconds, before it was announced and before money moved, is a slip of the "
            "hand if somebody else approved the correction.",
            "Un résultat corrigé dans les dix secondes, avant son annonce et avant tout mouvement d’argent, est une "
            "erreur de saisie si une autre personne a approuvé la correction.",
        ),
        reason=Wording(
            "No text lets a result be changed; a number keyed wrong has to be put right at once.",
            "Aucun texte ne permet de changer un résultat ; un numéro mal saisi doit pouvoir être rectifié aussitôt.",
        ),
    ),
    Reading(
        name="maximum",
        leaves_open=("art. 53 (2007)", "r. 3 s. 3"),
        values=Wording("an amount for each bet", "un montant par chance"),
        default="none",
        decision=Wording(
            "No maximum but the one the session declares.", "Aucun maximum hors celui que la séance déclare."
        ),
        reason=Wording(
            "The limits are set by each casino; the articles on them are not among our texts.",
            "Les limites sont fixées par chaque casino ; les articles qui les régissent ne sont pas parmi nos textes.",
        ),
    ),
)

PRICES = (
    Reading(
        name="times_the_stake",
        leaves_open=("art. 54 A", "art. 55-8 B 1°"),
        rulesets=("fr-craps", *_ROULETTES),
        decision=Wording(
            "“n fois la mise” is n to 1, the stake kept.", "« n fois la mise » s’entend n pour 1, mise conservée."
        ),
        reason=Wording(
            "Art. 54 says that the player keeps the stake; 7, 9, 30, 15 and 4 are the usual “to one” prices of craps.",
            "L’art. 54 dit que le joueur conserve sa mise ; 7, 9, 30, 15 et 4 sont les prix habituels « pour un » du "
            "craps.",
        ),
    ),
    Reading(
        name="field_pays_double",
        leaves_open=("art. 55-8 A intro", "art. 55-8 A 5°"),
        rulesets=_FR_CRAPS,
        decision=Wording("The field pays 2 to 1 on 2 and 12.", "Le field paie 2 pour 1 sur 2 et 12."),
        reason=Wording(
            "The introduction says that all simple chances pay even money; the particular beats the general.",
            "L’introduction dit que toutes les chances simples se paient à égalité ; le particulier l’emporte sur le "
            "général.",
        ),
    ),
    Reading(
        name="wrong_bet_misprint",
        leaves_open=("art. 55-8 D 2°",),
        rulesets=_FR_CRAPS,
        decision=Wording(
            "“6 ou 8,5 pour 8” is read “6 ou 8, 5 pour 8”.", "« 6 ou 8,5 pour 8 » se lit « 6 ou 8, 5 pour 8 »."
        ),
        reason=Wording(
            "8.5 for 8 would give the player an edge of 23.75%.",
            "8,5 pour 8 donnerait au joueur un avantage de 23,75 %.",
        ),
    ),
    Reading(
        name="horn_price",
        leaves_open=("art. 55-8 B 8°",),
        rulesets=_FR_CRAPS,
        decision=Wording(
            "The horn pays 4 to 1 on the whole stake, whichever number hits.",
            "Le horn paie 4 pour 1 sur la mise entière, quel que soit le numéro sorti.",
        ),
        reason=Wording(
            "The text prices the association, not four quarter bets.",
            "Le texte fixe le prix de l’association, non celui de quatre quarts de mise.",
        ),
    ),
    Reading(
        name="halves_of_odd_amounts",
        leaves_open=("art. 54 B 1°", "art. 54 last al."),
        rulesets=_ROULETTES,
        decision=Wording(
            "A refund is ½, ¼, ⅛ of the initial stake, rounded down to the unit; nothing is rounded twice.",
            "Un remboursement est ½, ¼, ⅛ de la mise initiale, arrondi à l’unité inférieure ; rien n’est arrondi deux "
            "fois.",
        ),
        reason=Wording(
            "Nested roundings down agree with one another; rounding halves up would not.",
            "Les arrondis inférieurs successifs concordent ; arrondir les moitiés vers le haut ne concorderait pas.",
        ),
    ),
)

DICE_AND_STAKES = (
    Reading(
        name="barred_twelve",
        leaves_open=("art. 55-8 A 2°", "art. 55-8 A 4°", "art. 55-8 A after 4°"),
        rulesets=_FR_CRAPS,
        decision=Wording(
            "The stake stays, locked, and plays the next come-out, or the next throw for don’t come.",
            "La mise reste, bloquée, et joue le premier jet suivant, ou le jet suivant pour le don’t come.",
        ),
        reason=Wording(
            "The text: “doivent jouer jusqu'à ce qu'elles aient gagné ou perdu”.",
            "Le texte : « doivent jouer jusqu’à ce qu’elles aient gagné ou perdu ».",
        ),
    ),
    Reading(
        name="two_coups_nuls",
        leaves_open=("art. 55-7 al. 5", "art. 55-8 A 2°"),
        rulesets=_CRAPS,
        decision=Wording(
            "A voided throw does not exist; a push of a wager moves no money.",
            "Un lancer annulé n’existe pas ; le coup nul d’une mise ne déplace aucun argent.",
        ),
        reason=Wording(
            "“Coup nul” has one meaning in art. 55-7 and another in art. 55-8.",
            "« Coup nul » a un sens à l’art. 55-7 et un autre à l’art. 55-8.",
        ),
    ),
    Reading(
        name="betting_after_a_voided_throw",
        leaves_open=("art. 55-7 al. 5", "art. 55-7 al. 7"),
        rulesets=_CRAPS,
        decision=Wording(
            "Betting reopens; a new “Rien ne va plus” is needed.",
            "Les mises sont rouvertes ; il faut un nouveau « Rien ne va plus ».",
        ),
        reason=Wording(
            "By analogy with the article of 2007 on sic bo.", "Par analogie avec l’article de 2007 sur le sic bo."
        ),
    ),
    Reading(
        name="come_needs_a_point",
        leaves_open=("art. 55-8 A 3°", "art. 55-8 A 4°"),
        rulesets=_FR_CRAPS,
        decision=Wording("Come on a come-out is irregular and void.", "Un come au premier jet est irrégulier et nul."),
        reason=Wording("The text: “après le premier jet”.", "Le texte : « après le premier jet »."),
    ),
    Reading(
        name="line_stake_added_after_the_point",
        leaves_open=("art. 55-8 A 1°", "art. 55-8 A 2°"),
        rulesets=_FR_CRAPS,
        decision=Wording(
            "A win or don’t win placed once the point stands is void.",
            "Un win ou un don’t win déposé une fois le point établi est nul.",
        ),
        reason=Wording("The text: “se joue au premier jet”.", "Le texte : « se joue au premier jet »."),
    ),
    Reading(
        name="dice_replaced_in_mid_series",
        leaves_open=("art. 55-7 al. 4", "art. 55-7 al. 5", "art. 55-7 al. 6"),
        rulesets=_FR_CRAPS,
        decision=Wording(
            "Always found; with a throw voided for broken or lost dice just before, for review only.",
            "Toujours constaté ; pour simple examen si le lancer précédent a été annulé pour dés cassés ou perdus.",
        ),
        reason=Wording(
            "The text forbids the change and does not foresee that dice break.",
            "Le texte interdit le changement et ne prévoit pas que des dés se cassent.",
        ),
    ),
    Reading(
        name="successor_of_a_removed_shooter",
        leaves_open=("art. 55-7 al. 5", "art. 55-7 al. 7"),
        rulesets=_FR_CRAPS,
        decision=Wording(
            "Excused from the line stake until the point is resolved.",
            "Dispensé de mise ligne jusqu’à la résolution du point.",
        ),
        reason=Wording(
            "No line stake can be placed while a point stands.",
            "Aucune mise ligne n’est possible tant qu’un point est établi.",
        ),
    ),
    Reading(
        name="rubbing_the_dice",
        leaves_open=("art. 55-7 al. 3", "art. 55-7 al. 5"),
        rulesets=_FR_CRAPS,
        decision=Wording(
            "A breach by the shooter; the throw stays regular and counts.",
            "Un manquement du tireur ; le lancer reste régulier et compte.",
        ),
        reason=Wording(
            "Al. 5 lists what makes a throw irregular, and rubbing is not among it.",
            "L’al. 5 énumère ce qui rend un lancer irrégulier, et le frottement n’y figure pas.",
        ),
    ),
    Reading(
        name="one_roll_bets_withdrawn",
        leaves_open=("art. 55-8 A 5°", "art. 55-8 B 2°"),
        rulesets=_FR_CRAPS,
        decision=Wording(
            "A minor irregularity; the withdrawal takes effect.", "Une irrégularité mineure ; le retrait prend effet."
        ),
        reason=Wording(
            "A contrario: the text allows withdrawal elsewhere, after an indecisive throw, and is silent here.",
            "A contrario : le texte permet ailleurs le retrait après un coup non décisif, et se tait ici.",
        ),
    ),
    Reading(
        name="late_stake_by_analogy",
        leaves_open=("art. 54 intro", "s. 95.17 intro"),
        rulesets=("fr-roulette", "qc-craps"),
        decision=Wording("A stake placed after the call is void.", "Une mise déposée après l’annonce est nulle."),
        reason=Wording(
            "Neither text speaks of the call; by analogy with art. 57-1 al. 6.",
            "Aucun des deux textes ne parle de l’annonce ; par analogie avec l’art. 57-1 al. 6.",
        ),
    ),
    Reading(
        name="withdrawal_after_the_call",
        leaves_open=("art. 55-7 al. 7", "art. 57-1 al. 6"),
        decision=Wording("It has no effect.", "Il est sans effet."),
        reason=Wording(
            "The texts close the bets without saying whether a stake may still leave.",
            "Les textes ferment les mises sans dire si un enjeu peut encore être repris.",
        ),
    ),
    Reading(
        name="left_up_after_a_win",
        leaves_open=("s. 95.17 (2)", "s. 95.17 (3)"),
        rulesets=_QC_CRAPS,
        decision=Wording("A new wager, with a new commission.", "Une nouvelle mise, avec une nouvelle commission."),
        reason=Wording(
            "The text: “only accepted after the player has paid”.",
            "Le texte : « only accepted after the player has paid » (n’est acceptée qu’une fois payée).",
        ),
    ),
    Reading(
        name="lay_bet_on_a_come_out",
        leaves_open=("s. 95.17 (3)",),
        rulesets=_QC_CRAPS,
        decision=Wording("A lay bet plays on every throw.", "Le lay bet joue à chaque lancer."),
        reason=Wording(
            "Paragraphs (1) and (2) suspend their bets on a come-out; paragraph (3) does not.",
            "Les paragraphes (1) et (2) suspendent leurs chances au premier jet ; le paragraphe (3) ne le fait pas.",
        ),
    ),
    Reading(
        name="how_long_a_bet_stays_working",
        leaves_open=("s. 95.17 (1)", "s. 95.17 (2)"),
        rulesets=_QC_CRAPS,
        decision=Wording(
            "What the player said of a come-out holds until the next point is set.",
            "Ce que le joueur a dit d’un premier jet vaut jusqu’à l’établissement du point suivant.",
        ),
        reason=Wording(
            "The text: “during a come out roll unless otherwise indicated”; each series has its own.",
            "Le texte : « during a come out roll unless otherwise indicated » ; chaque série a le sien.",
        ),
    ),
    Reading(
        name="what_counts_as_a_violation",
        leaves_open=("art. 55-7 al. 5",),
        rulesets=_FR_CRAPS,
        decision=Wording(
            "Two voided throws in one turn are a repeated violation, whatever voided them.",
            "Deux lancers annulés dans un même tour font une violation répétée, quelle qu’en soit la cause.",
        ),
        reason=Wording(
            "The text does not say how often is “de façon répétée”, nor whose fault a broken die is.",
            "Le texte ne dit pas combien de fois fait « de façon répétée », ni à qui la faute si un dé se casse.",
        ),
    ),
)

WHEEL_AND_ZERO = (
    Reading(
        name="two_dozens_or_columns",
        leaves_open=("art. 54 A",),
        rulesets=_ROULETTES,
        decision=Wording("Neighbours only: 1 and 2, or 2 and 3.", "Voisines seulement : 1 et 2, ou 2 et 3."),
        reason=Wording(
            "The stake is placed “à cheval”, on the line between the two.",
            "La mise se place « à cheval », sur la ligne qui les sépare.",
        ),
    ),
    Reading(
        name="missing_zero_decision",
        leaves_open=("art. 54 B 1°", "art. 54 B 2°"),
        rulesets=_ROULETTES,
        decision=Wording(
            "If the player has not decided by the next result, the stake stays in prison. A finding reports it.",
            "Si le joueur n’a pas choisi avant le résultat suivant, la mise reste en prison. Un constat le signale.",
        ),
        reason=Wording("The stake is physically still there.", "La mise est physiquement toujours là."),
    ),
    Reading(
        name="fresh_stake_beside_a_prisoner",
        leaves_open=("art. 54 B 2°",),
        rulesets=_ROULETTES,
        decision=Wording(
            "Two wagers: the fresh one is paid, the other freed.",
            "Deux mises : la nouvelle est payée, l’autre libérée.",
        ),
        reason=Wording("Wagers are told apart by their identifier.", "Les mises se distinguent par leur identifiant."),
    ),
    Reading(
        name="payment_order_of_three_bets",
        leaves_open=("art. 57-1 al. 9",),
        rulesets=_AMERICAN,
        decision=Wording(
            "Sixain with transversale, two dozens with douzaine, two columns with colonne.",
            "Le sixain avec la transversale, deux douzaines avec douzaine, deux colonnes avec colonne.",
        ),
        reason=Wording(
            "The article leaves these three out; leaflets call the sixain “transversale simple”.",
            "L’article omet ces trois chances ; les notices appellent le sixain « transversale simple ».",
        ),
    ),
    Reading(
        name="relaunch_after_a_fallen_chip",
        leaves_open=("art. 57-1 al. 6",),
        rulesets=_AMERICAN,
        decision=Wording(
            "The same coup: no change of direction is owed.", "Le même coup : aucun changement de sens n’est dû."
        ),
        reason=Wording("The article counts coups.", "L’article compte les coups."),
    ),
)

_readings: dict[str, Reading] = registries.table(
    {reading.name: reading for reading in (*PARAMETERS, *PRICES, *DICE_AND_STAKES, *WHEEL_AND_ZERO)}
)
READINGS: Mapping[str, Reading] = MappingProxyType(_readings)
"""Every reading by its name; those a session may set come first, those that a ruleset brings last."""


def add_readings(readings: Iterable[Reading]) -> None:
    """Take the readings of a ruleset's own, which no session can set."""
    for reading in readings:
        registries.share(_readings, reading.name, reading, "a reading")
