"""What the record keeps of a stream: what finished coups say, as the engine says it in one run."""

from __future__ import annotations

from collections.abc import Iterable
from unittest import mock

from settlement import Event, Finding, adjudicate, engine
from settlement.verdicts import UnderWay


def of_finished_coups(stream: Iterable[Event | bytes | str]) -> list[Finding]:
    """Return the findings of a stream without those of the coup under way, which only an answer in its midst has.

    No officer has approved a correction: those that came after money moved wait.
    """
    with (
        mock.patch.object(engine, "as_it_stands", return_value=UnderWay([], [], {})),
        mock.patch.object(engine, "as_opened", return_value=[]),
    ):
        return adjudicate(stream, readings={}, approved=[]).findings
