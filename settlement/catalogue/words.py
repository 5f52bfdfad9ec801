"""The names of things on the screens: bets, roles, statuses, and every other value of a fact, in both languages.

Bets keep the word of their law in both languages, so that an officer can search the text for it. ``BET_LABELS`` adds
the usual name.
"""

from __future__ import annotations

from collections.abc import Mapping

from settlement.catalogue.rule import Language

BET_WORDS: Mapping[str, str] = {
    "win": "win",
    "dont_win": "don’t win",
    "come": "come",
    "dont_come": "don’t come",
    "field": "field",
    "big_6": "big 6",
    "big_8": "big 8",
    "under_7": "under 7",
    "over_7": "over 7",
    "hardway": "hard way",
    "seven": "jeu du 7",
    "eleven": "jeu du 11",
    "any_craps": "any craps",
    "craps_2": "craps 2",
    "craps_3": "craps 3",
    "craps_12": "craps 12",
    "horn": "horn",
    "win_odds": "chance associée du win",
    "dont_win_odds": "chance associée du don’t win",
    "come_odds": "chance associée du come",
    "dont_come_odds": "chance associée du don’t come",
    "right_bet": "right bet",
    "wrong_bet": "wrong bet",
    "buy_bet": "buy bet",
    "lay_bet": "lay bet",
    "plein": "plein",
    "cheval": "cheval",
    "transversale": "transversale",
    "carre": "carré",
    "sixain": "sixain",
    "douzaine": "douzaine",
    "colonne": "colonne",
    "deux_douzaines": "deux douzaines",
    "deux_colonnes": "deux colonnes",
    "pair": "pair",
    "impair": "impair",
    "manque": "manque",
    "passe": "passe",
    "rouge": "rouge",
    "noir": "noir",
}
"""The law's own word for each bet."""

_USUAL_NAMES: Mapping[str, tuple[str, str]] = {
    "win": ("pass line", "ligne de passe"),
    "dont_win": ("don’t pass", "ligne de non-passe"),
    "come": ("come", "come"),
    "dont_come": ("don’t come", "don’t come"),
    "field": ("field", "champ"),
    "big_6": ("big six", "gros six"),
    "big_8": ("big eight", "gros huit"),
    "under_7": ("under seven", "moins de sept"),
    "over_7": ("over seven", "plus de sept"),
    "hardway": ("hard way", "double exact"),
    "seven": ("any seven", "n’importe quel sept"),
    "eleven": ("yo, eleven", "onze"),
    "any_craps": ("any craps", "n’importe quel craps"),
    "craps_2": ("aces, two", "deux as"),
    "craps_3": ("ace-deuce, three", "as et deux"),
    "craps_12": ("boxcars, twelve", "double six"),
    "horn": ("horn", "horn"),
    "win_odds": ("pass odds", "associée de la ligne de passe"),
    "dont_win_odds": ("don’t pass odds", "associée de la non-passe"),
    "come_odds": ("come odds", "associée du come"),
    "dont_come_odds": ("don’t come odds", "associée du don’t come"),
    "right_bet": ("place bet to win", "pari sur le numéro"),
    "wrong_bet": ("place bet to lose", "pari contre le numéro"),
    "buy_bet": ("buy", "achat du numéro"),
    "lay_bet": ("lay", "pari contre, avec commission"),
    "plein": ("straight up", "numéro plein"),
    "cheval": ("split", "deux numéros"),
    "transversale": ("street", "trois numéros"),
    "carre": ("corner", "quatre numéros"),
    "sixain": ("six line", "six numéros"),
    "douzaine": ("dozen", "douze numéros"),
    "colonne": ("column", "douze numéros"),
    "deux_douzaines": ("two dozens", "vingt-quatre numéros"),
    "deux_colonnes": ("two columns", "vingt-quatre numéros"),
    "pair": ("even", "numéros pairs"),
    "impair": ("odd", "numéros impairs"),
    "manque": ("low, 1 to 18", "1 à 18"),
    "passe": ("high, 19 to 36", "19 à 36"),
    "rouge": ("red", "numéros rouges"),
    "noir": ("black", "numéros noirs"),
}


def _label(word: str, usual: str, language: Language) -> str:
    if word == usual:
        return word
    return f"{word} ({usual})" if language == "fr" else f"{word} — {usual}"


BET_LABELS: Mapping[str, Mapping[Language, str]] = {
    bet: {"en": _label(word, _USUAL_NAMES[bet][0], "en"), "fr": _label(word, _USUAL_NAMES[bet][1], "fr")}
    for bet, word in BET_WORDS.items()
}
"""The law's word and the usual name, as screens show them: “win — pass line”, « win (ligne de passe) »."""

WORDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "role": {
        "chef_de_partie": ("chef de partie", "chef de partie"),
        "chef_de_table": ("chef de table", "chef de table"),
        "croupier": ("croupier", "croupier"),
        "stickman": ("stickman", "stickman"),
        "employe": ("employé", "employé"),
        "shooter": ("shooter", "tireur"),
        "opening": ("opening of the table", "responsable de l’ouverture"),
    },
    "direction": {
        "clockwise": ("clockwise", "dans le sens des aiguilles d’une montre"),
        "counterclockwise": ("counterclockwise", "dans le sens inverse des aiguilles d’une montre"),
    },
    "choice": {"half": ("half", "la moitié"), "prison": ("prison", "la prison")},
    "status": {
        "unknown": ("never placed", "jamais déposée"),
        "open": ("still open", "encore en jeu"),
        "won": ("won", "gagnante"),
        "lost": ("lost", "perdante"),
        "withdrawn": ("withdrawn", "retirée"),
        "void": ("void", "nulle"),
        "awaiting_decision": ("waiting for the player’s choice at zero", "en attente du choix du joueur au zéro"),
        "imprisoned": ("in prison", "en prison"),
        "released": ("released from prison", "libérée de prison"),
        "refunded_half": ("partly refunded at zero", "remboursée en partie au zéro"),
        "refunded_last_coup": ("refunded on the last coup", "remboursée au dernier coup"),
    },
    "medium": {
        "cash": ("in cash", "en espèces"),
        "verbal": ("as a spoken bet", "sur simple annonce"),
        "credit": ("on credit", "à crédit"),
    },
    "bound": {"minimum": ("minimum", "minimum"), "maximum": ("maximum", "maximum")},
    "flags": {
        "wrong_direction": ("not thrown lengthwise", "lancer hors de la longueur"),
        "short_of_far_end": ("short of the far end", "dés arrêtés avant l’autre bout"),
        "no_wall_contact": ("the far wall not struck", "bord opposé non touché"),
        "slid": ("slid instead of rolling", "dés glissés"),
        "broken": ("a die broke", "dé cassé"),
        "stacked": ("dice stacked", "dés superposés"),
        "straddling": ("a die cocked", "dé à cheval"),
        "on_chip": ("a die on a chip", "dé sur un jeton"),
        "off_table": ("a die off the table", "dé tombé de la table"),
        "rubbed_or_held": ("dice rubbed or held", "dés frottés ou gardés en main"),
    },
    "loss": {
        "spool_lost": ("its spool was lost", "sa file d’attente a été perdue"),
        "refused": ("they were refused", "ils ont été refusés"),
    },
    "cause": {
        "broken": ("broken", "cassés"),
        "lost": ("lost", "perdus"),
        "examine": ("to examine", "examen"),
        "fell_off_table": ("fell off the table", "tombés de la table"),
    },
    "act": {
        "payout.made": ("a payout was made", "un paiement a été effectué"),
        "stakes.collected": ("its stake was collected", "l’enjeu a été ramassé"),
        "wager.moved": ("a stake was moved", "une mise a été déplacée"),
        "point.marked": ("a point was marked", "un point a été marqué"),
        "wheel.spun": ("the wheel was spun", "le cylindre a été actionné"),
        "ball.launched": ("the ball was launched", "la bille a été lancée"),
    },
    "fault": {
        "unknown": ("was never placed", "n’a jamais été déposée"),
        "decided": ("is decided already", "est déjà décidée"),
        "other_kind": ("is another kind of bet", "est une autre sorte de chance"),
        "other_player": ("belongs to another player", "appartient à un autre joueur"),
        "no_point": ("has no point yet", "n’a pas encore de point"),
        "unknown_seq": ("there is no such event", "cet événement n’existe pas"),
        "other_shape": ("the data do not fit that event", "les données ne conviennent pas à cet événement"),
    },
    "switch": {"on": ("on", "en jeu"), "off": ("off", "hors jeu")},
    "game": {
        "craps": ("craps", "le craps"),
        "french_roulette": ("French roulette", "la roulette française"),
        "american_roulette": ("American roulette", "la roulette américaine"),
    },
}
"""English and French of each value, by kind of fact."""


def word(kind: str, value: object, language: Language) -> str:
    """Return the name of ``value``; a value that is not listed is shown as the table system sent it."""
    english, french = WORDS.get(kind, {}).get(str(value), (str(value), str(value)))
    return french if language == "fr" else english
