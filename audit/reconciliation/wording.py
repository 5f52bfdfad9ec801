"""The words of a report: for every code that its content has, what an officer reads, in the language of the moment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import get_language
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from settlement.catalogue import RULES
from settlement.catalogue.sentences import amount

LINES: Mapping[str, Any] = {
    "completeness": _("Completeness"),
    "opener": _("Opening float equals the previous closing"),
    "slips": _("Fill and credit slips"),
    "drop": _("Drop counted against announced"),
    "accounting": _("Accounting win against recorded win"),
    "payouts": _("Recorded win against adjudicated win"),
    "limits": _("Stakes within limits"),
    "standing": _("Undecided and imprisoned stakes"),
    "late": _("Events since the last version"),
    "findings": _("Open findings"),
    "chance": _("Hold, dice and wheels against chance"),
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
    "S": _("Stakes decided"),
    "L": _("Stakes lost"),
    "Z": _("Halves taken at zero"),
    "V": _("Commissions"),
    "G": _("Winnings paid"),
    "U": _("Stakes undecided"),
    "I": _("Stakes in prison"),
    "W_acct": _("Accounting win"),
    "W_rec": _("Recorded win"),
    "W_adj": _("Adjudicated win"),
    "theoretical": _("Theoretical win"),
    "luck": _("Luck"),
    "payout_errors": _("Payout errors"),
    "accounting_variance": _("Accounting variance"),
    "accounting_win": _("Accounting win"),
    "recorded_win": _("Recorded win"),
}

GAMES: Mapping[str, Any] = {
    "craps": _("Craps"),
    "french_roulette": _("French roulette"),
    "american_roulette": _("American roulette"),
}

NEEDS: Mapping[str, Any] = {
    "gap": _("events are lost or altered"),
    "session-open": _("a session was not closed"),
    "count-missing": _("a count is missing"),
    "critical-open": _("a critical finding is open"),
    "not-sealed": _("events are not under a signed checkpoint yet"),
}

REFUSALS: Mapping[str, Any] = {
    "restated": _("A later version restates this one: sign that one."),
    "closed": _("This version is closed."),
    "day-not-over": _("The gaming day is not over."),
    "needs-signoff-exceptions": _("It can only be signed with exceptions."),
    "another-officer": _("The second signature is another officer’s."),
    "exception-not-needed": _("This report needs no such exception."),
    "reason-missing": _("An exception needs a reason of at most 2,000 characters."),
    "exception-already-signed": _("This exception has already been signed."),
}

NOTES: Mapping[str, Any] = {
    "complete": _("every number is there; chain and seal hold"),
    "lost": _("%(lost)s numbers were declared lost"),
    "chain": _("%(faults)s faults in the chain"),
    "still_open": _("the session is not closed"),
    "not_sealed": _("not under a signed checkpoint yet"),
    "no_closer": _("no closing before it is known"),
    "closer": _("previous session: %(previous)s"),
    "double": _("slip %(slip)s was first used in %(first_stream)s, event %(first)s"),
    "hole": _("missing: %(slips)s (%(missing)s)"),
    "slips_used": _("slips used, and as many as the series have numbers"),
    "uncounted": _("no count of this session"),
    "buy_ins_unobserved": _("the table does not report buy-ins"),
    "counted": _("counted: %(counts)s"),
    "stranger": _("counted for %(session)s, which is no session of this night"),
    "paid_wrong": _("%(errors)s wagers: %(for_house)s for the house, %(for_players)s for players"),
    "stands": _("%(stakes)s stakes stand"),
    "first_version": _("first version"),
    "came_late": _("events %(first)s to %(last)s"),
    "nothing_late": _("nothing has come since"),
    "finding": _("%(rule)s; to be closed within %(hours)s h"),
    "no_hold": _("no hold: not counted, or no drop"),
    "hold": _("expected from %(low)s to %(high)s; level %(level)s"),
    "dice": _("throws since the first of the month; p = %(p)s, level %(level)s a table and month"),
    "wheel": _("spins since the first of the month; p = %(p)s, level %(level)s a table and month"),
    "no_ruleset": _("no ruleset that is known"),
    "unobserved": _("families that the table does not report"),
}

_MONEY_FACTS = {"paid_wrong": ("for_house", "for_players")}


def tongue() -> Any:
    """Return the language of the moment as the catalogue names it."""
    return "fr" if (get_language() or "").startswith("fr") else "en"


def money(minor: int | None, currency: str) -> str:
    return "—" if minor is None else amount(minor, currency, tongue())


def share(millionths: int | None, places: int = 2) -> str:
    """Write a share in millionths as a percentage."""
    if millionths is None:
        return "—"
    units = (abs(millionths) * 10**places + 5_000) // 10_000
    whole, rest = divmod(units, 10**places)
    sign = "−" if millionths < 0 and units else ""
    if tongue() == "fr":
        return f"{sign}{whole},{rest:0{places}}\N{NO-BREAK SPACE}%"
    return f"{sign}{whole}.{rest:0{places}}%"


def probability(millionths: int | None) -> str:
    """Write a probability in millionths, which was rounded up."""
    if millionths is None:
        return "—"
    written = f"{millionths // 10**6}.{millionths % 10**6:06}".rstrip("0").rstrip(".") or "0"
    return written.replace(".", ",") if tongue() == "fr" else written


def thousandths(value: int | None) -> str:
    if value is None:
        return "—"
    sign = "−" if value < 0 else ""
    written = f"{sign}{abs(value) // 1000}.{abs(value) % 1000 // 10:02}"
    return written.replace(".", ",") if tongue() == "fr" else written


def value(row: Mapping[str, Any], which: str, currency: str) -> str:
    """Write what a row of a line expected or found."""
    said = row[which]
    if said is None:
        return ""
    match row["kind"]:
        case "money":
            return money(said, currency)
        case "share":
            return share(said)
        case _:
            return str(said)


def note(row: Mapping[str, Any], currency: str) -> str:
    """Write the note of a row."""
    template = NOTES.get(row["note"])
    if template is None:
        return ""
    facts = dict(row["facts"])
    for name in _MONEY_FACTS.get(row["note"], ()):
        facts[name] = money(facts[name], currency)
    for name in ("low", "high"):
        if name in facts:
            facts[name] = share(facts[name])
    if "p_millionths" in facts:
        facts["p"] = probability(facts["p_millionths"])
    if "counts" in facts:
        facts["counts"] = ", ".join(facts["counts"])
    if "rule" in facts:
        known = RULES.get(facts["rule"])
        facts["rule"] = known.title.in_language(tongue()) if known else facts["rule"]
    return str(template) % facts


def figure(name: str) -> str:
    """Return what a line of a restatement sheet is about: a figure, or one of the twelve lines."""
    if name.startswith("line."):
        return str(LINES.get(name[5:], name))
    return str(FIGURES.get(name, name))


def restated(said: Any, currency: str) -> str:
    """Write what a figure was or is."""
    if isinstance(said, int):
        return money(said, currency)
    return str(VERDICTS.get(said, "—"))


def reason(said: str) -> str:
    """Write why a figure was restated."""
    kind, _colon, rest = said.partition(": ")
    match kind:
        case "corrected":
            return _now("corrected: %(what)s") % {"what": rest}
        case "late":
            return _now("late event: %(what)s") % {"what": rest}
        case _:
            return _now("findings changed")
