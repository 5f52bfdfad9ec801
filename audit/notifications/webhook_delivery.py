"""Sending a casino's changes to its webhooks: in order, at least once, signed (Standard Webhooks).

    lease ─► next changes ─► POST ─► 2xx: the position moves on ─► … ─► nothing left: the lease ends
                              └─ anything else: again at once a few times, then after growing pauses,
                                 then, a day after the first failure, the old ones become dead letters

A worker holds a webhook by a lease, not by a lock: no transaction is open while a receiver is slow. A worker that dies
lets the lease run out, and another one sends the last message again, under the same ``webhook-id``. A slow or broken
receiver holds up nobody but itself: after its first failure it waits its pause in the table and not in a thread.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
import structlog
from django.db import connection, transaction
from django.db.models import Exists, F, Min, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from audit import task_queue
from audit.event_store import audit_trail
from audit.event_store.streams import instant
from audit.models import DeadLetter, FindingChange, Webhook, WebhookSecret
from audit.notifications import feed
from audit.notifications.webhook_http import AddressRefused, NotTaken, Sender

LEASE = timedelta(seconds=60)
"""How long a webhook is left to a worker that has said nothing: longer than a name lookup and an exchange."""

RUN_S = 15.0
"""Seconds after which a worker gives a webhook back, so that others have their turn."""

AT_ONCE = 50
"""Changes that are read at once."""

QUICK_TRIES = 20
QUICK_PAUSE_S = 0.03
QUICK_S = 1.0
"""A receiver that fails within ``QUICK_S`` is tried again ``QUICK_TRIES`` times, some ``QUICK_PAUSE_S`` apart."""

FIRST_PAUSE = timedelta(seconds=2)
LONGEST_PAUSE = timedelta(hours=1)

GIVEN_UP_AFTER = timedelta(hours=24)
"""How long a receiver fails until changes as old as that become dead letters."""

MAX_BODY = 256 * 1024
"""Bytes of a message; of a longer one, the finding is its identity alone."""

MAX_ERROR = 300
FAILING_AT_ONCE = 4
"""Failing webhooks that one sweep has tried: they may hang, and must not hold every thread."""

IDENTITY = ("id", "reference", "stream", "table", "gaming_day", "rule", "severity", "seq", "wager", "status")

log = structlog.get_logger(__name__)
_encode = msgspec.json.encode


class GaveUp(Exception):
    """A webhook is not tried any more in this run: it waits, or is inactive."""


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a message (Standard Webhooks 1.0, section on symmetric signatures)."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    return f"v1,{base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()}"


def headers_of(secrets: Sequence[str], message_id: str, timestamp: int, body: bytes) -> Mapping[str, str]:
    """Return the headers of a message, with a signature of each secret that is valid."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "Cabochon-Webhooks/1",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signature(secret, message_id, timestamp, body) for secret in secrets),
    }


def body_of(document: Mapping[str, Any]) -> bytes:
    """Return the body of a message about a change, as ``feed.documents`` has it."""
    finding = document["finding"]
    data = {name: document[name] for name in ("cursor", "casino", "sandbox", "finding") if name in document}
    message = {"type": document["type"], "timestamp": document["at"], "data": data}
    body = _encode(message)
    if len(body) > MAX_BODY:
        short = {name: finding[name] for name in IDENTITY if name in finding}
        body = _encode({**message, "data": {**data, "finding": {**short, "is_shortened": True}}})
    return body


def valid_secrets(webhook: Webhook, now: datetime) -> list[str]:
    """Return the secrets that a message is signed with, the newest first."""
    valid = WebhookSecret.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now), webhook=webhook)
    return list(valid.order_by("-created_at", "-pk").values_list("secret", flat=True))


def due(now: datetime) -> list[int]:
    """Number what is committed, and return the webhooks that have something to send: first those that do not fail."""
    with connection.cursor() as cursor:
        cursor.execute("select distinct casino_id from audit_findingchange where position is null")
        for (casino_id,) in cursor.fetchall():
            feed.number(casino_id)
    # The newest by the index, not by an aggregate, which would read every change of the casino.
    newest = FindingChange.objects.filter(casino=OuterRef("casino"), position__isnull=False).order_by("-position")
    behind = _free(now).annotate(newest=Subquery(newest.values("position")[:1]))
    again = DeadLetter.objects.filter(webhook=OuterRef("pk"), again_at__isnull=False, sent_at=None)
    waiting = behind.filter(Q(newest__gt=F("position")) | Exists(again))
    healthy = waiting.filter(failures=0).order_by("pk").values_list("pk", flat=True)
    failing = waiting.filter(failures__gt=0).order_by(F("next_try_at").asc(nulls_first=True), "pk")
    return [*healthy, *failing.values_list("pk", flat=True)[:FAILING_AT_ONCE]]


