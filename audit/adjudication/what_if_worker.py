"""The worker process of a what-if run: it is spawned, so it sets up Django before it imports anything else of ours."""

from __future__ import annotations

import signal


def set_up() -> None:
    """Set up Django, and ignore SIGINT: at a terminal it is for the parent, which stops its workers."""
    import django

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    django.setup()


def replay_one(what_if_id: int, stream_id: int) -> int:
    """Replay a stream of a what-if run and return how many events were folded."""
    from audit.adjudication import what_if
    from audit.models import WhatIf

    folded: list[int] = []
    what_if.replay_one(WhatIf.objects.get(pk=what_if_id), stream_id, folded.append)
    return sum(folded)
