"""The names of things on the screens: bets, roles, statuses, and every other value of a fact, in both languages.

Bets keep the word of their law in both languages, so that an officer can search the text for it. ``BET_LABELS`` adds
the usual name. A bet is one of its ruleset: two rulesets may have bets of the same name.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from settlement import registries
from settlement.catalogue.rule import Language

_bet_words: dict[tuple[str, str], str] = registries.table({})
BET_WORDS: Mapping[tuple[str, str], str] = MappingProxyType(_bet_words)
"""The law's own word for each bet, by ruleset and bet."""

_bet_labels: dict[tuple[str, str], Mapping[Language, str]] = registries.table({})
BET_LABELS: Mapping[tuple[str, str], Mapping[Language, str]] = MappingProxyType(_bet_labels)
"""The law's word and the usual name, as screens show them: “win — pass line”, « win (ligne de passe) »."""


def name_bet(ruleset: str, bet: str, word: str, usual: tuple[str, str]) -> None:
    """Take the names of a bet of a ruleset: the law's word, and the usual names in English and French."""
    labels: Mapping[Language, str] = {"en": _label(word, usual[0], "en"), "fr": _label(word, usual[1], "fr")}
    registries.add(_bet_words, (ruleset, bet), word, "a bet")
    registries.add(_bet_labels, (ruleset, bet), labels, "a bet")


def bet_word(ruleset: str | None, bet: str) -> str:
    """Return the law's word for a bet; of one that the ruleset does not have, the words of which its code is made."""
    return BET_WORDS.get((ruleset or "", bet)) or bet.replace("_", " ")


def bet_label(ruleset: str | None, bet: str, language: Language) -> str:
    """Return a bet as screens show it; as it was sent where the ruleset has none of that name."""
    labels = BET_LABELS.get((ruleset or "", bet))
    return bet if labels is None else labels[language]


def _label(word: str, usual: str, language: Language) -> str:
    if word == usual:
        return word
    return f"{word} ({usual})" if language == "fr" else f"{word} — {usual}"


_games: dict[str, tuple[str, str]] = registries.table({})


def name_game(game: str, english: str, french: str) -> None:
    """Take the name of a game, with its article in French: the same in every ruleset of it."""
    registries.share(_games, game, (english, french), "a game")


_rulesets: dict[str, tuple[str, str]] = registries.table({})


def title_ruleset(ruleset: str, english: str, french: str) -> None:
    """Take the title of a ruleset."""
    registries.add(_rulesets, ruleset, (english, french), "a ruleset")


_colours: dict[str, tuple[str, str]] = registries.table({})


def name_colours(colours: Mapping[str, tuple[str, str]]) -> None:
    """Take the names of colours of chips, in English and French."""
    for colour, names in colours.items():
        registries.share(_colours, colour, names, "a colour")


WORDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "colour": _colours,
    "ruleset": _rulesets,
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
        "out_of_scope": ("not adjudicated: outside the text", "non jugée : hors du texte"),
    },
    "part": {
        "winnings": ("in winnings", "un gain de"),
        "stake": ("of the stake", "sur l’enjeu"),
        "all": ("in all, winnings and stake", "en tout, gain et enjeu,"),
    },
    "ending": {
        "result": ("the next result came", "le résultat suivant est venu"),
        "close": ("the session was closed", "la séance a été close"),
    },
    "reason": {
        "ball_left_wheel": ("the ball left the wheel", "bille sortie du cylindre"),
        "foreign_object": ("a foreign object", "corps étranger"),
        "mechanical": ("a mechanical fault", "défaut mécanique"),
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
        "wager.placed": ("placed", "déposée"),
        "wager.withdrawn": ("taken back", "retirée"),
        "wager.switched": ("switched", "activée ou désactivée"),
        "wager.moved": ("a stake was moved", "une mise a été déplacée"),
        "point.marked": ("a point was marked", "un point a été marqué"),
        "wheel.spun": ("the wheel was spun", "le cylindre a été actionné"),
        "ball.launched": ("the ball was launched", "la bille a été lancée"),
    },
    "event": {
        "session.opened": ("opening of the session", "ouverture de la séance"),
        "session.closed": ("closing of the session", "clôture de la séance"),
        "staff.assigned": ("start of duty", "prise de poste"),
        "staff.relieved": ("end of duty", "fin de poste"),
        "player.seated": ("player seated", "arrivée d’un joueur"),
        "player.left": ("player left", "départ d’un joueur"),
        "bank.filled": ("fill", "apport à la banque"),
        "bank.credited": ("credit", "retrait de la banque"),
        "buy_in.recorded": ("buy-in", "achat de jetons"),
        "events.lost": ("events declared lost", "déclaration d’événements perdus"),
        "entry.corrected": ("correction", "correction"),
        "entry.annulled": ("annulment", "annulation"),
        "count.opened": ("opening of the count", "ouverture de la comptée"),
        "drop.counted": ("drop counted", "comptée d’une boîte"),
        "cash_desk.recorded": ("cash desk transaction", "opération de caisse"),
        "count.closed": ("closing of the count", "clôture de la comptée"),
        "wager.placed": ("wager placed", "dépôt d’une mise"),
        "wager.withdrawn": ("wager taken back", "retrait d’une mise"),
        "wager.switched": ("wager turned on or off", "mise activée ou désactivée"),
        "wager.moved": ("wager moved", "déplacement d’une mise"),
        "no_more_bets": ("“Rien ne va plus”", "« Rien ne va plus »"),
        "stakes.collected": ("losing stakes collected", "ramassage des enjeux perdus"),
        "payment.announced": ("payment announced", "annonce d’un paiement"),
        "payout.made": ("payout", "paiement"),
        "payout.recovered": ("payout taken back", "reprise d’un paiement"),
        "tip.given": ("tip", "pourboire"),
        "goodwill.paid": ("goodwill payment", "geste commercial"),
        "dispute.opened": ("dispute opened", "ouverture d’une contestation"),
        "dispute.settled": ("dispute settled", "règlement d’une contestation"),
        "orphan.recorded": ("stake without an owner", "enjeu sans propriétaire"),
        "dice.offered": ("dice offered", "dés proposés"),
        "dice.declined": ("dice declined", "dés refusés"),
        "dice.set_introduced": ("dice put into service", "mise en service de dés"),
        "dice.selected": ("dice chosen", "choix des dés"),
        "dice.touched": ("dice touched by the staff", "dés touchés par le personnel"),
        "dice.thrown": ("throw", "lancer"),
        "throw.voided": ("throw voided", "coup nul"),
        "point.marked": ("point marked", "marquage du point"),
        "shooter.removed": ("dice taken from the shooter", "retrait des dés au tireur"),
        "wheel.spun": ("wheel spun", "cylindre actionné"),
        "ball.launched": ("ball launched", "lancement de la bille"),
        "chip.fell_in_wheel": ("chip in the wheel", "jeton tombé dans le cylindre"),
        "ball.retrieved": ("ball taken back", "reprise de la bille"),
        "spin.voided": ("spin voided", "coup annulé"),
        "ball.settled": ("ball at rest", "arrêt de la bille"),
        "result.announced": ("result announced", "annonce du résultat"),
        "zero.decided": ("player’s choice at zero", "choix du joueur au zéro"),
        "last_coup.announced": ("last coup announced", "annonce du dernier coup"),
        "stacks.rebuilt": ("stacks rebuilt", "reconstitution des piles"),
        "colour.assigned": ("colour assigned", "attribution d’une couleur"),
        "chips.handled": ("chips handled", "manipulation de jetons"),
    },
    "fault": {
        "unknown": ("was never placed", "n’a jamais été déposée"),
        "decided": ("is decided already", "est déjà décidée"),
        "other_kind": ("is another kind of bet", "est une autre sorte de chance"),
        "no_point": ("has no point yet", "n’a pas encore de point"),
        "unknown_seq": ("there is no such event", "cet événement n’existe pas"),
        "other_shape": ("the data do not fit that event", "les données ne conviennent pas à cet événement"),
        "of_correction": (
            "that event is a change itself, and not the last correction of its entry",
            "cet événement est lui-même une modification, et non la dernière correction de son écriture",
        ),
        "of_annulled": ("that event was annulled", "cet événement a été annulé"),
        "of_ineffective": ("that correction has no effect itself", "cette correction est elle-même sans effet"),
        "opener": ("a session’s opening cannot be annulled", "l’ouverture d’une séance ne s’annule pas"),
        "not_last_result": ("it is not the result just counted", "ce n’est pas le résultat qui vient d’être compté"),
    },
    "waiting": {
        "waits": (
            "Without the approval of two officers it has no effect",
            "Sans l’approbation de deux agents, elle reste sans effet",
        )
    },
    "favoured": {
        "players": ("in favour of the players", "en faveur des joueurs"),
        "house": ("in favour of the house", "en faveur de la banque"),
    },
    "gravity": {
        "announced": ("it came after the number was announced", "le numéro avait été annoncé"),
        "paid": ("it came after money moved", "de l’argent avait changé de mains"),
        "alone": ("nobody but its author approved it", "aucune autre personne n’a donné son accord"),
    },
    "outcome": {
        "won": ("a win of", "un gain de"),
        "lost": ("a loss of", "une perte de"),
        "open": ("a stake still in play", "une mise encore en jeu"),
        "awaiting_decision": ("a choice at zero", "un choix au zéro"),
        "imprisoned": ("a stake in prison", "une mise en prison"),
        "released": ("a stake released", "une mise libérée"),
        "void": ("a void stake", "une mise nulle"),
        "withdrawn": ("a stake taken back", "une mise retirée"),
        "refunded_half": ("a stake refunded", "une mise remboursée"),
        "refunded_last_coup": ("a stake refunded", "une mise remboursée"),
        "out_of_scope": ("a stake outside the text", "une mise hors du texte"),
        "unknown": ("no stake", "une absence de mise"),
    },
    "recourse": {
        "unknown_seq": ("Have the table name the event that was meant", "Faire indiquer par la table l’événement visé"),
        "other_shape": (
            "Have the data that were meant sent again, whole",
            "Faire transmettre de nouveau, en entier, les données voulues",
        ),
        "of_correction": (
            "Have the original event corrected once more",
            "Faire corriger une nouvelle fois l’événement d’origine",
        ),
        "of_annulled": (
            "Establish from the footage what was meant: the annulment stands",
            "Établir d’après les images ce qui était voulu : l’annulation demeure",
        ),
        "of_ineffective": (
            "Nothing needs to be annulled: file it",
            "Il n’y a rien à annuler : classer",
        ),
        "opener": (
            "Have the opening corrected, if anything in it is wrong",
            "Faire corriger l’ouverture, si elle comporte une erreur",
        ),
        "not_last_result": (
            "Have the result annulled, if it never was one",
            "Faire annuler le résultat, s’il n’en a jamais été un",
        ),
    },
    "field": {
        "amount": ("amount", "montant"),
        "approved_by": ("approved by", "accord donné par"),
        "bet": ("bet", "chance"),
        "chances": ("chances", "chances"),
        "choice": ("choice", "choix"),
        "colour": ("colour", "couleur"),
        "commission": ("commission", "commission"),
        "faces": ("dice", "dés"),
        "flags": ("flags", "signalements"),
        "float": ("float", "encaisse"),
        "minimum": ("minimum", "minimum"),
        "number": ("number", "numéro"),
        "numbers": ("numbers", "numéros"),
        "player": ("player", "joueur"),
        "pocket": ("pocket", "numéro"),
        "reason": ("reason", "motif"),
        "seat": ("seat", "place"),
        "stake": ("stake", "mise"),
        "stake_returned": ("stake returned", "mise rendue"),
        "total": ("total", "total"),
        "value": ("value", "valeur"),
        "wager": ("wager", "mise"),
        "wagers": ("wagers", "mises"),
        "which": ("dozens or columns", "douzaines ou colonnes"),
        "winnings": ("winnings", "gain"),
    },
    "reading_value": {
        "choice": ("the player’s choice", "choix du joueur"),
        "half": ("half is lost", "moitié perdue"),
        "lose": ("the stake is lost", "mise perdue"),
        "halving": ("halved", "moitié de la mise"),
        "full": ("whole", "mise entière"),
        "ceil": ("rounded up", "arrondi supérieur"),
        "floor": ("rounded down", "arrondi inférieur"),
        "nearest": ("rounded to the nearest", "arrondi au plus proche"),
        "true": ("yes", "oui"),
        "false": ("no", "non"),
    },
    "readings": {
        "payout_unit": ("payout unit", "unité de paiement"),
        "commission_rounding": ("rounding of the commission", "arrondi de la commission"),
        "commission_refunded_on_withdrawal": (
            "commission given back on withdrawal",
            "commission rendue au retrait",
        ),
        "zero_rule": ("what zero does to simple chances", "effet du zéro sur les chances simples"),
        "release_value": ("value of a stake on its release", "valeur de la mise à sa libération"),
        "throw_delay_s": ("time for a throw", "délai de lancer"),
        "call_tolerance_ms": ("tolerance at the call", "tolérance à l’annonce"),
        "commission_unit": ("unit of the commission", "unité de la commission"),
        "seat_limit": ("number of seats", "nombre de places"),
        "result_slip_s": ("time to correct a slip of the hand", "délai de rectification d’une erreur de saisie"),
        "double_table": ("double table", "double table"),
    },
    "families": {
        "announcements": ("announcements", "les annonces"),
        "bank": ("fills, credits and buy-ins", "les apports, les retraits et les achats"),
        "calls": ("the croupier’s calls", "les annonces du croupier"),
        "collections": ("collections of stakes", "les ramassages de mises"),
        "colours": ("colours of chips", "les couleurs des jetons"),
        "custody": ("who holds the equipment", "qui tient le matériel"),
        "decisions": ("decisions of players", "les décisions des joueurs"),
        "handling": ("handling of chips", "la manipulation des jetons"),
        "marker": ("the point marker", "le cabochon"),
        "payouts": ("payouts", "les paiements"),
        "results": ("results", "les résultats"),
        "seating": ("who is at the table", "qui est à la table"),
        "staff": ("who is on duty", "qui est en service"),
        "wagers": ("wagers placed", "les mises déposées"),
        "wheel": ("what happens at the wheel", "ce qui se passe au cylindre"),
    },
    "exchange": {"in": ("chips bought", "achats de jetons"), "out": ("chips cashed", "remboursements de jetons")},
    "one_exchange": {"in": ("chips bought", "achat de jetons"), "out": ("chips cashed", "remboursement de jetons")},
    "means": {
        "cash": ("cash", "espèces"),
        "cheque": ("cheque", "chèque"),
        "card": ("card", "carte"),
        "voucher": ("voucher", "ticket"),
    },
    "pattern": {
        "below": (
            "at several tables or desks, and stop just below the threshold",
            "à plusieurs tables ou caisses, et s’arrêtent juste sous le seuil",
        ),
        "midnight": (
            "within 24 hours, over gaming days that each stay below the threshold",
            "en 24 heures, sur des journées de jeu qui restent chacune sous le seuil",
        ),
        "nobody": (
            "within ten minutes, each just below the threshold and with no player named",
            "en dix minutes, chacun juste sous le seuil et sans joueur désigné",
        ),
        "group": (
            "within ten minutes at one table or desk, each just below the threshold",
            "en dix minutes à une même table ou caisse, chacun juste sous le seuil",
        ),
    },
    "switch": {"on": ("on", "en jeu"), "off": ("off", "hors jeu")},
    "game": MappingProxyType(_games),
}
"""English and French of each value, by kind of fact."""


def word(kind: str, value: object, language: Language) -> str:
    """Return the name of ``value``; a value that is not listed is shown as the table system sent it."""
    english, french = WORDS.get(kind, {}).get(str(value), (str(value), str(value)))
    return french if language == "fr" else english
