"""What to do about a finding on the dice, the wheel, the zero and the staff: see ``remedies``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from settlement.catalogue.rule import Wording


def _remind(en: str, fr: str) -> Wording:
    """Return a reminder to the croupier: ``fr`` begins with « de » or « que »."""
    return Wording(f"Remind the croupier[ {{croupier}}] {en}", f"Rappeler au croupier[ {{croupier}}] {fr}")


_DICE: Mapping[str, Wording] = {
    "first-shooter-not-left-of-croupiers": _remind(
        "to offer the first dice to the player nearest the croupiers’ left[: seat {expected}].",
        "de proposer les premiers dés au joueur placé à la gauche des croupiers[ : place {expected}].",
    ),
    "dice-not-offered-clockwise": _remind(
        "to offer the dice clockwise[, here to seat {expected}].",
        "de proposer les dés dans le sens des aiguilles d’une montre[, ici à la place {expected}].",
    ),
    "throw-by-non-shooter": Wording(
        "Establish from the footage of event {seq} who threw the dice[ instead of seat {expected}].",
        "Établir d’après les images de l’événement {seq} qui a lancé les dés[ au lieu de la place {expected}].",
    ),
    "dice-passed-without-seven-out": _remind(
        "that the dice stay with the shooter[, {player},] until a 7 loses the point.",
        "que les dés restent au tireur[, {player},] jusqu’au 7 qui fait perdre le point.",
    ),
    "shooter-kept-dice-after-seven-out": _remind(
        "to pass the dice on after the 7 that loses the point.",
        "de faire passer les dés après le 7 qui fait perdre le point.",
    ),
    "shooter-removed-without-repeated-violation": Wording(
        "Ask the chef de table why the dice were taken from seat {shooter}.",
        "Demander au chef de table pourquoi les dés ont été retirés à la place {shooter}.",
    ),
    "shooter-removed-by-wrong-role": Wording(
        "Remind the {recorded} that only the {expected} takes the dice from a shooter.",
        "Rappeler au {recorded} que seul le {expected} retire les dés à un tireur.",
    ),
    "shooter-without-line-wager": _remind(
        "to let the shooter[, {player},] throw only once a line stake lies.",
        "de ne laisser lancer le tireur[, {player},] qu’une fois sa mise ligne déposée.",
    ),
    "throw-without-no-more-bets": _remind(
        "to call “Rien ne va plus” before each throw.",
        "d’annoncer « Rien ne va plus » avant chaque lancer.",
    ),
    "throw-delayed": Wording(
        "Ask the shooter[, {player},] to throw as soon as “Rien ne va plus” is called.",
        "Demander au tireur[, {player},] de lancer dès l’annonce du « Rien ne va plus ».",
    ),
    "dice-rubbed-or-held": Wording(
        "Ask the shooter[, {player},] neither to rub the dice nor to keep them in the hand.",
        "Demander au tireur[, {player},] de ne ni frotter les dés ni les garder dans la main.",
    ),
    "invalid-dice-values": Wording(
        "Have the entry of event {seq} corrected from the footage of the dice.",
        "Faire corriger l’enregistrement de l’événement {seq} d’après les images des dés.",
    ),
    "irregular-throw-counted": Wording(
        "Remind the stickman to announce “Coup nul” on a throw like that of event {seq}.",
        "Rappeler au stickman d’annoncer « Coup nul » sur un lancer tel que celui de l’événement {seq}.",
    ),
    "valid-throw-voided": Wording(
        "Ask the {by} why “Coup nul” was announced at event {seq}.",
        "Demander au {by} pourquoi « Coup nul » a été annoncé à l’événement {seq}.",
    ),
    "void-not-announced-by-stickman": Wording(
        "Remind the {recorded} that it is for the {expected} to announce “Coup nul”.",
        "Rappeler au {recorded} que l’annonce « Coup nul » revient au {expected}.",
    ),
    "point-marker-missing": _remind(
        "to put the cabochon on the point[ {point}].",
        "de placer le cabochon sur le point[ {point}].",
    ),
    "point-marker-mismatch": _remind(
        "to put the cabochon only on the point that the dice set[: {expected}].",
        "de ne placer le cabochon que sur le point établi par les dés[ : {expected}].",
    ),
    "dice-changed-during-point-series": Wording(
        "Ask the {by} why the dice were changed (event {seq}).",
        "Demander au {by} pourquoi les dés ont été changés (événement {seq}).",
    ),
    "dice-replaced-during-point-series-with-cause": Wording(
        "Have the chef de table keep the dice taken out before event {seq}.",
        "Faire conserver par le chef de table les dés retirés avant l’événement {seq}.",
    ),
    "dice-change-not-authorised": Wording(
        "Remind the {recorded} that the chef de partie or the chef de table decides on a change of dice.",
        "Rappeler au {recorded} que c’est le chef de partie ou le chef de table qui décide de changer les dés.",
    ),
    "dice-change-not-announced": Wording(
        "Remind the stickman to announce “Les dés changent”.",
        "Rappeler au stickman d’annoncer « Les dés changent ».",
    ),
    "dice-set-not-six": Wording(
        "Have the chef de table bring the set in service to {expected} dice.",
        "Faire ramener par le chef de table le jeu en service à {expected} dés.",
    ),
    "dice-selection-not-two": Wording(
        "Remind the stickman to have {expected} dice of the set taken, no more and no fewer.",
        "Rappeler au stickman de faire prendre {expected} dés du jeu, ni plus ni moins.",
    ),
    "dice-selected-by-another": Wording(
        "Remind the stickman to have the dice taken by the shooter[, seat {expected}].",
        "Rappeler au stickman de faire prendre les dés par le tireur[, place {expected}].",
    ),
    "dice-remainder-not-boxed": Wording(
        "Remind the stickman to put the other dice back into the box[: {unboxed_dice}].",
        "Rappeler au stickman de remettre les autres dés dans la boîte[ : {unboxed_dice}].",
    ),
    "unselected-dice-thrown": Wording(
        "Have the chef de table keep the dice[ {dice}] thrown at event {seq}.",
        "Faire conserver par le chef de table les dés[ {dice}] lancés à l’événement {seq}.",
    ),
    "dice-touched-without-cause": Wording(
        "Remind the stickman to pass the dice with the stick.",
        "Rappeler au stickman de passer les dés avec la canne.",
    ),
}

_ZERO: Mapping[str, Wording] = {
    "zero-option-on-multiple-chance": _remind(
        "that zero leaves a choice to simple chances only.",
        "que le zéro ne laisse de choix qu’aux chances simples.",
    ),
    "zero-decision-missing": _remind(
        "to record the choice of the player[ {player}] at zero.",
        "d’enregistrer le choix du joueur[ {player}] au zéro.",
    ),
    "zero-decision-without-zero": _remind(
        "to record a choice only for a stake that a zero has hit.",
        "de n’enregistrer un choix que pour une mise touchée par un zéro.",
    ),
    "zero-decision-on-last-coup": _remind(
        "that the refund is compulsory on the last coup.",
        "que le remboursement est obligatoire au dernier coup.",
    ),
    "imprisoned-at-close": Wording(
        "Establish with the croupier[ {croupier}] what became of wager {wager}[ of {player}], which was in prison.",
        "Établir avec le croupier[ {croupier}] ce qu’est devenue la mise {wager}[ du joueur {player}], qui était en "
        "prison.",
    ),
    "result-after-last-coup": Wording(
        "Ask the chef de table why play went on after the last coup was announced.",
        "Demander au chef de table pourquoi le jeu a continué après l’annonce du dernier coup.",
    ),
}

_WHEEL: Mapping[str, Wording] = {
    "invalid-pocket": Wording(
        "Have the entry of event {seq} corrected from the footage of the wheel.",
        "Faire corriger l’enregistrement de l’événement {seq} d’après les images du cylindre.",
    ),
    "wheel-direction-repeated": _remind(
        "to turn the wheel the other way each time.",
        "d’actionner chaque fois le cylindre dans le sens opposé au précédent.",
    ),
    "ball-same-direction-as-wheel": _remind(
        "to launch the ball against the turn of the wheel.",
        "de lancer la bille en sens inverse du cylindre.",
    ),
    "result-after-fallen-chip": _remind(
        "to take the ball back and launch it again when a chip has fallen into the wheel.",
        "de reprendre la bille et de la lancer de nouveau lorsqu’un jeton est tombé dans le cylindre.",
    ),
    "no-more-bets-missing": _remind(
        "to call “Rien ne va plus” at each coup.",
        "d’annoncer « Rien ne va plus » à chaque coup.",
    ),
    "stacks-not-rebuilt": _remind(
        "to rebuild the stacks before launching the ball.",
        "de reconstituer les piles avant de lancer la bille.",
    ),
    "spin-by-non-croupier": Wording(
        "Remind the {recorded} that the {expected} alone works the apparatus.",
        "Rappeler au {recorded} que seul le {expected} manœuvre l’appareil.",
    ),
    "wheel-not-spun": Wording(
        "Establish from the footage whether the wheel was turned for event {seq}.",
        "Établir d’après les images si le cylindre a été actionné pour l’événement {seq}.",
    ),
    "ball-not-launched": Wording(
        "Establish from the footage how the result of event {seq} came about.",
        "Établir d’après les images comment le résultat de l’événement {seq} a été obtenu.",
    ),
    "spin-before-payments-complete": _remind(
        "to pay every winner before the next spin.",
        "de payer tous les gagnants avant le coup suivant.",
    ),
    "result-not-announced": _remind(
        "to announce the number and the simple chances aloud.",
        "d’annoncer à haute voix le numéro et les chances simples.",
    ),
    "announcement-mismatch": _remind(
        "to announce what the ball shows[: {expected}].",
        "d’annoncer ce que montre la bille[ : {expected}].",
    ),
    "payment-before-collection": _remind(
        "to collect the lost stakes before paying.",
        "de ramasser les enjeux perdus avant de payer.",
    ),
    "payments-interleaved": _remind(
        "to pay player by player.",
        "de payer joueur par joueur.",
    ),
    "payment-not-announced": _remind(
        "to announce each payment in detail before it is made.",
        "d’annoncer dans le détail chaque paiement avant de l’effectuer.",
    ),
    "payment-not-as-announced": _remind(
        "to pay what was announced, or to announce it again.",
        "de payer ce qui a été annoncé, ou de l’annoncer à nouveau.",
    ),
    "payment-order-violated": _remind(
        "to pay in the order of the text, the colonne first and the plein last.",
        "de payer dans l’ordre du texte, la colonne d’abord et le plein en dernier.",
    ),
    "payment-without-colour": _remind(
        "to pay the player[ {player}] in the assigned colour[, {expected}].",
        "de payer le joueur[ {player}] dans sa couleur[, {expected}].",
    ),
    "payment-wrong-colour": Wording(
        "Have the croupier[ {croupier}] exchange the chips of the player[ {player}] for the assigned colour"
        "[, {expected}].",
        "Faire échanger par le croupier[ {croupier}] les jetons du joueur[ {player}] contre sa couleur[, {expected}].",
    ),
}

_TABLE: Mapping[str, Wording] = {
    **dict.fromkeys(
        ("seat-limit-exceeded", "unseated-player-over-limit"),
        Wording(
            "Ask the chef de table to keep the players to {expected}[; {player} is one too many].",
            "Demander au chef de table de s’en tenir à {expected} joueurs[ ; {player} est de trop].",
        ),
    ),
    "colour-limit-exceeded": _remind(
        "to use no more than {expected} colours.",
        "de n’employer que {expected} couleurs.",
    ),
    "colour-shared": Wording(
        "Have the croupier[ {croupier}] give the player[ {player}] a colour that nobody else uses.",
        "Faire donner par le croupier[ {croupier}] au joueur[ {player}] une couleur que nul autre n’emploie.",
    ),
    "wager-with-foreign-colour": Wording(
        "Establish from the footage whether wager {wager} belongs to {owner} or to the player recorded[, {player}].",
        "Établir d’après les images si la mise {wager} appartient à {owner} ou au joueur enregistré[, {player}].",
    ),
    "wager-with-unassigned-colour": Wording(
        "Establish who owns the chips of colour {colour} in wager {wager}.",
        "Établir à qui sont les jetons de couleur {colour} de la mise {wager}.",
    ),
    "stake-not-multiple-of-colour-value": Wording(
        "Count the chips of wager {wager} on the footage, at {expected} each.",
        "Compter sur les images les jetons de la mise {wager}, à {expected} l’un.",
    ),
    "colour-value-undeclared": Wording(
        "Ask the player[ {player}] for the value of the chips of colour {colour}.",
        "Demander au joueur[ {player}] la valeur de ses jetons de couleur {colour}.",
    ),
    "colour-value-changed": Wording(
        "Establish with the player[ {player}] at which value the chips of colour {colour} were bought.",
        "Établir avec le joueur[ {player}] à quelle valeur les jetons de couleur {colour} ont été achetés.",
    ),
    "chief-handled-chips": Wording(
        "Remind the chef de table to handle neither chips nor plaques during play.",
        "Rappeler au chef de table de ne manipuler ni jetons ni plaques en cours de partie.",
    ),
    "marker-not-from-chief": Wording(
        "Remind the {recorded} that the {expected} hands out the markers.",
        "Rappeler au {recorded} que c’est le {expected} qui remet les marqueurs.",
    ),
    "staffing-invalid": Wording(
        "Ask the chef de partie why the table did not have one chef de table, one croupier and at most one employé at "
        "event {seq}.",
        "Demander au chef de partie pourquoi la table n’était pas tenue par un chef de table, un croupier et au plus "
        "un employé lors de l’événement {seq}.",
    ),
    "table-without-chief": Wording(
        "Ask the chef de partie why no chef de table was assigned at event {seq}.",
        "Demander au chef de partie pourquoi aucun chef de table n’était affecté lors de l’événement {seq}.",
    ),
    "table-without-croupier": Wording(
        "Ask the chef de table who served the table at event {seq}.",
        "Demander au chef de table qui a tenu la table lors de l’événement {seq}.",
    ),
}

REMEDIES_OF_PLAY_BY_FACT: Mapping[str, tuple[str, Mapping[str, Wording]]] = MappingProxyType(
    {
        "dice-changed-during-point-series": (
            "by",
            {
                "": Wording(
                    "Ask the stickman why other dice were taken out of the box[: {dice}] (event {seq}).",
                    "Demander au stickman pourquoi d’autres dés ont été sortis de la boîte[ : {dice}] (événement "
                    "{seq}).",
                ),
                "shooter": Wording(
                    "Remind the stickman to refuse a shooter other dice while a point is being played.",
                    "Rappeler au stickman de refuser d’autres dés au tireur tant qu’un point est en jeu.",
                ),
            },
        ),
        "dice-change-not-authorised": (
            "recorded",
            {
                "shooter": Wording(
                    "Remind the stickman to change the dice for a shooter before a come-out only.",
                    "Rappeler au stickman de ne changer les dés à la demande du tireur qu’avant un premier jet.",
                )
            },
        ),
    }
)

REMEDIES_OF_PLAY: Mapping[str, Wording] = MappingProxyType({**_DICE, **_ZERO, **_WHEEL, **_TABLE})
