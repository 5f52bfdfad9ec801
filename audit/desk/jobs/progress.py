"""The progress of a background job in words, for its page and for the script that keeps the page up to date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext

from audit.jobs.kinds import phases_of
from audit.models import Job, JobKind, JobState
from audit.presentation import count, duration
from audit.transparency.outcome import Phase

PHASE_LABELS = {
    Phase.EVENTS: gettext_lazy("Events, batches, chains"),
    Phase.DECISIONS: gettext_lazy("Decisions"),
    Phase.SIGNATURES: gettext_lazy("Signatures of the log"),
    Phase.TREE: gettext_lazy("Tree"),
    Phase.TABLES: gettext_lazy("Tables from the log"),
}


@dataclass(frozen=True, slots=True)
class PhaseLine:
    """A phase of a verification that runs: what it has counted so far, "" where it counts nothing.

    ``done`` of ``total`` is known of the events alone; else the total is 0.
    """

    label: str
    state: Literal["done", "now", "next"]
    text: str
    done: int = 0
    total: int = 0


def phase_of(job: Job) -> Phase:
    """Return what a job is at. A verification that has reported nothing yet is at its events, as any other job."""
    name = job.result.get("so_far", {}).get("phase", "")
    return Phase(name) if name in list(Phase) else Phase.EVENTS


def phases(job: Job) -> list[PhaseLine]:
    """Return the phases of a verification that runs, in their order; none of any other job."""
    if job.kind != JobKind.VERIFY or job.state != JobState.RUNNING:
        return []
    so_far, listed = job.result.get("so_far", {}), phases_of(job)
    at = listed.index(phase_of(job)) if phase_of(job) in listed else 0
    lines = []
    for number, phase in enumerate(listed):
        state: Literal["done", "now", "next"] = "done" if number < at else "now" if number == at else "next"
        text = gettext("not yet") if state == "next" else _counted(phase, job, so_far)
        known = (job.done, job.total) if phase == Phase.EVENTS else (0, 0)
        lines.append(PhaseLine(str(PHASE_LABELS[phase]), state, text, *known))
    return lines


def _counted(phase: Phase, job: Job, so_far: Mapping[str, int]) -> str:
    match phase:
        case Phase.EVENTS:
            number, text = job.done, ngettext("%(number)s event", "%(number)s events", job.done)
        case Phase.SIGNATURES:
            number = so_far.get("checkpoints", 0)
            text = ngettext("%(number)s checkpoint", "%(number)s checkpoints", number)
        case Phase.TREE:
            number = so_far.get("leaves", 0)
            text = ngettext("%(number)s leaf", "%(number)s leaves", number)
        case _:
            return ""
    return text % {"number": count(number)}


def progress_text(job: Job) -> str:
    """Return what is done of a job and, while it runs, how fast it goes and how long it still takes."""
    if job.state == JobState.WAITING:
        return gettext("Waiting for a worker process.")
    match job.kind:
        case JobKind.VERIFY:
            text = ngettext("%(done)s of %(total)s event", "%(done)s of %(total)s events", job.total)
        case JobKind.WHAT_IF:
            text = ngettext("%(done)s of %(total)s stream", "%(done)s of %(total)s streams", job.total)
        case _:
            text = ngettext("%(done)s of %(total)s row", "%(done)s of %(total)s rows", job.total)
    parts = [text % {"done": count(job.done), "total": count(job.total)}]
    if job.state == JobState.RUNNING and job.started_at is not None and phase_of(job) == Phase.EVENTS:
        elapsed_s = max((timezone.now() - job.started_at).total_seconds(), 0.001)
        rate = round(job.done / elapsed_s)
        if rate:
            left_s = max(0, job.total - job.done) * elapsed_s / job.done
            parts.append(gettext("%(rate)s per second") % {"rate": count(rate)})
            parts.append(gettext("about %(duration)s left") % {"duration": duration(left_s)})
    if job.state == JobState.RUNNING and job.stopped_by_id is not None:
        parts.append(gettext("stopping at the next step"))
    return " · ".join(parts)


def percentage(job: Job) -> str:
    """Return how much of a job is done, for a list; "" as long as its size is not known."""
    return f"{100 * job.done // job.total} %" if job.total else ""
