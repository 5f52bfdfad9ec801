"""What honest people do at a table, and how often where there is an occasion."""

from __future__ import annotations

from collections.abc import Mapping

DEEDS: Mapping[str, float] = {
    # Money, put right before the next result
    "overpaid and recovered": 0.03,
    "underpaid and completed": 0.03,
    "winnings and stake apart": 0.03,
    "paid twice and recovered": 0.02,
    "loser paid and recovered": 0.02,
    "winner swept and paid": 0.02,
    "recovered in two": 0.01,
    "recovered too much": 0.01,
    "paid in three": 0.01,
    "paid by another": 0.03,
    "rounded up": 0.7,
    "payment read twice": 0.01,
    "payment misread": 0.01,
    "swept in two": 0.05,
    "swept late": 0.05,
    "announced again": 0.05,
    "taken back and handed over": 0.4,
    "left lying": 0.04,
    "pressed": 0.08,
    "disputed": 0.02,
    "dispute about nothing": 0.01,
    "goodwill": 0.01,
    "disputed and paid as goodwill": 0.01,
    "tip": 0.03,
    "lifted before the call": 0.04,
    # The zero
    "half paid unsaid": 0.25,
    "other choice": 0.1,
    "decided late": 0.1,
    "half said at the last coup": 0.5,
    "released and lifted": 0.1,
    "released and orphaned": 0.1,
    "released and left lying": 0.1,
    # Sensors and readers
    "numbered after the call": 0.06,
    "placed near the call": 0.04,
    "taken back near the call": 0.02,
    "taken back, numbered after the call": 0.02,
    "switched near the call": 0.03,
    "switched off": 0.05,
    "slow clock": 0.03,
    "called twice": 0.02,
    "player not seen": 0.03,
    "seat not seen": 0.03,
    "thrower not seen": 0.05,
    "offered by name": 0.2,
    "integrator's event": 0.05,
    "slip read twice": 0.3,
    "marker misread": 0.03,
    "move misread": 0.03,
    "stake misread": 0.008,
    "stake read twice": 0.008,
    "result misread": 0.015,
    "result read twice": 0.015,
    # Throws and spins
    "counted and void": 0.015,
    "spin void": 0.02,
    "staked after a void spin": 0.5,
    "die broken": 0.02,
    # People
    "bets announced together": 0.1,
    "buys again": 0.02,
    "leaves": 0.03,
    "leaves with stakes": 0.02,
    "changes seat": 0.02,
    "arrives": 0.04,
    "croupiers change": 0.03,
    "chiefs change": 0.02,
    "odd stake": 0.5,
    "place bet moved": 0.05,
    "shooter leaves": 0.02,
    "shooter gives up": 0.02,
    "everybody declines": 0.05,
}
"""What has findings for information, or none."""

BELATED: Mapping[str, float] = {
    "completed in the next coup": 0.02,
    "recovered in the next coup": 0.02,
    "paid in the next coup": 0.01,
    "buy-in corrected in a later coup": 0.02,
    "number taken back": 0.015,
    "decision read twice": 0.015,
}
"""What is put right as well, but only after its coup, or takes from players what they won: a finding stands of it."""
