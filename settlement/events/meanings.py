"""What each event of the contract says happened, and what each of its fields means: for whoever sends them.

The page of the events (``docs/events.md``) and the interface's own document are made from these and from the types.
"""

from __future__ import annotations

from collections.abc import Mapping

from settlement.events import TYPES

MEANINGS: Mapping[str, str] = {
    "session.opened": "A session begins at a table. First event of its stream.",
    "session.closed": "The session ends; its last coup ends with it.",
    "staff.assigned": "Somebody takes up a role at the table. In play, too.",
    "staff.relieved": "Somebody gives up a role.",
    "player.seated": "A player takes a seat.",
    "player.left": "A player leaves. A colour that was theirs is unassigned, a series in hand passes on.",
    "bank.filled": "Chips come to the table.",
    "bank.credited": "Chips leave the table.",
    "buy_in.recorded": "A player exchanges money for chips at the table.",
    "events.lost": "Events are lost for good. Its own seq is the first lost number; the next event has `through` + 1.",
    "entry.corrected": "The data of an earlier event were wrong. A finding in itself, which says whose outcome "
    "changes. A changed outcome of a counted result is at least major, unless it was a slip of the hand.",
    "entry.annulled": "An earlier event never happened, as a pocket that was read twice, or its last correction is "
    "undone. A finding in itself, at least major if a result that counted is taken away and an outcome changes.",
    "count.opened": "The count of a casino's gaming day begins. First event of its stream.",
    "drop.counted": "The box of a session was counted.",
    "cash_desk.recorded": "Money was exchanged at the cash desk.",
    "count.closed": "The count is finished.",
    "wager.placed": "A stake is laid. A stake left up after a win is a wager of its own, as is an increase.",
    "wager.withdrawn": "A player takes a stake back, or a part of it: before it is decided, or once it is the player's "
    "(won, void, released, the half at a zero). With a `payout.made` of the same stake it is one movement.",
    "wager.switched": "A player turns a place bet on or off; it holds until switched again or decided.",
    "wager.moved": "A stake is put on another number: a come stake on its own, a place bet after an indecisive throw.",
    "no_more_bets": "« Rien ne va plus ». A voided throw or spin lifts it.",
    "stakes.collected": "Stakes were swept as lost.",
    "payment.announced": "The croupier says what he is going to pay.",
    "payout.made": "Winnings and stake are handed over. A half refunded at a zero, or a release, has no winnings.",
    "payout.recovered": "The house takes back from a player what it paid. A coup is judged by what was paid, less what "
    "was taken back.",
    "tip.given": "A player tips the staff.",
    "goodwill.paid": "The house pays what the rules do not give. That is no payout, and a finding for information, or "
    "major if nobody approved it. The player, the `actor`, a croupier and an employé of the table may not approve it.",
    "dispute.opened": "A player disputes a decision.",
    "dispute.settled": "A dispute is settled. With `approved_by` its amount is a movement of the wager that the "
    "dispute names, or goodwill if it names none; without it the event has no effect. The persons who may not approve "
    "goodwill may not approve a settlement.",
    "orphan.recorded": "The cash desk receives what nobody took of a released stake.",
    "dice.offered": "The dice are offered to a player. `seat`, `player` or both.",
    "dice.declined": "A player passes the dice on, or gives them up. `seat`, `player` or both.",
    "dice.set_introduced": "A set of dice comes into play.",
    "dice.selected": "The shooter takes two dice of the set; the others are boxed.",
    "dice.touched": "A member of the staff touches the dice.",
    "dice.thrown": "A throw that was counted.",
    "throw.voided": "A throw that was called « Coup nul ». With `voids`, the throw just counted was.",
    "point.marked": "The point is marked.",
    "shooter.removed": "The shooter loses the dice by decision.",
    "wheel.spun": "The wheel is spun.",
    "ball.launched": "The ball is launched.",
    "chip.fell_in_wheel": "A chip fell into the wheel.",
    "ball.retrieved": "The ball is taken out of the wheel.",
    "spin.voided": "A spin decides nothing. Betting reopens; it is still the same coup.",
    "ball.settled": "The ball came to rest: a result.",
    "result.announced": "The croupier calls the result.",
    "zero.decided": "A player chooses at a zero. The last choice before the next result counts, until the half is paid "
    "or taken. A player who chose the half may take it without another event.",
    "last_coup.announced": "The next spin is the last.",
    "stacks.rebuilt": "The stacks of the bank are put in order.",
    "colour.assigned": "A player gets a colour, and its value.",
    "chips.handled": "Somebody handles the chips of the bank.",
}
"""By type: what happened."""

