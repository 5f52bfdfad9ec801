"""The progress of a background job in words, for its page and for the script that keeps the page up to date."""

from __future__ import annotations

from django.utils import timezone
from django.utils.translation import gettext, ngettext

from audit.models import Job, JobKind, JobState
from audit.presentation import count, duration


def progress_text(job: Job) -> str:
    """Return what is done of a job and, while it runs, how fast it goes and how long it still takes."""
    if job.state == JobState.WAITING:
        return gettext("Waiting for a worker.")
    match job.kind:
        case JobKind.VERIFY:
            text = ngettext("%(done)s of %(total)s event", "%(done)s of %(total)s events", job.total)
        case JobKind.WHAT_IF:
            text = ngettext("%(done)s of %(total)s stream", "%(done)s of %(total)s streams", job.total)
        case _:
            text = ngettext("%(done)s of %(total)s row", "%(done)s of %(total)s rows", job.total)
    parts = [text % {"done": count(job.done), "total": count(job.total)}]
    if job.state == JobState.RUNNING and job.started_at is not None:
        elapsed_s = max((timezone.now() - job.started_at).total_seconds(), 0.001)
        rate = round(job.done / elapsed_s)
        if rate:
            left_s = max(0, job.total - job.done) * elapsed_s / job.done
            parts.append(gettext("%(rate)s per second") % {"rate": count(rate)})
            parts.append(gettext("about %(duration)s left") % {"duration": duration(left_s)})
        if job.stopped_by_id is not None:
            parts.append(gettext("stopping at the next step"))
    return " · ".join(parts)


def percentage(job: Job) -> str:
    """Return how much of a job is done, for a list; “—” as long as its size is not known."""
    return f"{100 * job.done // job.total} %" if job.total else "—"
