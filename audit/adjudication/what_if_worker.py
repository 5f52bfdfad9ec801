"""What a process does that was spawned to replay: it knows nothing of Django until it has set it up."""

from __future__ import annotations

import signal


def set_up() -> None:
    """Make this process ready. The parent says when to stop, and a signal of the terminal is for the parent."""
    import django

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    django.setup()


def replay_one(what_if_id: int, stream_id: int) -> int:
    """Replay a stream beside the standing adjudication and return how many events were folded."""
    from audit.adjudication import what_if
    from audit.models import WhatIf

    folded: list[int] = []
    what_if.replay_one(WhatIf.objects.get(pk=what_if_id), stream_id, folded.append)
    return sum(folded)
