"""**The law.** Events in, what is due and what was irregular out.

    >>> import settlement
    >>> settlement.adjudicate(open_lines).as_dict()      # doctest: +SKIP

Pure: standard library and msgspec, no clock, no randomness, no float, no I/O except at import: the law texts are read,
and the entry points of rulesets. From a finding to its clause, its code and its test is one search: the articles are
modules (``fr.art_54_roulette``), the rules are rows of ``catalogue``, the texts of law are in ``law`` and
``provisions``. ``docs/library.md`` shows the use.
"""

from settlement.adjudication import Adjudication, WagerOutcome
from settlement.arrival import AnotherStream
from settlement.codec import ShapeError, canonical, decode
from settlement.corrections import as_corrected
from settlement.engine import (
    ENGINE_VERSION,
    NeedsReplay,
    State,
    load_wagers,
    save_wagers,
)
from settlement.events import Event
from settlement.finding import Finding
from settlement.law_coverage import coverage
from settlement.rulesets import RULESETS, load
from settlement.streams import adjudicate

__all__ = [
    "ENGINE_VERSION",
    "RULESETS",
    "Adjudication",
    "AnotherStream",
    "Event",
    "Finding",
    "NeedsReplay",
    "ShapeError",
    "State",
    "WagerOutcome",
    "adjudicate",
    "as_corrected",
    "canonical",
    "coverage",
    "decode",
    "load_wagers",
    "save_wagers",
]

# A ruleset may import any module of this package, so that rulesets come last.
load()
