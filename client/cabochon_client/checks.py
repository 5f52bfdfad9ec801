"""``cabochon check``: can this machine send to the record, and if not, what is to be done. Nothing is recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cabochon_client.answers import advice, problem_in
from cabochon_client.link import Answer, KeyRing, Link, Unreachable
from cabochon_client.receipts import NotAReceipt, published_keys
from cabochon_client.sender import CLOCK_TOLERANCE_S

NO_STREAM = "cabochon-check"
"""A stream that nobody opens."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: whether it is well, what was found, and what to do if it is not."""

    is_ok: bool
    found: str
    to_do: str = ""
    is_needed: bool = True

    def __str__(self) -> str:
        mark = "ok" if self.is_ok else "NO" if self.is_needed else "--"
        return f"{mark}  {self.found}" + (f"\n    {self.to_do}" if self.to_do else "")


def check_all(link: Link, ring: KeyRing) -> Iterator[Check]:
    """Yield each check as it is done; the last is the one that makes others pointless."""
    try:
        answer = link.ask("GET", "/api/v1/log/key")
        _, keys = published_keys(answer.body)
    except Unreachable as error:
        yield Check(False, f"{link.url} cannot be reached: {error}", advice("unreachable"))
        return
    except NotAReceipt as error:
        yield Check(False, f"{link.url} answers, and is not Cabochon: {error}", advice("not-found"))
        return
    yield Check(True, f"{link.url} is a record of Cabochon; {len(keys)} public keys of its log")
    yield _clock(answer)
    if not any(key.purpose == "receipt" for key in keys):
        yield Check(False, "the record has no key to sign receipts with", "Tell the operator: manage.py logkey --make")
    given = ring.keys()
    if not given:
        yield Check(False, "no API key is set", "Give it in CABOCHON_KEY, or a file with --key-file.")
    for number, key in enumerate(given, start=1):
        yield from _key(link, key, f"key {number} ({key[:16]}…)")


def _clock(answer: Answer) -> Check:
    offset_s = answer.clock_offset_s
    if offset_s is None:
        return Check(True, "the record's clock is unknown: it told no date, or answered slowly")
    if abs(offset_s) > CLOCK_TOLERANCE_S + 0.5:
        side = "ahead of" if offset_s > 0 else "behind"
        found = f"this clock is {abs(offset_s):.0f} s {side} the record's"
        return Check(False, found, "Set it by NTP: whether a stake was late is judged by this clock.")
    return Check(True, f"this clock and the record's differ by less than {CLOCK_TOLERANCE_S:.0f} s")


def _key(link: Link, key: str, name: str) -> Iterator[Check]:
    try:
        # Of a type that is refused before anything is read: it shows whether the key may write, and writes nothing.
        path = f"/api/v1/streams/{NO_STREAM}/events"
        writes = link.ask("POST", path, key=key, body=b"check", content_type="text/plain")
        reads = link.ask("GET", f"/api/v1/streams/{NO_STREAM}", key=key)
    except Unreachable as error:
        yield Check(False, f"{name}: no answer: {error}", advice("unreachable"))
        return
    if writes.status == 401:
        yield Check(False, f"{name} is unknown, revoked or expired", advice("unauthenticated"))
    elif writes.status == 415:
        yield Check(True, f"{name} may record events")
        if reads.status == 404:
            yield Check(True, f"{name} may read streams and seals")
        else:
            to_do = "Receipts are then kept without knowing whether the log has sealed them; ask for streams:read."
            yield Check(False, f"{name} may not read streams", to_do, is_needed=False)
    elif writes.status == 403:
        yield Check(False, f"{name} may not record events", "Ask the operator for a key with the scope events:write.")
    else:
        problem = problem_in(writes)
        yield Check(False, f"{name}: {problem.get('detail')}", advice(str(problem["code"])))
