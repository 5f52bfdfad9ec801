"""Reading findings and the catalogue of rules."""

from __future__ import annotations

from typing import Any

from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import GenericAPIView, ListAPIView, RetrieveAPIView
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response

from audit.access.scope import Scope
from audit.adjudication.incidents import look_up_consequences
from audit.api.keyed_view import KeyedView, key_of
from audit.casework.priority import with_priority
from audit.casework.urgency import priority_of
from audit.corrections.decisions import decisions_of, needs_officers, state_of
from audit.corrections.superseding import look_up_corrections
from audit.models import (
    CorrectionDecision,
    CorrectionState,
    Finding,
    FindingStatus,
    KeyScope,
    RunCause,
    Verdict,
)
from audit.models.adjudication import Severity
from audit.presentation import REFERENCE, reference, referred_to
from settlement.catalogue import RULES
from settlement.provisions import PROVISIONS


class RemovedBySerializer(serializers.Serializer[Any]):
    """A correction that took a finding away."""

    seq = serializers.IntegerField()
    type = serializers.CharField(help_text="The type of the event that corrects, annuls or voids.")


class SupersededBySerializer(serializers.Serializer[Finding]):
    """The run that superseded a finding: its number in the stream, why it began, and the corrections that took the
    finding away or the version of the house register that began it."""

    run = serializers.IntegerField(source="number")
    cause = serializers.ChoiceField(choices=RunCause.choices)
    engine_version = serializers.CharField()
    correction = serializers.IntegerField(
        allow_null=True, help_text="The seq of the first correction that took it away, null for another cause."
    )
    corrections = RemovedBySerializer(
        many=True, help_text="The corrections that took it away, in order; none for another cause."
    )
    register = serializers.IntegerField(
        allow_null=True, help_text="The version of the house register, null for another cause."
    )
    approved = serializers.ListField(
        child=serializers.IntegerField(),
        allow_null=True,
        help_text="Those of them that two officers had approved, by seq; null if none.",
    )
    began_at = serializers.DateTimeField()

    def to_representation(self, instance: Finding) -> dict[str, Any]:
        run, removed_by = instance.superseded_by_run, instance.removed_by
        assert run is not None, "a run superseded it"
        return {
            "run": run.number,
            "cause": run.cause,
            "engine_version": run.engine_version,
            "correction": min(removed_by, default=None) if run.cause == RunCause.CORRECTION else None,
            "corrections": [{"seq": seq, "type": type} for seq, type in removed_by.items()],
            "register": run.register_version if run.cause == RunCause.REGISTER else None,
            "approved": [seq for seq in removed_by if seq in (run.approved or ())] or None,
            "began_at": run.began_at.isoformat(),
        }


class RefSerializer(serializers.Serializer[Any]):
    """What names a finding within its stream."""

    rule = serializers.CharField()
    seq = serializers.IntegerField()
    wager = serializers.CharField(allow_null=True)


class OutcomeSerializer(serializers.Serializer[Any]):
    """A wager whose outcome a correction changes. Gains are in minor units, below zero where the player loses."""

    wager = serializers.CharField()
    player = serializers.CharField(allow_null=True)
    was = serializers.CharField(help_text="Its status without the correction.")
    now = serializers.CharField(help_text="Its status with it.")
    before = serializers.IntegerField(help_text="What the player gains without it.")
    after = serializers.IntegerField(help_text="What the player gains with it.")


class OutcomesSumSerializer(serializers.Serializer[Any]):
    """How many outcomes a correction changes, and what all of their players gain without it and with it."""

    wagers = serializers.IntegerField()
    before = serializers.IntegerField()
    after = serializers.IntegerField()


class OwedSerializer(serializers.Serializer[Any]):
    """Who owes whom how much, in minor units of the session's currency."""

    by = serializers.ChoiceField(choices=["house", "player"])
    to = serializers.CharField(allow_null=True, help_text="A player; null if unknown, or if the player owes.")
    amount = serializers.IntegerField(min_value=1)


class WordingSerializer(serializers.Serializer[Any]):
    """The same sentence in both languages."""

    en = serializers.CharField()
    fr = serializers.CharField()


class DecisionSerializer(serializers.Serializer[CorrectionDecision]):
    """What one officer decided about a correction, and the entry of the audit trail that decided it."""

    verdict = serializers.ChoiceField(choices=Verdict.choices)
    officer = serializers.CharField(source="officer.username")
    decided_at = serializers.DateTimeField()
    reason = serializers.CharField()
    entry = serializers.SerializerMethodField(help_text="The entry of the audit trail: its stream, #, its seq.")

    def get_entry(self, decision: CorrectionDecision) -> str:
        return f"{decision.entry_stream}#{decision.entry_seq}"


