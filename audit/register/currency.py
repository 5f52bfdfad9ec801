"""In which currency the amounts of the register are written: that of the casino's play."""

from __future__ import annotations

from audit.models import Casino, LoggedStream

_CURRENCY = "_cabochon_currency"


def currency_of(casino: Casino) -> str:
    """Return the currency in which a casino plays, "" if it has played in none or in several. Kept with the object."""
    known: dict[str, str] = casino.__dict__
    if _CURRENCY not in known:
        streams = LoggedStream.objects.filter(casino=casino, is_of_desk=False)
        found = list(streams.order_by().values_list("currency", flat=True).distinct()[:2])
        known[_CURRENCY] = found[0] if len(found) == 1 else ""
    return known[_CURRENCY]
