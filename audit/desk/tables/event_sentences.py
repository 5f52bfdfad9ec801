"""Events as sentences: what happened at the table, in the terms of its law, in English and French.

No French template puts *de* or *que* before a person, so that none has to elide before a name.

One template for each event type, filled by ``settlement.catalogue.templates``. ``{name}`` is a field of the event's
data; a clause in square brackets is left out if one of its fields was not sent. Amounts are in the session's currency.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from audit.desk.tables.limits import equipment_id, wheel_name
from audit.persons.directory import NO_NAMES, PLAYER_FIELDS, STAFF_FIELDS, Directory
from audit.presentation import isolated
from settlement import RULESETS
from settlement.catalogue import Language, bet_word
from settlement.catalogue.sentences import amount_in_prose
from settlement.catalogue.templates import fill
from settlement.catalogue.words import word
from settlement.events import Event, ExtensionEvent, WagerPlaced

TEMPLATES: Mapping[str, tuple[str, str]] = {
    "session.opened": (
        "Session opened at table {table}, ruleset {ruleset}, float {float}[, croupier {croupier}][, {wheel}]"
        "[, dice {dice_set}]",
        "Séance ouverte à la table {table}, règlement {ruleset}, encaisse {float}[, croupier {croupier}]"
        "[, {wheel}][, dés {dice_set}]",
    ),
    "session.closed": ("Session closed, float counted {float}", "Séance close, encaisse comptée {float}"),
    "staff.assigned": ("{person} takes post as {role}", "{person} prend son poste de {role}"),
    "staff.relieved": ("{person} is relieved as {role}", "{person} est relevé de son poste de {role}"),
    "player.seated": ("{player} sits down[ at seat {seat}]", "{player} s’assied[ à la place {seat}]"),
    "player.left": ("{player} leaves[ seat {seat}]", "{player} quitte la table[ (place {seat})]"),
    "bank.filled": ("Fill of {amount}, slip {slip}", "Apport de {amount}, bon {slip}"),
    "bank.credited": ("Credit of {amount}, slip {slip}", "Retrait de {amount}, bon {slip}"),
    "buy_in.recorded": ("Buy-in of {amount}[ by {player}] ({means})", "Achat de {amount}[ par {player}] ({means})"),
    "events.lost": (
        "Events declared lost through number {through}: {reason}",
        "Événements déclarés perdus jusqu’au numéro {through} : {reason}",
    ),
    "entry.corrected": (
        "Entry {corrects} corrected, approved by {approved_by}: {reason}",
        "Écriture {corrects} corrigée, approuvée par {approved_by} : {reason}",
    ),
    "entry.annulled": (
        "Entry {annuls} annulled, approved by {approved_by}: {reason}",
        "Écriture {annuls} annulée, avec l’accord donné par {approved_by} : {reason}",
    ),
    "count.opened": ("Count of {gaming_day} opened", "Comptée du {gaming_day} ouverte"),
    "drop.counted": ("Drop of {session} counted: {amount}", "Contenu de la boîte de {session} compté : {amount}"),
    "cash_desk.recorded": (
        "Cash desk {direction}: {amount}[ for {player}] ({means})",
        "Caisse ({direction}) : {amount}[ pour {player}] ({means})",
    ),
    "count.closed": ("Count closed", "Comptée close"),
    "wager.placed": (
        "[{player} ]stakes {stake} on {bet}[ {number}][ {numbers}][ {which}] — wager {wager}",
        "[{player} ]mise {stake} sur {bet}[ {number}][ {numbers}][ {which}] — mise {wager}",
    ),
    "wager.withdrawn": ("Wager {wager} taken back[: {amount}]", "Mise {wager} retirée[ : {amount}]"),
    "wager.switched": ("Wager {wager} switched {working}", "Mise {wager} : {working}"),
    "wager.moved": ("Wager {wager} moved to {number}", "Mise {wager} placée sur le {number}"),
    "no_more_bets": ("“Rien ne va plus”", "« Rien ne va plus »"),
    "stakes.collected": ("Losing stakes collected: {wagers}", "Enjeux perdus ramassés : {wagers}"),
    "payment.announced": (
        "Payment of {amount} announced for wager {wager}",
        "Paiement de {amount} annoncé pour la mise {wager}",
    ),
    "payout.made": (
        "Wager {wager} paid: winnings {winnings}, stake returned {stake_returned}[; plays on as {continues_as}]",
        "Mise {wager} payée : gain {winnings}, enjeu rendu {stake_returned}[ ; rejoue sous {continues_as}]",
    ),
    "payout.recovered": (
        "Taken back on wager {wager}[, winnings {winnings}][, stake {stake}][ ({reason})]",
        "Repris sur la mise {wager}[, gain {winnings}][, enjeu {stake}][ ({reason})]",
    ),
    "tip.given": ("Tip of {amount}[ by {player}]", "Pourboire de {amount}[ par {player}]"),
    "goodwill.paid": (
        "Goodwill of {amount} paid[ to {player}][, approved by {approved_by}]: {reason}",
        "Geste commercial de {amount}[ envers {player}][, approuvé par {approved_by}] : {reason}",
    ),
    "dispute.opened": (
        "Dispute opened[ by {player}][ on wager {wager}][: {reason}]",
        "Contestation ouverte[ par {player}][ sur la mise {wager}][ : {reason}]",
    ),
    "dispute.settled": (
        "Dispute of event {opened} settled[: {amount} paid][ by the {by}][, approved by {approved_by}]",
        "Contestation de l’événement {opened} réglée[ : {amount} versés][ par {by}][, accord donné par {approved_by}]",
    ),
    "orphan.recorded": (
        "Stake without an owner to the cash desk: {amount}[, wager {wager}][, slip {slip}]",
        "Enjeu sans propriétaire remis à la caisse : {amount}[, mise {wager}][, bon {slip}]",
    ),
    "dice.offered": (
        "Dice offered[ to seat {seat}][ (player {player})]",
        "Dés proposés[ à la place {seat}][ (joueur {player})]",
    ),
    "dice.declined": (
        "Dice declined[ by seat {seat}][ (player {player})]",
        "Dés refusés[ par la place {seat}][ (joueur {player})]",
    ),
    "dice.set_introduced": (
        "Dice {dice}[ of set {set}] put into service, decided by the {decided_by}[ (cause: {cause})]",
        "Dés {dice}[ du jeu {set}] mis en service, sur décision du {decided_by}[ (cause : {cause})]",
    ),
    "dice.selected": (
        "Seat {seat} takes dice {dice}; in the box: {boxed}",
        "La place {seat} prend les dés {dice} ; dans la boîte : {boxed}",
    ),
    "dice.touched": ("Dice touched by the {by}: {cause}", "Dés touchés par le {by} : {cause}"),
    "dice.thrown": (
        "Throw {faces}[ by seat {seat}][ (player {player})][ ({flags})]",
        "Lancer {faces}[ par la place {seat}][ (joueur {player})][ ({flags})]",
    ),
    "throw.voided": (
        "“Coup nul” announced by the {announced_by}[ ({flags})][, approved by {approved_by}]",
        "« Coup nul » annoncé par le {announced_by}[ ({flags})][, avec l’accord donné par {approved_by}]",
    ),
    "point.marked": ("Point {number} marked with the cabochon", "Point {number} marqué du cabochon"),
    "shooter.removed": (
        "Seat {seat} loses the dice by decision of the {by}",
        "La place {seat} perd son tour sur décision du {by}",
    ),
    "wheel.spun": ("Wheel spun {direction}", "Cylindre actionné {direction}"),
    "ball.launched": ("Ball launched {direction}", "Bille lancée {direction}"),
    "chip.fell_in_wheel": ("A chip falls into the wheel", "Un jeton tombe dans le cylindre"),
    "ball.retrieved": ("Ball taken back", "Bille reprise"),
    "spin.voided": (
        "Spin voided, announced by the {announced_by}[, approved by {approved_by}]: {reason}",
        "Coup annulé, annoncé par le {announced_by}[, avec l’accord donné par {approved_by}] : {reason}",
    ),
    "ball.settled": ("The ball rests in {pocket}", "La bille s’arrête sur le {pocket}"),
    "result.announced": ("{pocket} announced[: {chances}]", "{pocket} annoncé[ : {chances}]"),
    "zero.decided": ("Zero: wager {wager}, {choice}", "Zéro : mise {wager}, {choice}"),
    "last_coup.announced": ("Last coup announced", "Dernier coup annoncé"),
    "stacks.rebuilt": ("Stacks of colour chips rebuilt", "Piles de jetons de couleur reconstituées"),
    "colour.assigned": (
        "Colour {colour} given to {player}[ at {value} a chip]",
        "Couleur « {colour} » attribuée à {player}[ à {value} le jeton]",
    ),
    "chips.handled": ("Chips handled by the {by}", "Jetons manipulés par le {by}"),
}

PAYERS: Mapping[str, tuple[str, str]] = {"house": ("house", "la banque"), "player": ("player", "le joueur")}
"""Who pays what a dispute is settled for."""

MEANS: Mapping[str, tuple[str, str]] = {
    "cash": ("cash", "espèces"),
    "cheque": ("cheque", "chèque"),
    "card": ("card", "carte"),
    "voucher": ("voucher", "ticket"),
    "in": ("in", "entrée"),
    "out": ("out", "sortie"),
}

SPIN_REASONS: Mapping[str, tuple[str, str]] = {
    "ball_left_wheel": ("the ball left the wheel", "la bille est sortie du cylindre"),
    "foreign_object": ("a foreign object", "un corps étranger"),
    "mechanical": ("a mechanical fault", "un défaut mécanique"),
}
"""Why a spin decides nothing, by the contract's word."""

