"""One stream of events, as the contract describes them."""

from __future__ import annotations

from typing import Any


class Tape:
    """Events of one stream; ``now`` is the table's clock in milliseconds after midnight of the gaming day."""

    def __init__(self, stream: str, day: str, next_day: str, now: int) -> None:
        self.stream, self.now = stream, now
        self.days = (day, next_day)
        self.events: list[dict[str, Any]] = []

    def add(self, kind: str, *, actor: str | None = None, after: int = 0, **data: Any) -> int:
        """Append an event ``after`` so many milliseconds, return its ``seq``; fields without a value are left out."""
        self.now += after
        minutes, rest = divmod(self.now, 60_000)
        day, minutes = divmod(minutes, 1440)
        event: dict[str, Any] = {
            "stream": self.stream,
            "seq": len(self.events) + 1,
            "type": kind,
            "v": 1,
            "occurred_at": f"{self.days[day]}T{minutes // 60:02}:{minutes % 60:02}:{rest / 1000:06.3f}+01:00",
            "data": {name: value for name, value in data.items() if value is not None},
        }
        if actor:
            event["actor"] = actor
        self.events.append(event)
        return len(self.events)
