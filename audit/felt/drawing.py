"""The drawing of a stretch of a table: its layout at one instant, and every chip that lies on it at any."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation import gettext as _

from audit.felt import craps, marks, places, roulette
from audit.felt.moments import Replay, Stake, player_of, players_in
from audit.felt.places import Spot
from settlement.catalogue import BET_WORDS
from settlement.catalogue.sentences import amount, exponent
from settlement.layouts import LAYOUT_37, LAYOUT_38
from settlement.state import Wager

STYLES = Path(__file__).resolve().parent.parent / "static" / "audit" / "felt.css"


@dataclass(frozen=True, slots=True)
class Chip:
    """A stake at one place. One that travels has a chip at each place it lies at; ``key`` names it."""

    key: str
    wager: Wager
    spot: Spot


def chips_of(replay: Replay) -> dict[tuple[str, Spot], Chip]:
    """Return the chips of a stretch by wager and place. Where several lie at one place they are set side by side."""
    chips: dict[tuple[str, Spot], Chip] = {}
    lying: dict[Spot, int] = {}
    for moment in replay.moments:
        for stake in moment.stakes.values():
            spot = spot_of(replay, stake)
            if spot is None or stake.state == "off" or (stake.wager.id, spot) in chips:
                continue
            place = lying[spot] = lying.get(spot, -1) + 1
            chips[stake.wager.id, spot] = Chip(f"c{len(chips)}", stake.wager, _aside(spot, place))
    return chips


def _aside(spot: Spot, place: int) -> Spot:
    """Return where the ``place``-th chip of a spot lies: fanned out, so that every one is seen."""
    ring, step = divmod(place, 5)
    return spot[0] + (0, 13, -13, 7, -7)[step], spot[1] + (0, 3, 3, -9, -9)[step] - ring * 5


def spot_of(replay: Replay, stake: Stake) -> Spot | None:
    """Return where a stake lies, None where its bet is none of the game's."""
    match replay.ruleset:
        case "fr-roulette" | "fr-american-roulette":
            return places.roulette_spot(stake.wager, has_double_zero=replay.ruleset == "fr-american-roulette")
        case "qc-craps":
            return places.quebec_spot(stake.wager, stake.number)
        case "fr-craps":
            return places.craps_spot(stake.wager, stake.number)
    return None


def states_at(replay: Replay, chips: dict[tuple[str, Spot], Chip], place: int) -> dict[str, str]:
    """Return the state of each chip that lies on the table at a moment, by its key."""
    states: dict[str, str] = {}
    for stake in replay.moments[place].stakes.values():
        chip = chips.get((stake.wager.id, spot_of(replay, stake) or (0.0, 0.0)))
        if chip is not None and stake.state != "off":
            states[chip.key] = stake.state
    return states


def draw(replay: Replay, place: int, *, language: str, disputed: Collection[str] = ()) -> str:
    """Return the SVG of a moment of a stretch, "" where it is no table's. ``disputed`` are wagers to be marked."""
    if not replay.moments or replay.ruleset not in _HEIGHTS:
        return ""
    moment = replay.moments[place]
    chips = chips_of(replay)
    states = states_at(replay, chips, place)
    colours = players_in(replay.moments)
    drawn = [
        marks.chip(
            chip.spot,
            chip.key,
            colour=colours[player_of(chip.wager)],
            amount=_short(chip.wager.standing, replay.currency),
            title=_title(chip.wager, replay.currency, language),
            state=states.get(chip.key, "off"),
            disputed=chip.wager.id in disputed,
        )
        for chip in chips.values()
    ]
    match replay.ruleset:
        case "fr-roulette":
            table, title = roulette.layout(LAYOUT_37, moment.pocket), _("French roulette layout")
        case "fr-american-roulette":
            table, title = roulette.layout(LAYOUT_38, moment.pocket), _("American roulette layout")
        case "fr-craps":
            table = craps.layout(moment.point, moment.faces, dice_title=_("Dice of the last throw"))
            title = _("Craps layout")
        case _:
            table = craps.quebec(moment.point, moment.faces, dice_title=_("Dice of the last throw"))
            title = _("Place bets of Québec")
    height = _HEIGHTS[replay.ruleset]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {places.WIDTH} {height}" class="felt {replay.ruleset}"'
        f' role="img" aria-label="{title}">{table}<g class="chips">{"".join(drawn)}</g></svg>'
    )


_HEIGHTS = {
    "fr-roulette": places.ROULETTE_HEIGHT,
    "fr-american-roulette": places.ROULETTE_HEIGHT,
    "fr-craps": places.CRAPS_HEIGHT,
    "qc-craps": places.QUEBEC_HEIGHT,
}


def standalone(svg: str) -> str:
    """Return a drawing with its styles in it, for print and for files."""
    begin, end = svg.split(">", 1)
    return f"{begin}><style>{STYLES.read_text()}</style>{end}"


def _short(minor: int, currency: str) -> str:
    """Write an amount as it fits on a chip: 50, 2.5k, 40k."""
    whole, rest = divmod(minor, 10 ** exponent(currency))
    if whole >= 1_000_000:
        return f"{whole / 1_000_000:.3g}M"
    if whole >= 1_000:
        return f"{whole / 1_000:.3g}k"
    return f"{whole}" if not rest or whole >= 100 else f"{minor / 10 ** exponent(currency):.3g}"


def _title(wager: Wager, currency: str, language: str) -> str:
    tongue = "fr" if language == "fr" else "en"
    who = player_of(wager)
    place = "-".join(wager.pockets) or (str(wager.number) if wager.number else "")
    words = [who, BET_WORDS.get(wager.bet, wager.bet), place, amount(wager.standing, currency, tongue)]
    return " · ".join(word for word in words if word)


def stakes_at(replay: Replay, place: int) -> Iterator[Stake]:
    """Yield the stakes on the table at a moment, as they were placed."""
    found = (stake for stake in replay.moments[place].stakes.values() if stake.state != "off")
    yield from sorted(found, key=lambda stake: stake.wager.placed_by)
