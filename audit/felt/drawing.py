"""The SVG drawing of a playback: the layout in one frame, and every chip that is on the table in any frame."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from audit.felt import geometry, shapes
from audit.felt.frames import Playback, Stake, player_label, player_of, players_in
from audit.felt.geometry import Spot
from audit.felt.layouts import felt_of
from audit.persons.directory import NO_NAMES, Directory
from settlement.catalogue import bet_word
from settlement.catalogue.sentences import amount, exponent
from settlement.state import Wager

STYLES = Path(__file__).resolve().parent.parent / "static" / "audit" / "felt.css"


@dataclass(frozen=True, slots=True)
class Chip:
    """A stake at one spot, with what is left of it. A wager that travels, or of which something is taken back, has a
    chip for each spot and amount; ``key`` identifies the chip."""

    key: str
    wager: Wager
    spot: Spot


@dataclass(frozen=True, slots=True)
class Chips:
    """The chips of a playback, by wager, spot and what is left, and which of them each stake of its frames is.

    A stake that does not change is the same object in frame after frame: ``of_stakes`` goes by its ``id``.
    """

    at: dict[tuple[str, Spot, int], Chip]
    of_stakes: dict[int, Chip]


def chips_of(playback: Playback) -> Chips:
    """Return the chips of a playback. Several chips at one spot are fanned out."""
    felt = felt_of(playback.ruleset)
    chips = Chips({}, {})
    last_at: dict[Spot, int] = {}
    places: dict[tuple[str, Spot], Spot] = {}
    for frame in playback.frames if felt is not None else ():
        for stake in frame.stakes.values():
            if id(stake) in chips.of_stakes or stake.state == "off":
                continue
            spot = felt.spot(stake) if felt is not None else None
            if spot is None:
                continue
            wager = stake.wager
            if (wager.id, spot, wager.standing) not in chips.at:
                if (wager.id, spot) not in places:
                    index = last_at[spot] = last_at.get(spot, -1) + 1
                    places[wager.id, spot] = _fanned_out(spot, index)
                chip = Chip(f"c{len(chips.at)}", wager, places[wager.id, spot])
                chips.at[wager.id, spot, wager.standing] = chip
            chips.of_stakes[id(stake)] = chips.at[wager.id, spot, wager.standing]
    return chips


def _fanned_out(spot: Spot, index: int) -> Spot:
    """Return where the chip of that index (from 0) at a spot is drawn, so that every chip is visible."""
    ring, step = divmod(index, 5)
    return spot[0] + (0, 13, -13, 7, -7)[step], spot[1] + (0, 3, 3, -9, -9)[step] - ring * 5


def states_at(playback: Playback, chips: Chips, index: int) -> dict[str, str]:
    """Return the state of each chip that is on the table in the frame of that index, by the chip's key."""
    stakes = playback.frames[index].stakes.values()
    return {chips.of_stakes[id(stake)].key: stake.state for stake in stakes if id(stake) in chips.of_stakes}


def draw(
    playback: Playback,
    index: int,
    *,
    language: str,
    disputed: Collection[str] = (),
    directory: Directory = NO_NAMES,
    chips: Chips | None = None,
) -> str:
    """Return the SVG of the frame of that index, "" if there is no frame or no layout for the ruleset.

    ``disputed`` are the ids of wagers whose chips are marked; ``chips`` are those of the playback, if known.
    """
    felt = felt_of(playback.ruleset)
    if not playback.frames or felt is None:
        return ""
    frame = playback.frames[index]
    chips = chips_of(playback) if chips is None else chips
    states = states_at(playback, chips, index)
    colours = players_in(playback.frames)
    drawn = [
        shapes.chip(
            chip.spot,
            chip.key,
            colour=colours[player_of(chip.wager)],
            amount=_short(chip.wager.standing, playback.currency),
            title=_title(chip.wager, playback, language, directory),
            state=states.get(chip.key, "off"),
            disputed=chip.wager.id in disputed,
        )
        for chip in chips.at.values()
    ]
    table = felt.layout(frame, language)
    title = felt.title.in_language("fr" if language == "fr" else "en")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {geometry.WIDTH} {felt.height}"'
        f' class="felt {playback.ruleset}" role="img" aria-label="{title}">'
        f'{table}<g class="chips">{"".join(drawn)}</g></svg>'
    )


def standalone(svg: str) -> str:
    """Return a drawing with its style sheet embedded, for print and for files."""
    begin, end = svg.split(">", 1)
    return f"{begin}><style>{STYLES.read_text()}</style>{end}"


def _short(minor: int, currency: str) -> str:
    """Format an amount so that it fits on a chip: 50, 2.5k, 40k."""
    whole, rest = divmod(minor, 10 ** exponent(currency))
    if whole >= 1_000_000:
        return f"{whole / 1_000_000:.3g}M"
    if whole >= 1_000:
        return f"{whole / 1_000:.3g}k"
    return f"{whole}" if not rest or whole >= 100 else f"{minor / 10 ** exponent(currency):.3g}"


def _title(wager: Wager, playback: Playback, language: str, directory: Directory) -> str:
    numbers = "-".join(wager.pockets) or (str(wager.number) if wager.number else "")
    standing = amount(wager.standing, playback.currency, "fr" if language == "fr" else "en")
    parts = [player_label(wager, directory), bet_word(playback.ruleset, wager.bet), numbers, standing]
    return " · ".join(filter(None, parts))


def stakes_at(playback: Playback, index: int) -> Iterator[Stake]:
    """Yield the stakes on the table in the frame of that index, in the order in which they were placed."""
    on_table = (stake for stake in playback.frames[index].stakes.values() if stake.state != "off")
    yield from sorted(on_table, key=lambda stake: stake.wager.placed_by)
