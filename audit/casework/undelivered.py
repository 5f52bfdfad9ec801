"""Messages about cases that no mail server takes: what Settings says beside the address."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef

from audit.models import EscalationNotice, VideoRequest
from audit.models.case_messages import Delivery
from audit.presentation import officer_name


@dataclass(frozen=True, slots=True)
class Undelivered:
    """The newest message to somebody that was not taken, and what the mail server said of it."""

    to: str
    since: datetime
    error: str
    is_given_up: bool


def undelivered(casino_ids: Iterable[int]) -> Mapping[int, list[Undelivered]]:
    """Return, by casino, whom messages about cases do not reach: the newest to each, unless a later one was taken."""
    casinos = list(casino_ids)
    found: defaultdict[int, list[Undelivered]] = defaultdict(list)
    later = VideoRequest.objects.filter(address=OuterRef("address"), pk__gt=OuterRef("pk"), sent_at__isnull=False)
    requests = VideoRequest.objects.filter(~Exists(later), sent_at=None, failures__gt=0, case__casino__in=casinos)
    last = ("case__casino_id", "address")
    for request in requests.order_by(*last, "-pk").distinct(*last).select_related("case"):
        found[request.case.casino_id].append(_of(request, request.address))
    later_notices = EscalationNotice.objects.filter(
        officer=OuterRef("officer"), pk__gt=OuterRef("pk"), sent_at__isnull=False
    )
    notices = EscalationNotice.objects.filter(
        ~Exists(later_notices), sent_at=None, failures__gt=0, escalation__case__casino__in=casinos
    )
    last = ("escalation__case__casino_id", "officer_id")
    for notice in notices.order_by(*last, "-pk").distinct(*last).select_related("escalation__case", "officer"):
        found[notice.escalation.case.casino_id].append(_of(notice, officer_name(notice.officer)))
    return found


def _of(delivery: Delivery, to: str) -> Undelivered:
    assert delivery.failing_since is not None, "it has failed"
    return Undelivered(to, delivery.failing_since, delivery.error, delivery.given_up_at is not None)
