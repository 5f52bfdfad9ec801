"""What the nights kept of a player's play, session by session: never read from the events again."""

from __future__ import annotations

from datetime import date

import msgspec
from django.db.models import F, Func, IntegerField, Value

from audit.models import Casino, StreamMoney
from settlement.persons.stream_money import OfPlayer, decode_player


def sessions_of(casino: Casino, player: str, first: date, until: date) -> list[tuple[int, OfPlayer]]:
    """Return what is kept of a player from ``first`` to before ``until``, by stream, the oldest first: one query."""
    # As the money is written, escapes included. The id may stand there for something else: the row is decoded, and
    # says whether it is the player's.
    holds = Func(
        Value(msgspec.json.encode(player)),
        F("money"),
        template="position(%(expressions)s)",
        arg_joiner=" in ",
        output_field=IntegerField(),
    )
    of_days = StreamMoney.objects.filter(
        stream__casino=casino, stream__gaming_day__gte=first, stream__gaming_day__lt=until, stream__is_of_desk=False
    )
    newest = of_days.order_by("stream_id", "-last_seq", "-pk").distinct("stream_id")
    rows = StreamMoney.objects.filter(pk__in=newest.values("pk")).annotate(held=holds).filter(held__gt=0)
    ordered = rows.order_by("stream__gaming_day", "stream_id").values_list("stream_id", "money").iterator()
    kept = ((stream_id, decode_player(bytes(encoded), player)) for stream_id, encoded in ordered)
    return [(stream_id, own) for stream_id, own in kept if own is not None]
