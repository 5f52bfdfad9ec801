"""What no officer may read: a dash or a brace for a value, a negative amount, parentheses with nothing in them."""

from __future__ import annotations

import re

from settlement import Finding
from settlement.catalogue import RULES
from settlement.catalogue.groups import ON_A_READING
from settlement.catalogue.rule import LANGUAGES

_NOT_WHOLE = re.compile(
    r"—|\bNone\b|[{}\[\]]| {2}|\( *\)|\N{MINUS SIGN}[€$£¥\d]|(?<![\d\N{NO-BREAK SPACE}]) [.,)]|: *[.;]|^$"
)


ASKS_FOR_MONEY = re.compile(r"(Pay|Recover) ")
"""How a remedy begins that asks somebody for money: of the findings of a wager only the one that is owed does."""


def check_sentence(sentence: str, source: str) -> None:
    """Fail for a sentence that shows what is not there."""
    found = _NOT_WHOLE.search(sentence)
    assert found is None, f"{source}: {sentence!r} has {found[0]!r}"


def check_finding(finding: Finding) -> None:
    """Fail where a message or a remedy of ``finding`` shows what is not there, in either language."""
    for language in LANGUAGES:
        check_sentence(finding.message(language), finding.rule)
        check_sentence(finding.remedy(language), finding.rule)
    title = RULES[finding.rule].title.en
    assert not re.match(re.escape(title) + "(: wager|, event)", finding.message("en")), "the engine knows what it needs"
    assert not finding.remedy("en").startswith("Examine the finding"), f"{finding.rule}: the engine knows what it needs"
    asks = ASKS_FOR_MONEY.match(finding.remedy("en")) is not None
    on_a_reading = "reading" in finding.facts or finding.rule in ON_A_READING
    is_claimed = finding.owed is not None and not (finding.owed.by == "player" and on_a_reading)
    assert asks == is_claimed, f"{finding.rule}: {finding.remedy('en')!r}, and {finding.owed} is owed"
