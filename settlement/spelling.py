"""Words that were probably meant: for a bet outside the closed lists, an unknown ruleset, a field of another name.

A bet that differs from a word of its ruleset by capitals alone is a fault of the table system: it is refused at the
interface. Any other is recorded, for somebody accepted that stake, and the finding names the likely word. So with the
ruleset and the game of an opening: of the same letters as one of ours it is refused, with that one; any other is
recorded, and found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from settlement.codec import ShapeError
from settlement.events import Event, SessionOpened, WagerPlaced

MAX_EDITS = 2
"""Most letters by which a word may differ and still be recognised."""

MAX_LENGTH = 40
"""Longer texts are no misspelt bets."""

NO_OTHER_NAMES: Mapping[str, Collection[str]] = MappingProxyType({})


def word_but_for_case(bet: str, words: Collection[str]) -> str | None:
    """Return the one of ``words`` that ``bet`` would be without its capitals; None if it is one of them, or none."""
    if bet in words:
        return None
    lower = bet.lower()
    return lower if lower in words else None


def refuse_capitals(events: Iterable[Event], words: Collection[str]) -> None:
    """Raise ``ShapeError`` for the first stake among ``events`` on a word of ``words`` that is written in capitals."""
    bets = {event.data.bet for event in events if type(event) is WagerPlaced}
    for bet in sorted(bets):
        meant = word_but_for_case(bet, words)
        if meant is not None:
            raise ShapeError(f"'{bet}' is no bet: '{meant}' is meant, in small letters", "/data/bet")


def likely_word(
    sent_word: str, words: Iterable[str], names: Mapping[str, Collection[str]] = NO_OTHER_NAMES
) -> str | None:
    """Return the one of ``words`` that ``sent_word`` probably stands for: nearly the same, or one of its ``names``."""
    sent = _letters(sent_word)
    if not sent or len(sent) > MAX_LENGTH:
        return None
    same = [word for word in words if sent in {_letters(name) for name in (word, *names.get(word, ()))}]
    if same:
        return same[0] if len(same) == 1 else None
    # Of short words everything is near.
    most = min(MAX_EDITS, (len(sent) + 1) // 3)
    near = sorted((edits, word) for word in words if (edits := _edits(sent, _letters(word))) <= most)
    is_unique = len(near) == 1 or (len(near) > 1 and near[0][0] < near[1][0])
    return near[0][1] if is_unique else None


def meant(sent: str, words: Iterable[str]) -> str:
    """Return a question for the word that is nearest to what was sent, "" if none is near."""
    near = likely_word(sent, words)
    return f"did you mean '{near}'?" if near else ""


def refuse_misspelt(opened: SessionOpened, rulesets: Mapping[str, str]) -> None:
    """Raise ``ShapeError`` if an opening writes its ruleset or its game with other capitals, hyphens or underscores.

    ``rulesets`` are the games by ruleset.
    """
    _refuse_misspelt(opened.data.ruleset, list(rulesets), "/data/ruleset")
    _refuse_misspelt(opened.data.game, list(dict.fromkeys(rulesets.values())), "/data/game")


def refuse_unknown(opened: SessionOpened, rulesets: Mapping[str, str]) -> None:
    """Raise ``ShapeError`` if an opening names a ruleset that there is not, or another game than its ruleset has."""
    sent = opened.data.ruleset
    if sent not in rulesets:
        listed = ", ".join(f"'{each}'" for each in rulesets)
        raise ShapeError(f"'{sent[:MAX_LENGTH]}' is none of {listed}: nothing would be adjudicated", "/data/ruleset")
    if opened.data.game != rulesets[sent]:
        raise ShapeError(f"the game of '{sent}' is '{rulesets[sent]}'", "/data/game")


def _refuse_misspelt(sent: str, words: Collection[str], pointer: str) -> None:
    if sent in words or len(sent) > MAX_LENGTH:
        return
    for word in words:
        if _letters(word) == _letters(sent):
            listed = ", ".join(f"'{each}'" for each in words)
            raise ShapeError(f"'{sent}' is none of {listed}; did you mean '{word}'?", pointer)


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _edits(first: str, second: str) -> int:
    """Return how many letters must be changed, added or left out to make ``second`` of ``first`` (Levenshtein)."""
    row = list(range(len(second) + 1))
    for index, letter in enumerate(first, start=1):
        before, row[0] = row[0], index
        for column, other in enumerate(second, start=1):
            before, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, before + (letter != other))
    return row[-1]
