"""Text for every code in a report's content, and amounts, shares and probabilities as text, in the active language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from audit import presentation
from audit.presentation import language
from settlement import RULESETS
from settlement.catalogue import RULES
from settlement.catalogue.words import word
from settlement.eprocess.kinds import KINDS

LINES: Mapping[str, Any] = {
    "completeness": _("Completeness"),
    "opener": _("Opening float equals the previous closing float"),
    "slips": _("Fill and credit slips"),
    "drop": _("Drop counted against buy-ins announced"),
    "accounting": _("Accounting win against recorded win"),
    "payouts": _("Recorded win against adjudicated win"),
    "limits": _("Stakes within limits"),
    "standing": _("Undecided and imprisoned stakes"),
    "late": _("Events since the last version"),
    "findings": _("Open findings"),
    "chance": _("Hold and unexplained results"),
    "unchecked": _("Not checked, because not observed"),
}

VERDICTS: Mapping[str, Any] = {
    "agrees": _("agrees"),
    "differs": _("differs"),
    "question": _("question"),
    "unknown": _("not known"),
}

FIGURES: Mapping[str, Any] = {
    "O": _("Opening float"),
    "F": _("Fills"),
    "C": _("Credits"),
    "K": _("Closing float"),
    "D": _("Drop counted"),
    "B": _("Buy-ins announced"),
    "S": _("Handle (stakes decided)"),
    "L": _("Stakes lost"),
    "Z": _("Halves taken at zero"),
    "V": _("Commissions"),
    "G": _("Winnings paid"),
    "U": _("Stakes undecided"),
    "I": _("Stakes in prison"),
    "W_acct": _("Accounting win (gross gaming revenue)"),
    "W_rec": _("Recorded win"),
    "W_adj": _("Adjudicated win"),
    "theoretical": _("Theoretical win"),
    "luck": _("Luck"),
    "unadjudicated": _("Bets not adjudicated"),
    "payout_errors": _("Payout errors"),
    "accounting_variance": _("Accounting variance"),
    "accounting_win": _("Accounting win"),
    "recorded_win": _("Recorded win"),
}

NOT_COUNTED, NOT_KNOWN = _("not counted"), _("not known")
"""In place of an amount, and of another figure, that the report does not know. Never a dash, never a zero."""

UNITS: Mapping[str, Any] = {
    "events": ngettext_lazy("%(number)d event", "%(number)d events", "number"),
    "slips": ngettext_lazy("%(number)d slip", "%(number)d slips", "number"),
    "persons": ngettext_lazy("%(number)d person", "%(number)d people", "number"),
    "wagers": ngettext_lazy("%(number)d wager", "%(number)d wagers", "number"),
    "findings": ngettext_lazy("%(number)d finding", "%(number)d findings", "number"),
    "throws": ngettext_lazy("%(number)d throw", "%(number)d throws", "number"),
    "spins": ngettext_lazy("%(number)d spin", "%(number)d spins", "number"),
    "sessions": ngettext_lazy("%(number)d session", "%(number)d sessions", "number"),
    "families": ngettext_lazy("%(number)d kind of event", "%(number)d kinds of event", "number"),
    "sentences": ngettext_lazy("%(number)d obligation", "%(number)d obligations", "number"),
}
"""What the numbers of the twelve lines count."""

UNIT_NAMES: Mapping[str, Any] = {
    "events": _("events"),
    "slips": _("slips"),
    "persons": _("persons"),
    "wagers": _("wagers"),
    "findings": _("findings"),
    "throws": _("throws"),
    "spins": _("spins"),
    "sessions": _("sessions"),
    "sentences": _("obligations"),
}

_UNIT_OF_NOTE: Mapping[str, str] = {
    "counted_alone": "persons",
    "dice": "throws",
    "wheel": "spins",
    "ledger": "sessions",
    "ledger_waits": "sessions",
    "ledger_left_out": "sessions",
    "ledger_empty": "sessions",
}

_UNIT_OF_LINE: Mapping[str, str] = {
    "completeness": "events",
    "slips": "slips",
    "limits": "wagers",
    "late": "events",
    "findings": "findings",
    "unchecked": "sentences",
}

SIGNED = frozenset(("luck", "unadjudicated", "payout_errors", "accounting_variance"))
"""The steps of the bridge, from the theoretical win to the accounting win. Nothing else has a sign."""

NEEDS: Mapping[str, Any] = {
    "gap": _("events have been lost or altered"),
    "session-open": _("a session was not closed"),
    "count-missing": _("a count is missing"),
    "critical-open": _("a critical finding is open"),
    "not-sealed": _("events are not under a signed checkpoint yet"),
}

REFUSALS: Mapping[str, Any] = {
    "restated": _("A later version restates this one: sign the later one."),
    "closed": _("This version is closed."),
    "day-not-over": _("The gaming day is not over."),
    "needs-signoff-exceptions": _("It can only be signed with exceptions."),
    "another-officer": _("The second signature must be another officer’s."),
    "same-hands": _(
        "One of you created the other’s account or reset its password, or one person "
        "could have chosen both passwords. Another officer must sign."
    ),
    "exception-not-needed": _("This exception does not apply to this report."),
    "reason-missing": _("An exception needs a reason of at most 2,000 characters."),
    "exception-already-signed": _("This exception has already been signed."),
}

NOTES: Mapping[str, Any] = {
    "complete": _("all events are present; chain and seal are verified"),
    "lost": ngettext_lazy("%(lost)d event was declared lost", "%(lost)d events were declared lost", "lost"),
    "chain": ngettext_lazy("%(faults)d fault in the chain", "%(faults)d faults in the chain", "faults"),
    "still_open": _("the session is not closed"),
    "not_sealed": _("not under a signed checkpoint yet"),
    "no_closer": _("no earlier closing is known"),
    "closer": _("previous session: %(previous)s"),
    "double": _("slip %(slip)s was first used in %(first_stream)s, event %(first)s"),
    "reused": _("slip %(slip)s was first used on %(first_day)s in %(first_stream)s, event %(first)s"),
    "hole": _("missing: %(slips)s (%(missing)s)"),
    "hole_since": _("missing since %(since)s: %(slips)s (%(missing)s)"),
    "slips_used": _("slips used, against the numbers in their series"),
    "uncounted": _("no count for this session"),
    "buy_ins_unobserved": _("the table does not report buy-ins"),
    "counted": _("counted: %(counts)s"),
    "short": _("counted less than announced: %(counts)s"),
    "counted_alone": _("the drop of %(session)s was not counted by two people"),
    "stranger": _("counted for %(session)s, which is not a session of this night"),
    "opened_late": _("counted too late for %(session)s of %(gaming_day)s: no report for that day includes it"),
    "paid_wrong": ngettext_lazy(
        "%(errors)d error: %(for_house)s kept from players, %(for_players)s overpaid",
        "%(errors)d errors: %(for_house)s kept from players, %(for_players)s overpaid",
        "errors",
    ),
    "stands": ngettext_lazy("%(stakes)d stake remains", "%(stakes)d stakes remain", "stakes"),
    "first_version": _("first version"),
    "came_late": _("events %(first)s to %(last)s"),
    "nothing_late": _("no event has arrived since"),
    "finding": _("%(rule)s; to be closed within %(hours)s h"),
    "finding_closed": _("%(rule)s; closed by two officers: %(closed)s"),
    "finding_closed_in_part": _("%(rule)s; to be closed within %(hours)s h; closed by two officers: %(closed)s"),
    "no_hold": _("no hold: not counted, or no drop"),
    "hold": _("expected from %(low)s to %(high)s; threshold %(level)s"),
    "ledger": _(
        "sessions in the evidence ledger; false questions allowed in %(year)s: %(budget)s, of which %(spent)s used"
    ),
    "ledger_waits": _(
        "sessions so far in the evidence ledger, not yet all of them; false questions allowed in "
        "%(year)s: %(budget)s, of which %(spent)s used"
    ),
    "ledger_left_out": _("sessions that the evidence ledger could not read"),
    "ledger_empty": _("no session of this night is in the evidence ledger yet"),
    "ledger_past": _("the evidence ledger has moved on to a later year: the thresholds of %(year)s are no longer kept"),
    "ledger_crossed": _("under review: %(subject)s (%(process)s)"),
    "ledger_asked": _("under review since the night of %(day)s: %(subject)s (%(process)s)"),
    "ledger_watched": _("near the threshold, no question: %(subject)s (%(process)s)"),
    # Of reports from before the evidence ledger:
    "dice": _("throws since the first of the month; p = %(p)s, threshold %(level)s per table and month"),
    "wheel": _("spins since the first of the month; p = %(p)s, threshold %(level)s per table and month"),
    "no_ruleset": _("unknown ruleset"),
    "unobserved": _("not reported by the table: %(families)s"),
    "law": _("obligations of the law checked, of those that have a rule"),
    "law_in_part": _(
        "obligations of the law checked, of those that have a rule; not all in full, for lack of %(lacking)s"
    ),
}

PROCESSES: Mapping[str, Any] = {
    "wheel": _("Wheel: pockets"),
    "wheel-displacement": _("Wheel: distance from the last pocket"),
    "wheel-memory": _("Wheel: dependence on earlier pockets"),
    "croupier-displacement": _("Croupier and wheel: distance from the last pocket"),
    "die": _("Die: faces"),
    "dice-supply": _("Dice of a table: faces"),
    "dice-pair": _("Set of dice: faces and pairs"),
    "shooter": _("Shooter: sevens and faces"),
    "void-call": _("Table: coups called void"),
    "table-luck": _("Table: unexplained results of the house"),
    "table-drift": _("Table: accounting variances"),
    "player-luck": _("Player: unexplained wins"),
    "pair-luck": _("Player and croupier: unexplained wins"),
    "late-luck": _("Player: unexplained wins on late wagers"),
    "corrected-luck": _("Player: unexplained wins on corrected results"),
    "croupier-luck": _("Croupier: unexplained wins of the players"),
    "concentration": _("Croupier: findings of one kind"),
    "pair-concentration": _("Player and croupier: findings of one kind"),
    "payout-lean": _("Croupier: one-sided errors"),
    "payout-rate": _("Croupier: errors per coup"),
    "team-drift": _("Count team: accounting variances"),
    "shift-drift": _("Shift: accounting variances"),
    "player-concentration": _("Player: findings of one kind"),
    "croupier-voids": _("Croupier: coups called void"),
    "pair-voids": _("Player and croupier: coups called void"),
    "closer-drift": _("Who closes: accounting variances"),
    "duty-drift": _("Croupier: accounting variances of tables dealt"),
}
"""What a report and a list call each kind of process of the evidence ledger."""

_MULTIPLES = frozenset(("ledger_crossed", "ledger_asked"))
"""The notes of rows that compare how many times a stake has become."""

_PAID_WRONG_ONE_WAY = {
    "for_players": ngettext_lazy(
        "%(errors)d error: %(for_players)s overpaid", "%(errors)d errors: %(for_players)s overpaid", "errors"
    ),
    "for_house": ngettext_lazy(
        "%(errors)d error: %(for_house)s kept from players",
        "%(errors)d errors: %(for_house)s kept from players",
        "errors",
    ),
}
"""The words of wrong payouts that are all on one side, by that side."""


def money(minor: int | None, currency: str) -> str:
    """Return an amount with its currency, “not counted” if it is not known."""
    return str(NOT_COUNTED) if minor is None else presentation.money(minor, currency)


def figure(key: str, minor: int | None, currency: str) -> str:
    """Return an amount of a figure, “not counted” if it is not known; a step of the bridge has its sign."""
    if minor is None:
        return str(NOT_COUNTED)
    return presentation.signed_money(minor, currency) if key in SIGNED else presentation.money(minor, currency)


def share(millionths: int | None, digits: int = 2) -> str:
    """Return a share in millionths as a percentage."""
    if millionths is None:
        return str(NOT_KNOWN)
    units = (abs(millionths) * 10**digits + 5_000) // 10_000
    whole, fraction = divmod(units, 10**digits)
    sign = "−" if millionths < 0 and units else ""
    if language() == "fr":
        return f"{sign}{whole},{fraction:0{digits}}\N{NO-BREAK SPACE}%"
    return f"{sign}{whole}.{fraction:0{digits}}%"


def per_thousand(millionths: int) -> str:
    """Return a rate in millionths as so many in a thousand, to the tenth: “6.4”, « 6,4 »."""
    return number_format(round(Decimal(millionths) / 1000, 1), 1)  # Django cuts off


def probability(millionths: int | None) -> str:
    """Return a probability, rounded up to the millionth, without trailing zeros."""
    if millionths is None:
        return str(NOT_KNOWN)
    text = f"{millionths // 10**6}.{millionths % 10**6:06}".rstrip("0").rstrip(".") or "0"
    return text.replace(".", ",") if language() == "fr" else text


def short_probability(millionths: int | None) -> str:
    """Return a probability as a page and a paper have it: of three decimals, rounded up; a smaller one has all six."""
    if millionths is None or millionths < 1_000:
        return probability(millionths)
    return probability(-(-millionths // 1_000) * 1_000)


def thousandths(value: int | None) -> str:
    """Return a number in thousandths with two decimals, rounded towards zero."""
    if value is None:
        return str(NOT_KNOWN)
    sign = "−" if value < 0 else ""
    text = f"{sign}{abs(value) // 1000}.{abs(value) % 1000 // 10:02}"
    return text.replace(".", ",") if language() == "fr" else text


def game(code: str) -> str:
    """Return the title of a game, or the code of one that no ruleset has."""
    titles = {ruleset.game: ruleset.game_title for ruleset in RULESETS.values()}
    return titles[code].in_language(language()) if code in titles else code


def compared(
    row: Mapping[str, Any], key: str, currency: str, write: presentation.WriteMoney = presentation.money
) -> str:
    """Return ``expected`` or ``found`` of a line's row, "" where there is nothing to compare."""
    value = row[key]
    if value is None:
        return str(NOT_COUNTED) if key == "found" and row["kind"] == "money" else ""
    match row["kind"]:
        case "money":
            return write(value, currency)
        case "share":
            return share(value)
        case "number":
            return counted(unit_of(row), value)
        case _:
            if row["note"] == "unobserved":
                return counted("families", len(row["facts"]["families"]))
            if row["note"] == "ledger_watched" and _is_about_persons(row["facts"]["process"]):
                return ""  # of a person whom no question is about, no page shows a number
            return presentation.multiple(value) if row["note"] in _MULTIPLES else str(value)


