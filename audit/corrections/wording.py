"""What officers decided about a correction, in words: a finding says no more than that it has no effect so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.utils.translation import gettext as _

from audit.corrections.decisions import decisions_of, needs_officers, state_of
from audit.models import CorrectionDecision, CorrectionState, Finding
from audit.presentation import date_time, officer_name, sentence_end


def look_up_decided(findings: Iterable[Finding]) -> None:
    """Put what officers decided about the correction that a finding is about into its ``decided``, in words."""
    rows = list(findings)
    decisions = decisions_of(rows)
    for finding in rows:
        finding.decided = decided_in_words(finding, decisions.get((finding.stream_id, finding.seq), ()))


def decided_in_words(finding: Finding, decisions: Sequence[CorrectionDecision]) -> str:
    """Return what is decided about the correction that ``finding`` is about: a sentence; "" if that needs nobody."""
    if finding.superseded_at is not None or not needs_officers(finding, decisions):
        return ""
    officers = [officer_name(each.officer) for each in decisions]
    match state_of(decisions):
        case CorrectionState.REFUSED:
            at = date_time(decisions[-1].decided_at, finding.casino)
            return sentence_end(_("It was refused by %(officer)s, %(at)s") % {"officer": officers[-1], "at": at})
        case CorrectionState.APPROVED:
            at = date_time(decisions[-1].decided_at, finding.casino)
            both = {"one": officers[0], "other": officers[1], "at": at}
            return sentence_end(_("It was approved by %(one)s and %(other)s, %(at)s") % both)
        case _ if officers:
            return _("%(officer)s has countersigned it; it waits for another officer.") % {"officer": officers[0]}
        case _:
            return _("It waits for two officers.")