class CorrectionSerializer(serializers.Serializer[Finding]):
    """Of a correction that two officers have to approve: whether it waits, is approved or was refused, and by whom.

    It has no effect on findings and figures unless it is approved.
    """

    state = serializers.ChoiceField(choices=CorrectionState.choices)
    decisions = DecisionSerializer(many=True)


class FindingSerializer(serializers.Serializer[Finding]):
    """A finding as section 6 of the event contract has it, with its table, its time and whether it stands."""

    id = serializers.IntegerField()
    reference = serializers.CharField(
        allow_null=True,
        help_text="What officers call it, “DEA-26-0143”: unique over the installation; null if it never stood.",
    )
    stream = serializers.CharField()
    table = serializers.CharField(allow_null=True, help_text="null in the count room.")
    gaming_day = serializers.DateField()
    occurred_at = serializers.DateTimeField()
    ruleset = serializers.CharField(allow_blank=True)
    engine_version = serializers.CharField()
    status = serializers.ChoiceField(choices=FindingStatus.choices)
    priority = serializers.IntegerField(
        allow_null=True, min_value=1, max_value=4, help_text="Of its incident in the queue; null without a case."
    )
    superseded_at = serializers.DateTimeField(allow_null=True)
    superseded_by = SupersededBySerializer(allow_null=True)
    correction = CorrectionSerializer(allow_null=True)
    rule = serializers.CharField()
    severity = serializers.ChoiceField(choices=Severity.choices)
    seq = serializers.IntegerField(help_text="The event that completes it.")
    evidence = serializers.ListField(child=serializers.IntegerField(), help_text="The events that show it, by seq.")
    wager = serializers.CharField(required=False)
    expected = serializers.JSONField(help_text="An amount in minor units, or text; null if there is none.")
    recorded = serializers.JSONField(help_text="An amount in minor units, or text; null if there is none.")
    difference = serializers.IntegerField(
        allow_null=True, help_text="Recorded less due, in minor units; null where no money is concerned."
    )
    owed = OwedSerializer(allow_null=True)
    cleared = serializers.IntegerField(
        help_text="What officers had paid, waived or keep for persons not found, in minor units: the rest is owed."
    )
    player = serializers.CharField(allow_null=True)
    croupier = serializers.CharField(allow_null=True, help_text="Who paid or was on duty; null if not known.")
    provision = serializers.CharField(allow_null=True)
    provisions = serializers.ListField(child=serializers.CharField(), help_text="All the clauses to cite.")
    after_loss = serializers.BooleanField(required=False, help_text="Events before it are missing.")
    hides = RefSerializer(many=True, required=False, help_text="What would stand without this correction.")
    outcomes = OutcomeSerializer(
        many=True, required=False, help_text="The wagers whose outcome this correction changes, fifty at most."
    )
    outcomes_sum = OutcomesSumSerializer(
        required=False, allow_null=True, help_text="The sums of all of them; null if no outcome changes."
    )
    put_right_by = serializers.IntegerField(required=False, help_text="The event of a later coup that made it good.")
    caused_by = RefSerializer(allow_null=True, help_text="The earliest cause.")
    causes = RefSerializer(many=True)
    consequences = RefSerializer(many=True)
    message = WordingSerializer()
    remedy = WordingSerializer(help_text="What to do about it.")

    def to_representation(self, instance: Finding) -> dict[str, Any]:
        return {
            "id": instance.pk,
            "reference": reference(instance) if instance.stood_at is not None else None,
            "stream": instance.stream.name,
            "table": instance.table.code if instance.table else None,
            "gaming_day": instance.gaming_day.isoformat(),
            "occurred_at": instance.occurred_at.isoformat(),
            "ruleset": instance.ruleset,
            "engine_version": instance.engine_version,
            "status": instance.status,
            "priority": priority_of(instance),
            "superseded_at": instance.superseded_at.isoformat() if instance.superseded_at else None,
            "superseded_by": _superseded_by(instance),
            "correction": self._correction(instance),
            "cleared": instance.cleared,
            **instance.as_dict(),
        }

    def _correction(self, finding: Finding) -> dict[str, Any] | None:
        known: dict[tuple[int, int], list[CorrectionDecision]] = self.context.get("decisions", {})
        decisions = known.get((finding.stream_id, finding.seq), [])
        if not needs_officers(finding, decisions):
            return None
        return {
            "state": str(state_of(decisions)),
            "decisions": [DecisionSerializer(each).data for each in decisions],
        }