def active(casino_id: int) -> list[int]:
    """Return the active webhooks of a casino."""
    return list(Webhook.objects.filter(casino=casino_id, is_active=True).order_by("pk").values_list("pk", flat=True))


def _free(now: datetime) -> QuerySet[Webhook]:
    """Return the active webhooks that nobody holds and that do not wait."""
    is_free, may_try = Q(leased_until=None) | Q(leased_until__lt=now), Q(next_try_at=None) | Q(next_try_at__lte=now)
    return Webhook.objects.filter(is_free, may_try, is_active=True)


def deliver(webhook_id: int) -> int:
    """Send a webhook what it has not been sent. Return how many messages it took. Idempotent: a hint is enough."""
    ends_at, taken = time.monotonic() + RUN_S, 0
    while True:
        now = timezone.now()
        lease = now + LEASE
        if not _free(now).filter(pk=webhook_id).update(leased_until=lease):
            return taken
        webhook = Webhook.objects.select_related("casino").get(pk=webhook_id)
        run = _Run(webhook, lease, ends_at)
        try:
            run.send_dead_letters()
            run.send_changes()
        except GaveUp:
            return taken + run.taken
        finally:
            run.close()
        taken += run.taken
        if time.monotonic() > ends_at:
            task_queue.send_soon(task_queue.NOTIFY_WEBHOOK, webhook_id=webhook_id)
            return taken
        # What was committed while this still held the lease had its hint refused.
        if feed.number(webhook.casino_id) <= run.webhook.position:
            return taken


@dataclass(slots=True)
class _Run:
    """One worker's turn with a webhook that it has leased."""

    webhook: Webhook
    lease: datetime
    ends_at: float
    taken: int = 0
    _sender: Sender | None = None

    def close(self) -> None:
        """Drop the connection and the lease."""
        if self._sender is not None:
            self._sender.close()
        self._held().update(leased_until=None)

    def _held(self) -> QuerySet[Webhook]:
        """Return the webhook as long as this run holds it: a worker that stood still for longer writes nothing."""
        return Webhook.objects.filter(pk=self.webhook.pk, leased_until=self.lease)

    def send_changes(self) -> None:
        """Send changes in their order until there is none, or the time is up. Raise ``GaveUp``."""
        webhook = self.webhook
        while time.monotonic() < self.ends_at:
            newest = feed.number(webhook.casino_id)
            found = feed.changes(webhook.casino_id, webhook.position, limit=AT_ONCE, through=newest)
            if not found:
                return
            state = Webhook.objects.filter(pk=webhook.pk, is_active=True).values_list("url", "severities").first()
            if state is None:
                raise GaveUp
            if state[0] != webhook.url and self._sender is not None:
                self._sender.close()
                self._sender = None
            webhook.url, webhook.severities = state
            secrets = valid_secrets(webhook, timezone.now())
            for change, document in zip(found, feed.documents(found), strict=True):
                if change.finding.severity in webhook.severities:
                    self._insist(change, document, secrets)
                    self.taken += 1
                self._move_on(change.position or 0)
                if time.monotonic() > self.ends_at:
                    return

    def _insist(self, change: FindingChange, document: Mapping[str, Any], secrets: Sequence[str]) -> None:
        """Send a change until it is taken. Raise ``GaveUp`` once it has to wait."""
        while True:
            began = time.monotonic()
            try:
                self._post(message_id_of(document), body_of(document), secrets)
            except (NotTaken, AddressRefused) as error:
                webhook = self.webhook
                webhook.failures += 1
                webhook.failing_since = webhook.failing_since or timezone.now()
                webhook.error = str(error)[:MAX_ERROR]
                is_quick = time.monotonic() - began < QUICK_S and isinstance(error, NotTaken) and not error.gone
                if not is_quick or webhook.failures > QUICK_TRIES:
                    self._wait(is_gone=isinstance(error, NotTaken) and error.gone)
                    raise GaveUp from error
                time.sleep(QUICK_PAUSE_S * random.uniform(0.5, 1.5))
            else:
                return

    def _post(self, message_id: str, body: bytes, secrets: Sequence[str]) -> None:
        if self._sender is None:
            self._sender = Sender(self.webhook.url)
        self._sender.post(body, headers_of(secrets, message_id, int(time.time()), body))

    def _move_on(self, position: int) -> None:
        """Keep that everything up to a position was sent, and go on holding the webhook."""
        webhook, now = self.webhook, timezone.now()
        webhook.position, webhook.failures, webhook.failing_since, webhook.error = position, 0, None, ""
        moved = self._held().update(
            position=position,
            delivered_at=now,
            leased_until=now + LEASE,
            failures=0,
            failing_since=None,
            next_try_at=None,
            error="",
        )
        self.lease = now + LEASE
        if not moved:
            raise GaveUp

    def _wait(self, *, is_gone: bool) -> None:
        """Keep a failure, and when it is tried again; make dead letters of what is too old."""
        webhook, now = self.webhook, timezone.now()
        with transaction.atomic():
            paused = self._held().update(
                failures=webhook.failures,
                failing_since=webhook.failing_since,
                error=webhook.error,
                next_try_at=now + pause_after(webhook.failures),
            )
            if not paused:
                return
            if is_gone:
                Webhook.objects.filter(pk=webhook.pk).update(is_active=False)
                data = {"id": webhook.pk, "named": webhook.name, "error": webhook.error}
                audit_trail.record("system", "webhook.deactivated", casino_id=webhook.casino_id, data=data)
            given_up = self._give_up(now)
        log.warning("webhook failed", webhook=webhook.pk, failures=webhook.failures, given_up=given_up)

    def _give_up(self, now: datetime) -> int:
        """Make dead letters of the changes that a receiver has refused for too long; return how many."""
        webhook = self.webhook
        too_old = now - GIVEN_UP_AFTER
        if webhook.failing_since is None or webhook.failing_since > too_old:
            return 0
        of_casino = FindingChange.objects.filter(casino=webhook.casino_id, position__gt=webhook.position)
        first_kept = of_casino.filter(at__gt=too_old).aggregate(first=Min("position"))["first"]
        old = of_casino.filter(at__lte=too_old)
        if first_kept is not None:
            old = old.filter(position__lt=first_kept)
        found = list(old.select_related("finding").order_by("position"))
        if not found:
            return 0
        letters = [
            DeadLetter(webhook=webhook, change=change, error=webhook.error, given_up_at=now)
            for change in found
            if change.finding.severity in webhook.severities
        ]
        DeadLetter.objects.bulk_create(letters, ignore_conflicts=True, batch_size=1_000)
        Webhook.objects.filter(pk=webhook.pk).update(position=found[-1].position)
        return len(letters)

    def send_dead_letters(self) -> None:
        """Send the dead letters that an officer wants sent again, each once."""
        wanted = DeadLetter.objects.filter(webhook=self.webhook, again_at__isnull=False, sent_at=None)
        for letter in wanted.select_related("change").order_by("change__position")[:AT_ONCE]:
            change = letter.change
            position = change.position or 0
            [document] = feed.documents(feed.changes(change.casino_id, position - 1, limit=1, through=position))
            secrets = valid_secrets(self.webhook, timezone.now())
            try:
                self._post(message_id_of(document), body_of(document), secrets)
            except (NotTaken, AddressRefused) as error:
                DeadLetter.objects.filter(pk=letter.pk).update(again_at=None, error=str(error)[:MAX_ERROR])
            else:
                DeadLetter.objects.filter(pk=letter.pk).update(again_at=None, sent_at=timezone.now(), error="")
                self.taken += 1


