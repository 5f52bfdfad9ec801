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
from audit.api.keyed_view import KeyedView, key_of
from audit.models import AdjudicationRun, Finding, FindingStatus, KeyScope, RunCause
from audit.models.adjudication import Severity
from settlement.catalogue import RULES
from settlement.provisions import PROVISIONS


class SupersededBySerializer(serializers.Serializer[AdjudicationRun]):
    """The run that superseded a finding: its number in the stream, why it began, and the correction that began it."""

    run = serializers.IntegerField(source="number")
    cause = serializers.ChoiceField(choices=RunCause.choices)
    engine_version = serializers.CharField()
    correction = serializers.IntegerField(
        allow_null=True, help_text="The seq of the correction, null for another cause."
    )
    began_at = serializers.DateTimeField()

    def to_representation(self, instance: AdjudicationRun) -> dict[str, Any]:
        is_correction = instance.cause == RunCause.CORRECTION
        return {
            "run": instance.number,
            "cause": instance.cause,
            "engine_version": instance.engine_version,
            "correction": instance.corrections_through if is_correction else None,
            "began_at": instance.began_at.isoformat(),
        }


class FindingSerializer(serializers.ModelSerializer[Finding]):
    """A finding as section 6 of the event contract has it, with its table, its time and whether it stands."""

    superseded_by = SupersededBySerializer(source="superseded_by_run", allow_null=True, read_only=True)

    def to_representation(self, instance: Finding) -> dict[str, Any]:
        return {
            "id": instance.pk,
            "stream": instance.stream.name,
            "table": instance.table.code if instance.table else None,
            "gaming_day": instance.gaming_day.isoformat(),
            "occurred_at": instance.occurred_at.isoformat(),
            "ruleset": instance.ruleset,
            "engine_version": instance.engine_version,
            "status": instance.status,
            "superseded_at": instance.superseded_at.isoformat() if instance.superseded_at else None,
            "superseded_by": _superseded_by(instance),
            **instance.as_dict(),
        }

    class Meta:
        model = Finding
        fields = ("id", "status", "superseded_at", "superseded_by")


def _superseded_by(finding: Finding) -> dict[str, Any] | None:
    run = finding.superseded_by_run
    return SupersededBySerializer(run).data if run is not None else None


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

    def with_status(self, queryset: Any, name: str, value: str) -> Any:
        if value == NEVER_STOOD:
            return queryset.filter(status=FindingStatus.SUPERSEDED, stood_at=None)
        return (
            queryset.filter(status=value)
            if value == FindingStatus.PENDING
            else queryset.stood_once().filter(status=value)
        )

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


class OwnFindings(KeyedView, GenericAPIView[Finding]):
    """What every view of findings shares: those of the key's casino, and of its tables if it is limited to some."""

    scope = KeyScope.FINDINGS_READ
    serializer_class = FindingSerializer
    queryset = Finding.objects.select_related("stream", "table", "superseded_by_run")

    def get_queryset(self) -> Any:
        return Scope.of(key_of(self.request), KeyScope.FINDINGS_READ).rows(super().get_queryset())


class Findings(OwnFindings, ListAPIView[Finding]):
    """The findings of the key's casino, newest first."""

    parameters = frozenset({*FindingFilter.base_filters, NewestFirst.cursor_query_param})
    pagination_class = NewestFirst
    filter_backends = (filters.DjangoFilterBackend,)
    filterset_class = FindingFilter


class OneFinding(OwnFindings, RetrieveAPIView[Finding]):
    """One finding."""


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