def _is_about_persons(kind: str) -> bool:
    return kind in KINDS and KINDS[kind].half == "persons"


def unit_of(row: Mapping[str, Any]) -> str:
    """Return what the numbers of a line's row count, a key of ``UNITS``; "" if they count nothing."""
    return _UNIT_OF_NOTE.get(row["note"]) or _UNIT_OF_LINE.get(row["line"], "")


def counted(unit: str, number: int) -> str:
    """Return a number of what is counted: “1 slip”, “3 slips”."""
    if unit not in UNITS:
        return presentation.count(number)
    return str(UNITS[unit] % {"number": number}).replace(str(number), presentation.count(number), 1)


def unit_name(row: Mapping[str, Any], currency: str) -> str:
    """Return the unit of what a line's row compares, as a file has it."""
    match row["kind"]:
        case "money":
            return currency
        case "share":
            return "%"
        case "number":
            return str(UNIT_NAMES.get(unit_of(row), ""))
        case _:
            return ""


def families(names: Iterable[str]) -> str:
    """Return families of events in words; what is no family, as an undecided bet, by its code."""
    return ", ".join(str(presentation.FAMILY_NAMES.get(name, name)) for name in names)


def note(row: Mapping[str, Any], currency: str, write: presentation.WriteMoney = presentation.money) -> str:
    """Return the note of a line's row, "" where it has none."""
    template = NOTES.get(row["note"])
    if template is None:
        return ""
    facts = dict(row["facts"])
    if row["note"] == "paid_wrong":
        sides = {side: facts[side] for side in ("for_house", "for_players")}
        if not all(sides.values()):
            template = _PAID_WRONG_ONE_WAY["for_house" if sides["for_house"] else "for_players"]
        facts |= {side: write(amount, currency) for side, amount in sides.items()}
    for name in ("low", "high"):
        if name in facts:
            facts[name] = share(facts[name])
    if "p_millionths" in facts:
        facts["p"] = probability(facts["p_millionths"])
    if "spent_millionths" in facts:
        facts["spent"] = probability(facts["spent_millionths"])
    if "process" in facts:
        facts["process"] = str(PROCESSES.get(facts["process"], facts["process"]))
    if "families" in facts:
        facts["families"] = families(facts["families"])
    if "lacking" in facts:
        facts["lacking"] = families(facts["lacking"].split(", "))
    if "counts" in facts:
        facts["counts"] = ", ".join(facts["counts"])
    if "rule" in facts:
        # A report outlives the rules of its engine.
        facts["rule"] = presentation.finding_title(facts["rule"]) if facts["rule"] in RULES else facts["rule"]
    return str(template % facts)


