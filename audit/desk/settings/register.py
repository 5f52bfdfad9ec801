"""The house register at the desk: what is in force today, what waits for a second officer, and everything decided.

An officer who sees a casino's record sees its register; second officers and directors propose and decide. The use
cases are in ``audit.register.entries``; a page shows what they allow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.desk import kept_words
from audit.desk.scoped_admin import RecordAdmin, at, demands, officer_of, scope_of
from audit.desk.settings.register_lines import days_of, entry_line, left_open_by, state_of, where_of
from audit.desk.settings.register_value import default_words, unit_of, value_field
from audit.desk.sign_in.proof import fresh_proof
from audit.event_store.audit_trail import MAX_REASON
from audit.models import Casino, GamingTable, RegisterEntry, RequestState
from audit.presentation import labelled, language, officer_name, ruleset_label
from audit.register import entries, in_force, touched
from audit.register.currency import currency_of
from audit.register.entries import Proposal, RegisterRefused
from audit.register.readings import KINDS, Kind, ValueRefused, parse, rulesets_of, written
from settlement import RULESETS
from settlement.readings import READINGS

NIGHTS_SHOWN = 12
"""Signed nights that the page of an entry names."""


def _with_casino(table: GamingTable) -> str:
    return labelled(str(table.casino), str(table))


class ProposalForm(forms.Form):
    """An entry to propose, at a casino whose register the officer keeps."""

    casino = forms.ModelChoiceField(Casino.objects.none(), label=gettext_lazy("Casino"), empty_label=None)
    reading = forms.ChoiceField(label=gettext_lazy("Reading"))
    value = forms.CharField(label=gettext_lazy("Value"), max_length=2_000, required=False)
    takes_back = forms.BooleanField(
        label=gettext_lazy("Remove the decision here: the more general decision applies, or else the default"),
        required=False,
    )
    table = forms.ModelChoiceField(
        GamingTable.objects.none(),
        label=gettext_lazy("Table"),
        required=False,
        empty_label=gettext_lazy("every table of the casino"),
    )
    ruleset = forms.ChoiceField(label=gettext_lazy("Ruleset"), required=False)
    first_day = forms.DateField(
        label=gettext_lazy("First gaming day"), widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    last_day = forms.DateField(
        label=gettext_lazy("Last gaming day, if any"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    reason = forms.CharField(
        label=gettext_lazy("Reason"), max_length=MAX_REASON, widget=forms.Textarea(attrs={"rows": 3})
    )

    def __init__(self, scope: Scope, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = KINDS.get(self._of("reading"))
        tables = scope.rows(GamingTable.objects.select_related("casino").order_by("casino__code", "code"))
        casinos = scope.casinos()
        self._choices("casino").queryset = casinos
        self._choices("table").queryset = tables
        if casinos.count() > 1:
            self._choices("table").label_from_instance = _with_casino  # type: ignore[assignment,method-assign]
        self.fields["reading"].choices = [(kind.name, kind.title) for kind in KINDS.values()]  # type: ignore[attr-defined]
        chosen = casinos.filter(pk=self._of("casino")) if self._of("casino").isdigit() else casinos[:2]
        self.currency = currency_of(chosen[0]) if len(chosen) == 1 else ""
        rulesets = self.kind.rulesets if self.kind is not None else RULESETS
        own = [(name, ruleset_label(name)) for name in RULESETS if name in rulesets]
        every = (
            _("choose")
            if self.kind is not None and self.kind.is_of_ruleset
            else _("every ruleset the reading applies to")
        )
        self.fields["ruleset"].choices = [("", every), *own]  # type: ignore[attr-defined]
        if self.kind is not None:
            self._ask_for(self.kind)

    def _ask_for(self, kind: Kind) -> None:
        """Ask for the value of a reading as it is, and for no place where it is decided for the whole casino."""
        self.fields["value"] = value_field(kind.name, self.currency)
        self.fields["reading"].widget = forms.HiddenInput()
        if kind.is_of_table:
            self._choices("table").empty_label = _("choose")
        if kind.is_of_casino:
            for name in ("table", "ruleset"):
                self.fields[name].widget = forms.HiddenInput()

    def _of(self, name: str) -> str:
        """Return what was sent, or is to be asked first, for a field; "" for nothing."""
        return str(self.data.get(name, "") if self.is_bound else self.initial.get(name, ""))

    def _choices(self, name: str) -> forms.ModelChoiceField:  # type: ignore[type-arg]  # Django’s takes no parameter
        field = self.fields[name]
        assert isinstance(field, forms.ModelChoiceField)
        return field

    def proposal(self) -> Proposal:
        """Return what a valid form proposes. Raise ``ValueRefused``."""
        values = self.cleaned_data
        return Proposal(
            reading=values["reading"],
            value=None
            if values["takes_back"]
            else parse(values["reading"], values["value"], currency_of(values["casino"])),
            first_day=values["first_day"],
            last_day=values["last_day"],
            table=values["table"],
            ruleset=values["ruleset"],
            reason=values["reason"],
        )


@admin.register(RegisterEntry)
class RegisterAdmin(RecordAdmin[RegisterEntry]):
    counted = ngettext_lazy("%(number)d entry of the register", "%(number)d entries of the register", "number")
    when_empty = gettext_lazy(
        "Nothing has been decided yet: every text has its default reading. An entry needs two officers."
    )
    sees = (Capability.SEE_RECORD,)
    changes = (Capability.KEEP_REGISTER,)
    list_display = ("about", "what", "where", "days", "standing", "officers")
    list_filter = ("state", "casino")
    list_select_related = ("table", "proposed_by", "decided_by")
    ordering = ("-pk",)
    change_list_template = "admin/audit/register/list.html"

    @admin.display(description=gettext_lazy("reading"), ordering="reading")
    def about(self, entry: RegisterEntry) -> str:
        return str(KINDS[entry.reading].title)

    @admin.display(description=gettext_lazy("value"))
    def what(self, entry: RegisterEntry) -> str:
        return written(entry.reading, entry.value, currency_of(entry.casino))

    @admin.display(description=gettext_lazy("where"))
    def where(self, entry: RegisterEntry) -> str:
        return f"{entry.casino} · {where_of(entry)}"

    @admin.display(description=gettext_lazy("days in force"), ordering="first_day")
    def days(self, entry: RegisterEntry) -> str:
        return days_of(entry)

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def standing(self, entry: RegisterEntry) -> str:
        return state_of(entry)

    @admin.display(description=gettext_lazy("officers"))
    def officers(self, entry: RegisterEntry) -> str:
        return ", ".join(officer_name(each) for each in (entry.proposed_by, entry.decided_by) if each is not None)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(scope_of(request, Capability.KEEP_REGISTER))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show what is in force today and what waits, above everything that was decided."""
        context: dict[str, Any] = {}
        if self.has_view_permission(request):
            waiting = self.get_queryset(request).filter(state=RequestState.WAITING).order_by("pk")
            context = {
                "waiting": [entry_line(each) for each in waiting],
                "casinos": [_in_force_today(each) for each in scope_of(request, Capability.SEE_RECORD).casinos()],
            }
        return super().changelist_view(request, {**context, **(extra_context or {})})

    @demands(Capability.KEEP_REGISTER)
    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Propose an entry."""
        initial = {name: request.GET[name] for name in ("reading", "ruleset", "table", "casino") if name in request.GET}
        form = ProposalForm(scope_of(request, Capability.KEEP_REGISTER), request.POST or None, initial=initial)
        if request.method == "POST" and form.is_valid():
            try:
                entry = entries.propose(officer_of(request), form.cleaned_data["casino"], form.proposal())
            except ValueRefused as refused:
                form.add_error("value", str(refused))
            except RegisterRefused as refused:
                form.add_error("value" if refused.finding is not None else None, str(refused))
            else:
                messages.success(request, _("Proposed. Another officer must decide."))
                return redirect("admin:audit_registerentry_change", entry.pk)
        return self.page(
            request,
            "admin/audit/register/propose.html",
            title=form.kind.title if form.kind is not None else _("Propose an entry"),
            form=form,
            chosen=_reading(form.kind, form.currency) if form.kind is not None else None,
            unit=unit_of(form.kind.name, form.currency) if form.kind is not None else "",
            readings=[_reading(kind, form.currency) for kind in KINDS.values()],
            casino=form["casino"].value() or "",
        )

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show an entry: what it says, what it touches, who decided, and the buttons of whoever may decide."""
        if request.method == "POST":
            return super().change_view(request, object_id, form_url, extra_context)
        entry = self.row_or_404(request, object_id)
        actor = officer_of(request)
        is_kept = scope_of(request, Capability.KEEP_REGISTER).includes(entry.casino_id)
        nights = touched.signed_nights(entry)
        return self.page(
            request,
            "admin/audit/register/entry.html",
            title=str(KINDS[entry.reading].title),
            line=entry_line(entry),
            entry=entry,
            rulesets=[ruleset_label(each) for each in rulesets_of(entry.reading, entry.ruleset)],
            replaced=_replaced(entry),
            sessions=touched.streams_of(entry).count(),
            nights=nights[:NIGHTS_SHOWN],
            more_nights=max(0, len(nights) - NIGHTS_SHOWN),
            is_of_casino=KINDS[entry.reading].is_of_casino,
            is_waiting=entry.state == RequestState.WAITING,
            is_own=entry.proposed_by_id == actor.pk,
            is_kept=is_kept,
            may_decide=is_kept and entries.may_decide(actor, entry),
            history=_history(entry),
        )

    @at("<int:pk>/decide/<slug:decision>/")
    @demands(Capability.KEEP_REGISTER)
    @fresh_proof
    def decide_view(self, request: HttpRequest, pk: int, decision: str) -> HttpResponse:
        """Approve, decline or withdraw an entry, by POST, and return to its page."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        entry = self.row_or_404(request, pk, Capability.KEEP_REGISTER)
        actor, reason = officer_of(request), request.POST.get("reason", "")
        try:
            match decision:
                case "approve":
                    entries.approve(actor, entry.pk, reason=reason)
                    is_read_by = not KINDS[entry.reading].is_of_casino
                    again = _("Approved. The sessions that it affects are being replayed.")
                    messages.success(request, again if is_read_by else _("Approved."))
                case "decline":
                    entries.decline(actor, entry.pk, reason=reason)
                    messages.success(request, _("Declined."))
                case "withdraw":
                    entries.withdraw(actor, entry.pk, reason=reason)
                    messages.success(request, _("Withdrawn."))
                case _:
                    raise Http404
        except RegisterRefused as refused:
            messages.error(request, str(refused))
            return kept_words.keep_for(request, redirect("admin:audit_registerentry_change", entry.pk))
        return redirect("admin:audit_registerentry_change", entry.pk)

    def get_queryset(self, request: HttpRequest) -> QuerySet[RegisterEntry]:
        scope = scope_of(request, *self.sees, *self.changes)
        rows = RegisterEntry.objects.select_related(*self.list_select_related)
        # Prefetched, and so one object for all rows of a casino: what is looked up for it is looked up once.
        return scope.rows(rows.prefetch_related("casino"), casino=self.casino)


# Words of an entry


def _in_force_today(casino: Casino) -> dict[str, Any]:
    """Return what a casino's register says today, and the default of every reading of which it says nothing."""
    today = casino.gaming_day_at(timezone.now())
    last: dict[tuple[str, int | None, str], RegisterEntry] = {}
    for entry in in_force.approved(casino.pk).select_related("table", "proposed_by", "decided_by"):
        entry.casino = casino
        if entry.covers(today):
            last[entry.reading, entry.table_id, entry.ruleset] = entry
    decided = [entry for entry in last.values() if entry.value is not None]
    order = list(KINDS)
    decided.sort(key=lambda each: (order.index(each.reading), each.table_id or 0, each.ruleset))
    named = {entry.reading for entry in decided}
    return {
        "casino": casino,
        "day": today,
        "version": in_force.newest_version(casino.pk),
        "lines": [entry_line(each) for each in decided],
        "defaults": list(_defaults(named, currency_of(casino))),
    }