FIELDS: Mapping[str, str] = {
    "amount": "amount",
    "announced": "whether it was called out",
    "announced_by": "who called it: a role",
    "annuls": "seq of the event that never happened, or of the last correction of an event",
    "approved_by": "who approved it: a person",
    "base": "the wager that the odds are on",
    "bet": "the bet, in the words of the law, in small letters",
    "boxed": "ids of the dice put away",
    "by": "who did it: a role",
    "casino": "code of the casino",
    "cause": "why",
    "chances": "the winning simple chances as called",
    "choice": "what the player chose",
    "colour": "colour of the chips",
    "commission": "commission paid with the stake: amount",
    "continues_as": "id of the wager that plays on with the stake that was not handed back: same bet, numbers, player",
    "corrects": "seq of the event that was wrong",
    "counted_by": "who counted: persons",
    "croupier": "a croupier on duty: short for an entry of `staff`",
    "currency": "ISO 4217; all amounts of the stream are in its minor units",
    "data": "the right data, whole",
    "decided_by": "who decided it: a role",
    "dice": "ids of dice",
    "dice_set": "id of the physical set of dice",
    "direction": "direction",
    "double_table": "whether it is a double table",
    "faces": "the two faces",
    "flags": "what was irregular about the throw",
    "float": "chips in the rack: amount",
    "game": "`craps`, `french_roulette`, `american_roulette` or `boule`",
    "gaming_day": "the gaming day, whatever the clock says",
    "left_up_from": "the wager whose stake lies on",
    "marker": "marker put on the stake",
    "marker_from": "who brought the marker: a role",
    "means": "what was exchanged",
    "medium": "what was staked",
    "minimum": "smallest stake of the table: amount",
    "number": "the number",
    "numbers": "the pockets it lies on",
    "observes": "families of events that the table reports",
    "opened": "seq of `dispute.opened`",
    "params": "readings that the session declares; in a record the house register decides",
    "person": "a member of the staff",
    "player": "a player",
    "pocket": 'the pocket: `"0"`, `"00"`, `"1"` … `"36"`',
    "reason": "why, in words",
    "role": "role",
    "ruleset": "name of the rules",
    "seat": "a seat",
    "seats": "the seats, clockwise from the croupiers' left",
    "session": "stream of the session",
    "set": "id of the physical set",
    "slip": "number of the slip",
    "staff": "who is at the table",
    "stake": "amount",
    "stake_returned": "what of the stake is handed back: amount",
    "table": "code of the table",
    "through": "last lost seq",
    "total": "the total as called",
    "value": "value of a chip: amount, null if it was not declared",
    "voids": "seq of the last counted result, which decides nothing",
    "wager": "id of the wager, unique in the stream",
    "wagers": "ids of wagers",
    "wheel": "id of the physical wheel",
    "which": "dozens or columns, 1 to 3",
    "winnings": "what is paid in addition to the stake: amount",
    "working": "whether it works",
}
"""By field: what it means in every event that has it, unless ``MEANT_OTHERWISE`` has it."""

MEANT_OTHERWISE: Mapping[tuple[str, str], str] = {
    ("session.closed", "float"): "chips in the rack as counted: amount",
    ("wager.withdrawn", "amount"): "what of the stake: amount; left out, all that stands",
    ("payment.announced", "amount"): "winnings as announced: amount",
    ("payout.made", "colour"): "colour of the chips paid",
    ("payout.recovered", "winnings"): "what of the winnings is taken back: amount",
    ("payout.recovered", "stake"): "what of the stake is taken back: amount",
    ("dispute.settled", "amount"): "what one side paid to the other: amount",
    ("dispute.settled", "by"): "who paid",
    ("throw.voided", "approved_by"): "who approved it: a person; without it, `voids` is critical if an outcome changes",
    ("spin.voided", "approved_by"): "who approved it: a person; without it, `voids` is critical if an outcome changes",
    ("events.lost", "reason"): "`spool_lost`, `refused` or other text",
    ("spin.voided", "reason"): "`ball_left_wheel`, `foreign_object`, `mechanical` or other text",
    ("dice.touched", "cause"): "`examine`, `fell_off_table` or other text",
    ("dice.set_introduced", "dice"): "ids of the six dice",
    ("point.marked", "number"): "the number the marker is on",
    ("cash_desk.recorded", "direction"): "`in`: to the house; `out`: to the player",
}
"""By type and field: what a field means there."""


def meaning(type: str, field: str) -> str:
    """Return what ``field`` of the data of an event of ``type`` means."""
    own = TYPES[type].meanings.get(field)
    return own or MEANT_OTHERWISE.get((type, field)) or FIELDS.get(field, "")


def happened(type: str) -> str:
    """Return what an event of ``type`` says happened; one of a ruleset's own that does not say, as pages show it."""
    own = TYPES[type].meanings.get("") or (TYPES[type].sentence or ("",))[0]
    return MEANINGS.get(type, own)
