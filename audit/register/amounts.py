"""Amounts of the register as an officer writes them at the desk: “2.50”, “€2.50”, « 2,50 € », “2.50 EUR”.

They are in the currency of the casino. Where that is not known, because it has not played yet or plays in several, each
amount names it. A terminal and the audit trail have minor units, as the engine does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from settlement.catalogue.sentences import SIGNS, exponent

_AMOUNT = re.compile(
    r"(?P<before>[^\d.,]*)(?P<units>\d{1,15})(?:[.,](?P<decimals>\d{1,4}))?(?P<after>[^\d.,]*)", re.ASCII
)
_PAIR = re.compile(r"\s*(?P<name>[^=,;]+?)\s*=\s*(?P<amount>[^=;]*?)\s*(?:[,;]\s*(?=[^=,;]+=)|[,;]?\s*$)")


def minor_units(text: str, currency: str) -> int | None:
    """Return an amount in minor units of ``currency``, "" for the one that it names; None if it is no such amount."""
    written = _AMOUNT.fullmatch("".join(text.split()))
    if written is None or (written["before"] and written["after"]):
        return None
    named = written["before"] or written["after"]
    if named:
        known = {each for each in (currency, "EUR", "GBP", named.upper()) if named.upper() in _names(each)}
        currency = currency if currency in known else "" if currency else next(iter(known), "")
    if not currency:
        return None
    decimals, digits = written["decimals"] or "", exponent(currency)
    if len(decimals) > digits:
        return None
    return int(Decimal(f"{written['units']}.{decimals or 0}").scaleb(digits))


def _names(currency: str) -> set[str]:
    """Return how an amount may name its currency: by its code, or by its sign as either language writes it."""
    signs = {"".join(by_currency[currency].split()) for by_currency in SIGNS.values() if currency in by_currency}
    codes = {currency} if re.fullmatch(r"[A-Z]{3}", currency) else set()
    return codes | signs | ({"$"} if any("$" in sign for sign in signs) else set())


def pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield what a text of “name=amount, …” has: each name with its amount. A comma may be of an amount, too."""
    at = 0
    while at < len(text):
        pair = _PAIR.match(text, at)
        if pair is None:
            yield text[at:], ""
            return
        yield pair["name"], pair["amount"]
        at = pair.end()
