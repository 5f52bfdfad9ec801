"""Browser push: the browsers that an officer lets notify him, and what each is to be sent."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from audit.calendar import CALENDAR
from audit.models.case_messages import Delivery
from audit.models.casinos import is_none_or_dated
from audit.models.officers import Officer


class PushKey(models.Model):
    """The key with which this installation signs what it sends to push services (VAPID, RFC 8292): one row.

    Both halves are base64url: the point of P-256, uncompressed, and the scalar. Only workers can read the latter.
    """

    public = models.CharField(max_length=87)
    private = models.CharField(max_length=43)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(pk=1), name="one_push_key"),
            models.CheckConstraint(condition=Q(created_at__range=CALENDAR), name="push_key_of_the_calendar"),
        ]

    def __str__(self) -> str:
        return self.public


class PushSubscription(models.Model):
    """A browser that an officer lets notify him. The row is deleted when that ends.

    ``endpoint`` is its address at the push service of its maker, ``public_key`` and ``auth`` are what a message to it
    is encrypted with (RFC 8291), in base64url. A web server hands ``auth`` in and cannot read it again.
    """

    officer = models.ForeignKey(Officer, on_delete=models.CASCADE, related_name="+")
    endpoint = models.CharField(max_length=500, unique=True)
    public_key = models.CharField(max_length=87)
    auth = models.CharField(max_length=22)
    language = models.CharField(max_length=2)
    browser = models.CharField(max_length=60)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["created_at", "pk"]
        constraints = [
            models.CheckConstraint(condition=Q(created_at__range=CALENDAR), name="push_subscription_of_the_calendar")
        ]

    def __str__(self) -> str:
        return self.browser


class PushKind(models.TextChoices):
    """What a notification is about: see ``audit.notifications.push_news``."""

    CRITICAL = "critical"
    MENTION = "mention"
    REOPENED = "reopened"
    EXCLUDED = "excluded"


class PushMessage(Delivery):
    """Something of which one browser is to be notified.

    ``about`` is the id of the case, of the entry of its history, of the report or of the sighting, by the kind.
    """

    subscription = models.ForeignKey(PushSubscription, on_delete=models.CASCADE, related_name="messages")
    kind = models.CharField(max_length=16, choices=PushKind)
    about = models.BigIntegerField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["subscription", "kind", "about"], name="one_push_of_a_thing"),
            models.CheckConstraint(condition=Q(kind__in=PushKind.values), name="push_kind_is_one"),
            models.CheckConstraint(
                condition=is_none_or_dated("sent_at", "failing_since", "next_try_at", "given_up_at"),
                name="push_of_the_calendar",
            ),
        ]
        indexes = [
            models.Index(
                fields=["subscription"], condition=Q(sent_at=None, given_up_at=None), name="push_messages_to_send"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.about} → {self.subscription_id}"
