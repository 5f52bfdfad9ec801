"""What a process does that was spawned to replay: it knows nothing of Django until it has set it up."""

from __future__ import annotations

import signal


def set_up() -> None:
    """Make this process ready. The parent says when to stop, and a signal of the terminal is for the parent."""
    import django

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    django.setup()


def replay_one(beside_id: int, stream_id: int) -> int:
    """Replay a stream beside the standing adjudication and return how many events were folded."""
    from audit.adjudications import beside
    from audit.models import Beside

    folded: list[int] = []
    beside.replay_one(Beside.objects.get(pk=beside_id), stream_id, folded.append)
    return sum(folded)