def _superseded_by(finding: Finding) -> dict[str, Any] | None:
    return SupersededBySerializer(finding).data if finding.superseded_by_run is not None else None


NEVER_STOOD = "never-stood"
"""The filter for findings of a run that another overtook before it was complete."""


class FindingFilter(filters.FilterSet):  # type: ignore[misc]  # django_filters is not typed
    rule = filters.ChoiceFilter(choices=[(name, name) for name in RULES])
    severity = filters.MultipleChoiceFilter(choices=Severity.choices)
    status = filters.ChoiceFilter(
        choices=[*((value, value) for value in FindingStatus.values), (NEVER_STOOD, NEVER_STOOD)], method="with_status"
    )
    table = filters.CharFilter(field_name="table__code")
    stream = filters.CharFilter(field_name="stream__name")
    gaming_day = filters.DateFilter()
    reference = filters.CharFilter(method="with_reference")

    def with_status(self, queryset: Any, name: str, value: str) -> Any:
        if value == NEVER_STOOD:
            return queryset.filter(status=FindingStatus.SUPERSEDED, stood_at=None)
        return (
            queryset.filter(status=value)
            if value == FindingStatus.PENDING
            else queryset.stood_once().filter(status=value)
        )

    def with_reference(self, queryset: Any, name: str, value: str) -> Any:
        found = REFERENCE.fullmatch(value.strip())
        return queryset.filter(referred_to(found)) if found is not None else queryset.none()

    def filter_queryset(self, queryset: Any) -> Any:
        """Leave out what never stood, or does not stand yet, unless the request asks for it by its status."""
        findings = super().filter_queryset(queryset)
        return findings if self.form.cleaned_data.get("status") else findings.stood_once()

    class Meta:
        model = Finding
        fields = ("rule", "severity", "status", "table", "stream", "gaming_day")


class NewestFirst(CursorPagination):
    ordering = ("-occurred_at", "-id")
    page_size = 100
    invalid_cursor_message = "This cursor is not one of this list. Begin again without it, or follow 'next' of a page."


class OwnFindings(KeyedView, GenericAPIView[Finding]):
    """What every view of findings shares: those of the key's casino, and of its tables if it is limited to some."""

    scope = KeyScope.FINDINGS_READ
    serializer_class = FindingSerializer
    queryset = Finding.objects.select_related("stream", "table", "superseded_by_run__replaces")
    decisions: dict[tuple[int, int], list[CorrectionDecision]]

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "decisions": getattr(self, "decisions", {})}

    def get_queryset(self) -> Any:
        return with_priority(Scope.of(key_of(self.request), KeyScope.FINDINGS_READ).rows(super().get_queryset()))


class Findings(OwnFindings, ListAPIView[Finding]):
    """The findings of the key's casino, newest first, each with its cause and its consequences."""

    parameters = frozenset({*FindingFilter.base_filters, NewestFirst.cursor_query_param})
    pagination_class = NewestFirst
    filter_backends = (filters.DjangoFilterBackend,)
    filterset_class = FindingFilter

    def paginate_queryset(self, queryset: Any) -> Any:
        page = super().paginate_queryset(queryset)
        look_up_consequences(page or [])
        look_up_corrections(page or [])
        self.decisions = decisions_of(page or [])
        return page


class OneFinding(OwnFindings, RetrieveAPIView[Finding]):
    """One finding."""

    def get_object(self) -> Finding:
        finding: Finding = super().get_object()
        look_up_consequences([finding])
        look_up_corrections([finding])
        self.decisions = decisions_of([finding])
        return finding


class Rules(KeyedView):
    """The catalogue: every rule with its provisions."""

    scope = KeyScope.FINDINGS_READ

    @extend_schema(summary="The catalogue of rules", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        return Response({"rules": [_rule(name) for name in RULES]})


def _rule(name: str) -> dict[str, Any]:
    rule = RULES[name]
    labels = {label for labels in rule.provisions.values() for label in labels if label in PROVISIONS}
    return {
        "rule": name,
        "severity": rule.severity,
        "needs": rule.needs,
        "title": {"en": rule.title.en, "fr": rule.title.fr},
        "explanation": {"en": rule.explanation.en, "fr": rule.explanation.fr},
        "provisions": {
            ruleset: [{"label": label, "quotes": list(PROVISIONS[label].quotes)} for label in found if label in labels]
            for ruleset, found in rule.provisions.items()
        },
    }