def restated_line(key: str) -> str:
    """Return what a row of a restatement sheet is about: a figure, or one of the twelve lines."""
    if key.startswith("line."):
        return str(LINES.get(key.removeprefix("line."), key))
    return str(FIGURES.get(key, key))


def restated(value: Any, currency: str) -> str:
    """Return what a figure or a verdict was or is."""
    if isinstance(value, int):
        return money(value, currency)
    return str(VERDICTS.get(value, NOT_COUNTED))


def reason(code: str) -> str:
    """Return why a figure was restated: ``corrected: …``, ``approved: …``, ``late: …`` and so on, or ``findings``."""
    kind, _colon, rest = code.partition(": ")
    match kind:
        case "corrected":
            return gettext("corrected: %(what)s") % {"what": rest}
        case "approved":
            return gettext("correction approved: %(what)s") % {"what": rest}
        case "refused":
            return gettext("correction refused: %(what)s") % {"what": rest}
        case "register":
            return gettext("house register: %(what)s") % {"what": rest}
        case "late":
            return gettext("late event: %(what)s") % {"what": presentation.event_name(rest)}
        case _:
            return gettext("findings changed")


def is_concession(wager: str) -> bool:
    """Whether a payout error of this wager is money given without one: it is named by the event, “#1005”."""
    return wager.startswith("#")


def seq_of_concession(wager: str) -> int:
    """Return the event that gave money without a wager; 0 for a wager."""
    return int(wager[1:]) if is_concession(wager) else 0


def concession(kind: str) -> str:
    """Return what money that was given without a wager is called, as the event is: “goodwill payment”."""
    return word("event", {"goodwill": "goodwill.paid", "dispute": "dispute.settled"}.get(kind, kind), language())


def bet(row: Mapping[str, Any], key: str) -> str:
    """Return the bet of a row in words, or what was given without a wager."""
    is_given = not row[key] and is_concession(row.get("wager", ""))
    return concession(row["status"]) if is_given else presentation.bet_label(row["ruleset"], row[key])
