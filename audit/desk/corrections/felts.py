"""The felt without a correction and with it, side by side, at the event that decides.

    the states before the coup, of both readings ─► a playback of each ─► its frame at the deciding event, drawn

A wager that differs may be decided by the event that is corrected, as by a result, or by a later one, as where a stake
is corrected. A payment decides nothing: it is shown where it is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils.safestring import mark_safe

from audit.adjudication.both_readings import BothReadings
from audit.felt import drawing
from audit.felt.frames import Playback, Stake, playback_from, player_label
from audit.models import Finding
from audit.persons.directory import Directory
from audit.presentation import clock, language, money, wager_status
from settlement.catalogue import bet_word

WINDOW = 300
"""Most events between the one that is corrected and the one that decides: with those before it, less than a playback
has. What is decided later is shown where it is corrected."""

STAKES_SHOWN = 4
"""Stakes that differ, below each felt; the chips of all are marked, and the table of both readings has them."""


class BothFelts:
    """The playbacks of both readings, through the event that decides. ``seq`` is 0 where the two have no frame."""

    def __init__(self, finding: Finding, both: BothReadings) -> None:
        self._finding = finding
        seq = deciding_seq(both)
        self.without = playback_from(both.before_without, finding.stream_id, both.first, seq)
        self.with_it = playback_from(both.before_with, finding.stream_id, both.first, seq)
        frames = self.without.frames
        self.seq = frames[-1].event.seq if frames else 0
        self._disputed = [each.wager for each in both.wagers]

    def context(self, directory: Directory) -> dict[str, Any] | None:
        """Return what the page shows of both; None where there is nothing to draw: no frame, or no layout."""
        felts = {
            name: self._felt(playback, directory)
            for name, playback in (("without", self.without), ("with_it", self.with_it))
        }
        if not all(each["svg"] for each in felts.values()):
            return None
        at = self.without.frames[-1].event.occurred_at
        return {"seq": self.seq, "at": at, "clock": clock(at, self._finding.casino), **felts}

    def _felt(self, playback: Playback, directory: Directory) -> dict[str, Any]:
        last = len(playback.frames) - 1
        svg = drawing.draw(playback, last, language=language(), disputed=self._disputed, directory=directory)
        stakes = list(self._stakes(playback, directory)) if playback.frames else []
        others = sum(stake.wager.id not in self._disputed for stake in self._lying(playback))
        return {
            "svg": mark_safe(svg),
            "stakes": stakes[:STAKES_SHOWN],
            "more": max(0, len(stakes) - STAKES_SHOWN),
            "others": others,
        }

    def _lying(self, playback: Playback) -> Iterator[Stake]:
        if playback.frames:
            yield from drawing.stakes_at(playback, len(playback.frames) - 1)

    def _stakes(self, playback: Playback, directory: Directory) -> Iterator[dict[str, str]]:
        """Yield the stakes on the felt that differ, each with its player, its bet and how it stands there."""
        for stake in self._lying(playback):
            wager = stake.wager
            if wager.id not in self._disputed:
                continue
            due = wager.winnings_due + wager.stake_due
            on = "-".join(wager.pockets) or ", ".join(map(str, wager.which)) or str(stake.number or "")
            yield {
                "player": player_label(wager, directory),
                "bet": " ".join(filter(None, (bet_word(playback.ruleset, wager.bet), on))),
                "stake": money(wager.stake, playback.currency),
                "status": wager_status(wager.status, playback.currency),
                "due": money(due, playback.currency) if due else "",
            }


def deciding_seq(both: BothReadings) -> int:
    """Return the first event from the corrected one on that decides a wager that differs; else the corrected one."""
    decided = [
        side.decided_by
        for each in both.wagers
        for side in (each.without, each.with_it)
        if side is not None and side.decided_by is not None and 0 <= side.decided_by - both.target <= WINDOW
    ]
    return min(decided, default=both.target)