OF_AN_INTEGRATOR = (
    "Entry of the table system’s own, not adjudicated",
    "Écriture propre au système de table, non jugée",
)
"""What happened is known to the integrator alone; ``own_content`` shows what was sent."""

UNKNOWN_PLAYER = ("Unknown player", "Joueur inconnu")
"""Who stakes where the table does not report it."""

AMOUNTS = frozenset({"amount", "float", "stake", "winnings", "stake_returned", "value"})
ROLES = frozenset({"role", "by", "decided_by", "announced_by"})


def sentence(
    event: Event, language: Language, currency: str, ruleset: str | None, directory: Directory = NO_NAMES
) -> str:
    """Return ``event`` as a sentence. ``currency`` is the ISO 4217 code of its session, ``ruleset`` names its bets."""
    if isinstance(event, ExtensionEvent):
        return OF_AN_INTEGRATOR[1 if language == "fr" else 0]
    english, french = event.sentence or TEMPLATES[event.type]
    values = {
        name: _named(name, value, directory) or _format(name, value, language, currency, ruleset)
        for name, value in msgspec.to_builtins(event.data).items()
        if value not in (None, [])
    }
    if isinstance(event, WagerPlaced):
        values.setdefault("player", UNKNOWN_PLAYER[1 if language == "fr" else 0])
    return fill(french if language == "fr" else english, values, language, verbatim=PLAYER_FIELDS | STAFF_FIELDS)


