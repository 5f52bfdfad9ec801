"""A check from its beginning to its end: is it a sandbox, play or watch, judge, write the report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cabochon_client.conformance.judge import OWN, Check, Judgement, judge
from cabochon_client.conformance.play import NotPlayed, Player
from cabochon_client.conformance.read_back import NotReadable, OwnKey, Reader
from cabochon_client.conformance.report import as_html, word_of
from cabochon_client.conformance.scripts import GAMES, SCRIPTS, Game, Script, steps_of
from cabochon_client.link import KeyRing, Link, Unreachable
from cabochon_client.receipts import published_keys

NEEDED = frozenset({"events:write", "streams:read", "findings:read"})
POLL_S = 1.0

Say = Callable[[str], object]


@dataclass(frozen=True)
class Order:
    """What is to be checked. ``streams`` are sessions that were played before; ``timeout_s`` is for one session."""

    scripts: Sequence[Script]
    game: Game
    table: str | None
    watch: bool
    streams: Sequence[str]
    report: Path
    timeout_s: float


def script_named(name: str) -> Script:
    """Return a script. Raise ``ValueError`` for a name that none has."""
    for script in SCRIPTS:
        if script.name == name:
            return script
    raise ValueError(f"there is no script '{name}': {', '.join(each.name for each in SCRIPTS)}")


def check(link: Link, ring: KeyRing, order: Order, say: Say) -> bool:
    """Run a check, and write its report. Return whether everything conforms.

    Raise ``NotReadable`` for a key that is not of a sandbox or may not do what is needed, ``Unreachable``, ``OSError``.
    """
    reader = Reader(link, ring)
    own = reader.own_key()
    if not own.is_sandbox and not order.streams:
        raise NotReadable(
            f"The key is of the casino '{own.casino}' and not of a sandbox: nothing is played there. Have the operator"
            " make one: createkey --sandbox --casino CODE --table T1."
        )
    if lacking := sorted(NEEDED - own.scopes):
        raise NotReadable(f"The key lacks {', '.join(lacking)}: have the operator make one with it (--scope).")
    judgements: list[Judgement] = []
    for judgement in _judgements(link, ring, reader, own, order, say):
        judgements.append(judgement)
        _print(judgement, say)
    who = "Played by the table system." if order.watch or order.streams else "Played by the runner itself."
    html = as_html(judgements, url=link.url, casino=own.casino, who=who, at=datetime.now().astimezone())
    order.report.write_text(html, encoding="utf-8")
    good = sum(each.is_ok for each in judgements)
    say(f"{good} of {len(judgements)} sessions conform. The report is {order.report}.")
    return good == len(judgements)


def _judgements(link: Link, ring: KeyRing, reader: Reader, own: OwnKey, order: Order, say: Say) -> Iterator[Judgement]:
    if order.streams:
        for stream in order.streams:
            yield judge(OWN, reader.read(stream, timeout_s=order.timeout_s), None, [])
    elif order.watch:
        seen = set(reader.streams())
        for script in order.scripts:
            yield _watched(reader, script, order, seen, say)
    else:
        player = _player(link, ring, own, order)
        for script in order.scripts:
            yield _played(player, reader, script, order)


def _player(link: Link, ring: KeyRing, own: OwnKey, order: Order) -> Player:
    if not own.tables:
        raise NotReadable("The key has no table: have the operator register one (createkey --sandbox … --table T1).")
    table = order.table or own.tables[0]
    _origin, published = published_keys(link.ask("GET", "/api/v1/log/key").body)
    return Player(link, ring.keys(), own, order.game, table, published)


def _played(player: Player, reader: Reader, script: Script, order: Order) -> Judgement:
    try:
        stream, sent = player.play(script)
    except NotPlayed as error:
        return Judgement(script, "", skipped=str(error))
    return _judged(reader, script, stream, sent, order)


def _judged(reader: Reader, script: Script, stream: str, sent: list[Check], order: Order) -> Judgement:
    try:
        return judge(script, reader.read(stream, timeout_s=order.timeout_s), order.game, sent)
    except (NotReadable, Unreachable) as error:
        unread = Check(False, f"What the record has cannot be read back: {error}")
        return Judgement(script, stream, [*sent, unread])


def _watched(reader: Reader, script: Script, order: Order, seen: set[str], say: Say) -> Judgement:
    """Wait until the table system has played a script: for the next session that is new and has its end."""
    say(f"\n{script.title} ({script.name})\n  {script.what_happens}\n  At a table of {order.game.name}:")
    for step in steps_of(order.game):
        say(f"    {step.what}")
    say(f"  Waiting for the next new session, for {order.timeout_s / 60:.0f} min.")
    deadline = time.monotonic() + order.timeout_s
    stream = ""
    while time.monotonic() < deadline:
        fresh = [name for name in reversed(reader.streams()) if name not in seen]
        stream = next((name for name in fresh if reader.is_closed(name)), "") or (fresh[0] if fresh else "")
        if stream and reader.is_closed(stream):
            break
        time.sleep(POLL_S)
    if not stream:
        return Judgement(script, "", skipped="no new session came in time")
    seen.add(stream)
    return _judged(reader, script, stream, [], order)


def _print(judgement: Judgement, say: Say) -> None:
    mark = "--" if judgement.skipped else "ok" if judgement.is_ok else "NO"
    say(f"{mark}  {judgement.script.title}: {judgement.skipped or word_of(judgement)}")
    for each in judgement.checks:
        if not each.is_ok:
            say(f"    {each.what}" + (f"\n        {each.to_do}" if each.to_do else ""))


def order_of(
    *,
    scripts: Iterable[str],
    game: str,
    table: str | None,
    watch: bool,
    streams: Sequence[str],
    report: Path,
    timeout_s: float,
) -> Order:
    """Return what a command line asks for. Raise ``ValueError``."""
    chosen = [script_named(name) for name in scripts] or list(SCRIPTS)
    return Order(chosen, GAMES[game], table, watch, streams, report, timeout_s)