def _defaults(named: set[str], currency: str) -> Iterator[dict[str, Any]]:
    """Yield the readings that are not ``named``, each with the engine's default and where the law leaves it open."""
    for name in READINGS:
        if name in KINDS and name not in named:
            yield _reading(KINDS[name], currency)


def _reading(kind: Kind, currency: str) -> dict[str, Any]:
    """Return a reading in words: how it is read without an entry, and which clauses leave it open."""
    reading = READINGS.get(kind.name)
    return {
        "name": kind.name,
        "title": kind.title,
        "default": default_words(kind.name, currency),
        "decision": reading.decision.in_language(language()) if reading is not None else "",
        "reason": reading.reason.in_language(language()) if reading is not None else "",
        "leaves_open": left_open_by(kind.name),
    }


def _replaced(entry: RegisterEntry) -> str:
    """Return what is in force on the first day of an entry, without it: the value that it takes the place of."""
    earlier = in_force.approved(entry.casino_id, through=entry.version - 1 if entry.version is not None else None)
    same = [
        each
        for each in earlier
        if (each.reading, each.table_id, each.ruleset) == (entry.reading, entry.table_id, entry.ruleset)
        and each.covers(entry.first_day)
    ]
    return written(entry.reading, same[-1].value, currency_of(entry.casino)) if same else _("nothing decided")


def _history(entry: RegisterEntry) -> list[dict[str, Any]]:
    """Return what was done to an entry, in order: who did what, when, and why."""
    done = [{"officer": entry.proposed_by, "at": entry.proposed_at, "what": _("proposed"), "reason": entry.reason}]
    if entry.decided_at is not None:
        decision = {"officer": entry.decided_by, "at": entry.decided_at, "what": state_of(entry)}
        done.append({**decision, "reason": entry.decision_reason})
    return done