def own_content(event: Event) -> list[tuple[str, str]]:
    """Return what an integrator sent beside the contract, as canonical JSON: each ``data`` or ``ext``, and its text."""
    own: list[tuple[str, object]] = [("data", event.data)] if isinstance(event, ExtensionEvent) else []
    if event.ext is not msgspec.UNSET:
        own.append(("ext", event.ext))
    return [(name, msgspec.json.encode(content, order="sorted").decode()) for name, content in own]


def _reason(reason: str, language: Language) -> str:
    """Return what a word of the contract says in ``language``, or a reason as it was given, quoted."""
    spin = SPIN_REASONS.get(reason)
    known = spin[1 if language == "fr" else 0] if spin is not None else word("loss", reason, language)
    if known != reason:
        return known
    given = isolated(reason)
    return f"«\N{NO-BREAK SPACE}{given}\N{NO-BREAK SPACE}»" if language == "fr" else f"“{given}”"


def _named(name: str, value: Any, directory: Directory) -> str | None:
    """Return a person as a page shows them; None if the field names nobody."""
    if not isinstance(value, str):
        return None
    return (
        directory.player(value) if name in PLAYER_FIELDS else directory.staff(value) if name in STAFF_FIELDS else None
    )


def _format(name: str, value: Any, language: Language, currency: str, ruleset: str | None) -> str:
    if name in AMOUNTS and isinstance(value, int):
        return amount_in_prose(value, currency, language)
    if name == "wheel":
        return f"{wheel_name(ruleset, language)} {equipment_id(str(value))}"
    if name == "dice_set":
        return equipment_id(str(value))
    if name == "ruleset" and value in RULESETS:
        title = RULESETS[value].title.in_language(language)
        return title[:1].lower() + title[1:] if language == "fr" else title
    if name == "faces":
        return " – ".join(str(face) for face in value)
    if name == "bet":
        return bet_word(ruleset, str(value))
    if name == "working":
        return word("switch", "on" if value else "off", language)
    if name in ("means", "direction") and value in MEANS:
        return MEANS[value][1 if language == "fr" else 0]
    if name == "by" and value in PAYERS:
        return PAYERS[value][1 if language == "fr" else 0]
    if name in ROLES:
        return word("role", value, language)
    if name in ("direction", "choice", "cause", "colour"):
        return word(name, value, language)
    if name == "reason":
        return _reason(str(value), language)
    if isinstance(value, list):
        return ", ".join(word("flags", each, language) if name == "flags" else str(each) for each in value)
    return str(value)