def message_id_of(document: Mapping[str, Any]) -> str:
    """Return the id of the message about a change: the same for every webhook, and each time that it is sent."""
    return f"msg_{document['casino']}_{document['cursor']}".replace(".", "_")


def pause_after(failures: int) -> timedelta:
    """Return how long a webhook waits after that many failures: doubled each time, and by chance half more or less."""
    doubled = FIRST_PAUSE * (1 << min(max(failures - QUICK_TRIES - 1, 0), 16))
    return min(LONGEST_PAUSE, doubled) * random.uniform(0.5, 1.5)


def test(webhook_id: int) -> None:
    """Send a test message to a webhook, if one was requested, and keep what came of it."""
    webhook = Webhook.objects.select_related("casino").filter(pk=webhook_id, test_requested_at__isnull=False).first()
    if webhook is None or not Webhook.objects.filter(pk=webhook_id, test_requested_at=webhook.test_requested_at).update(
        test_requested_at=None
    ):
        return
    now = timezone.now()
    data = {"casino": webhook.casino.code, **({"sandbox": True} if webhook.casino.is_sandbox else {})}
    message = {"type": "webhook.test", "timestamp": instant(now), "data": data}
    body, message_id = _encode(message), f"msg_test_{webhook.pk}_{int(now.timestamp() * 1000)}"
    sender: Sender | None = None
    try:
        sender = Sender(webhook.url)
        headers = headers_of(valid_secrets(webhook, now), message_id, int(now.timestamp()), body)
        result = f"HTTP {sender.post(body, headers)}"
    except (NotTaken, AddressRefused) as error:
        result = str(error)[:MAX_ERROR]
    finally:
        if sender is not None:
            sender.close()
    Webhook.objects.filter(pk=webhook_id).update(tested_at=timezone.now(), test_result=result)
