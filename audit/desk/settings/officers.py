"""Officers at the desk: invitations, links, roles at each of their casinos, requests that two administrators decide.

A superuser manages all other officers. An administrator manages those whose casinos are all among their own; never
themselves and never a superuser. The use cases are in ``audit.access.accounts``; a page shows what they allow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.validators import ASCIIUsernameValidator
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_otp import user_has_device

from audit.access import accounts, keepers
from audit.access.accounts import REFUSALS, AccountRefused
from audit.access.capabilities import Capability
from audit.access.scope import Scope, officers_with
from audit.desk.audited_admin import STEP
from audit.desk.scoped_admin import RecordAdmin, at, demands, officer_of, scope_of
from audit.desk.settings.roles import roles_in_words
from audit.desk.sign_in.proof import ask_for_proof, fresh_proof, proved
from audit.event_store import audit_trail
from audit.models import AccountRequest, Casino, Officer, Role
from audit.notifications import access_links
from audit.presentation import officer_name, request_title

# Officers have roles, not groups; second factors are secret; the schedule follows the settings and casinos' cutoffs.

MAX_EMAIL = Officer._meta.get_field("email").max_length
"""Characters of a mail address, as ``Officer`` stores it."""

LINK_HOURS = int(accounts.LINK_LIFE.total_seconds() // 3600)


class InvitationForm(forms.ModelForm):  # type: ignore[type-arg]  # Django’s own takes no type parameter
    """A new account, with its role at a casino that the administrator keeps."""

    casino = forms.ModelChoiceField(label=gettext_lazy("Casino"), queryset=Casino.objects.none(), empty_label=None)
    role = forms.ChoiceField(label=gettext_lazy("Role"), choices=Role.choices, initial=Role.OFFICER)

    class Meta:
        model = Officer
        fields = ("username", "first_name", "last_name", "email")
        labels: ClassVar = {"username": gettext_lazy("User name"), "email": gettext_lazy("E-mail address")}

    def __init__(self, casinos: QuerySet[Casino], *args: Any) -> None:
        super().__init__(*args)
        choice = self.fields["casino"]
        assert isinstance(choice, forms.ModelChoiceField)
        choice.queryset = casinos
        if not officers_with(Capability.KEEP_OFFICERS, [each.pk for each in casinos]).exists():
            self.initial["role"] = Role.ADMINISTRATOR  # any other role waits for an administrator's approval

    def clean_username(self) -> str:
        """Return a user name that nobody takes for another's: papers and the trail have nothing else of who signed.

        So it is ASCII, no account's in capitals or not, and not one that stands for the schedule, the system or whoever
        runs commands on this machine.
        """
        name: str = self.cleaned_data["username"]
        ASCIIUsernameValidator()(name)
        taken = {*Officer.OF_NOBODY, audit_trail.account_name().lower()}
        if name.lower() in taken or Officer.objects.filter(username__iexact=name).exists():
            raise forms.ValidationError(Officer._meta.get_field("username").error_messages["unique"], code="unique")
        return name


class PersonForm(forms.ModelForm):  # type: ignore[type-arg]  # Django’s own takes no type parameter
    """The name of the person."""

    class Meta:
        model = Officer
        fields = ("first_name", "last_name")


@admin.register(Officer)
class OfficerAdmin(RecordAdmin[Officer]):
    sees = (Capability.KEEP_OFFICERS,)
    list_display = ("person", "user_name", "roles", "is_active", "superuser")
    list_filter = ("is_active",)
    search_fields = ("username", "first_name", "last_name")
    change_list_template = "admin/audit/officers/list.html"

    @admin.display(description=gettext_lazy("Officer"), ordering="last_name")
    def person(self, officer: Officer) -> str:
        return officer_name(officer)

    @admin.display(description=gettext_lazy("User name"), ordering="username")
    def user_name(self, officer: Officer) -> str:
        return officer.get_username()

    @admin.display(description=gettext_lazy("superuser"), ordering="is_superuser", boolean=True)
    def superuser(self, officer: Officer) -> bool:
        return officer.is_superuser

    @admin.display(description=gettext_lazy("roles"))
    def roles(self, officer: Officer) -> str:
        return roles_in_words(officer)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Officer]:
        kept = keepers.kept_by(officer_of(request))
        return kept.order_by("username").prefetch_related("memberships__casino")

    def _is_within(self, scope: Scope, row: Model | None) -> bool:
        """Whether every casino of an officer is in ``scope``; a superuser is in the scope of superusers alone."""
        if scope.is_everywhere or row is None or row.pk is None:
            return bool(scope)
        assert isinstance(row, Officer)
        return not row.is_superuser and all(scope.includes(each) for each in keepers.casino_ids_of(row))

    def casino_id_of(self, row: Model) -> None:
        """Return None: an officer may be of several casinos."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the officers below the requests that wait."""
        waiting = _requests(officer_of(request)) if self.has_view_permission(request) else []
        return super().changelist_view(request, {"requests": waiting, **(extra_context or {})})

    @demands(Capability.KEEP_OFFICERS)
    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Invite an officer: create an account without a password, and issue its first link."""
        if (page := ask_for_proof(request)) is not None:
            return page
        casinos = scope_of(request, Capability.KEEP_OFFICERS).casinos()
        form = InvitationForm(casinos, request.POST or None)
        if request.method == "POST" and form.is_valid():
            values = form.cleaned_data
            is_shown = not access_links.can_mail(Officer(email=values["email"]))
            try:
                invitation = accounts.invite(proved(request), is_shown=is_shown, **values)
            except AccountRefused as refused:
                form.add_error(None, str(refused))
            else:
                if invitation.request is not None:
                    text = _("The role waits for another administrator. Until then the account sees nothing.")
                    messages.info(request, text)
                return self._deliver(request, invitation.officer, invitation.token, is_shown=is_shown)
        return self.page(request, "admin/audit/officers/invite.html", title=_("Invite an officer"), form=form)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show an account, with what the administrator may do to it."""
        if not self.has_view_permission(request):
            return super().change_view(request, object_id, form_url, extra_context)
        officer = self.get_object(request, object_id)
        if officer is None or request.method == "POST":
            return super().change_view(request, object_id, form_url, extra_context)
        return self._officer_page(request, officer)

    @at("<int:pk>/do/<slug:name>/")
    @demands(Capability.KEEP_OFFICERS)
    @fresh_proof
    def action_view(self, request: HttpRequest, pk: int, name: str) -> HttpResponse:
        """Do one thing to an account, by POST, and return to its page."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        officer = self.row_or_404(request, pk)
        action = _ACTIONS.get(name)
        if name != "link" and action is None:
            raise Http404
        try:
            if action is None:
                is_shown = not access_links.can_mail(officer)
                token = accounts.issue_link(proved(request), officer, is_shown=is_shown)
                return self._deliver(request, officer, token, is_shown=is_shown)
            messages.success(request, action(request, officer))
        except AccountRefused as refused:
            messages.error(request, str(refused))
        return self._back(request, officer)

    @at("requests/<int:pk>/<slug:decision>/")
    @demands(Capability.KEEP_OFFICERS)
    @fresh_proof
    def decide_view(self, request: HttpRequest, pk: int, decision: str) -> HttpResponse:
        """Approve or decline a request, by POST."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        found = get_object_or_404(AccountRequest, pk=pk, officer__in=keepers.kept_by(officer_of(request)))
        try:
            match decision:
                case "approve":
                    accounts.approve(proved(request), found.pk)
                    messages.success(request, _("The request is approved."))
                case "decline":
                    accounts.decline(proved(request), found.pk, reason=request.POST.get("reason", ""))
                    messages.success(request, _("The request is declined."))
                case _:
                    raise Http404
        except AccountRefused as refused:
            messages.error(request, str(refused))
        return redirect("admin:audit_officer_changelist")

    def _deliver(self, request: HttpRequest, officer: Officer, token: str, *, is_shown: bool) -> HttpResponse:
        """Mail a link, or show it this once."""
        address = request.build_absolute_uri(reverse("admin:access_link", args=[token]))
        if is_shown:
            response = self.page(
                request, "admin/audit/officers/link.html", title=str(officer), address=address, officer=officer
            )
            response["Cache-Control"] = "no-store"
            return response
        try:
            access_links.send(officer, address, hours=LINK_HOURS)
        except OSError:
            messages.error(request, _("The mail server did not accept the link. Issue another one later."))
        else:
            messages.success(request, _("A link has been sent by e-mail to %(address)s.") % {"address": officer.email})
        return self._back(request, officer)

    def _officer_page(self, request: HttpRequest, officer: Officer) -> HttpResponse:
        casinos = scope_of(request, Capability.KEEP_OFFICERS).casinos()
        refusal = keepers.cannot_confirm(officer_of(request), officer)
        chosen = officer.access_links.exclude(used_at=None).order_by("-used_at", "-pk").first()
        held = {each.casino_id: each for each in officer.memberships.select_related("casino").order_by("casino__code")}
        return self.page(
            request,
            "admin/audit/officers/officer.html",
            title=officer_name(officer),
            officer=officer,
            memberships=list(held.values()),
            other_casinos=[each for each in casinos if each.pk not in held],
            roles=Role.choices,
            person_form=PersonForm(instance=officer),
            has_second_factor=user_has_device(officer),
            has_password=officer.has_usable_password(),
            chosen=chosen,
            cannot_confirm=REFUSALS[refusal] if refusal else None,
            can_mail=access_links.can_mail(officer),
            requests=_requests(officer_of(request), officer),
        )

    def _back(self, request: HttpRequest, officer: Officer) -> HttpResponse:
        if self.get_queryset(request).filter(pk=officer.pk).exists():
            return redirect("admin:audit_officer_change", officer.pk)
        return redirect("admin:first_run" if STEP in request.GET else "admin:audit_officer_changelist")


# What a button on an officer's page does: it returns the sentence that the administrator then reads.


def _role(request: HttpRequest, officer: Officer) -> str:
    casino = _casino(request)
    proposed = accounts.propose_role(
        proved(request), officer, casino, request.POST.get("role", ""), reason=request.POST.get("reason", "")
    )
    return _("The role has been changed.") if proposed is None else _proposed()


def _remove_role(request: HttpRequest, officer: Officer) -> str:
    casino = _casino(request)
    accounts.remove_role(proved(request), officer, casino, reason=request.POST.get("reason", ""))
    return _("The role has been removed.")


def _second_factor(request: HttpRequest, officer: Officer) -> str:
    accounts.propose_factor_reset(proved(request), officer, reason=request.POST.get("reason", ""))
    return _proposed()


def _email(request: HttpRequest, officer: Officer) -> str:
    try:
        email = forms.EmailField(max_length=MAX_EMAIL).clean(request.POST.get("email", ""))
    except forms.ValidationError as error:
        raise AccountRefused(error.messages[0]) from error
    accounts.propose_email(proved(request), officer, email, reason=request.POST.get("reason", ""))
    return _proposed()


def _name(request: HttpRequest, officer: Officer) -> str:
    form = PersonForm(request.POST)
    if not form.is_valid():
        raise AccountRefused(_("A name can have at most 150 characters."))
    accounts.rename_person(proved(request), officer, **form.cleaned_data)
    return _("The name has been changed.")


def _confirm(request: HttpRequest, officer: Officer) -> str:
    accounts.confirm_person(proved(request), officer, reason=request.POST.get("reason", ""))
    return _("It is confirmed whose account this is.")


def _deactivate(request: HttpRequest, officer: Officer) -> str:
    accounts.deactivate(proved(request), officer, reason=request.POST.get("reason", ""))
    return _("The account is deactivated.")


def _reactivate(request: HttpRequest, officer: Officer) -> str:
    accounts.propose_reactivation(proved(request), officer, reason=request.POST.get("reason", ""))
    return _proposed()


_ACTIONS: dict[str, Callable[[HttpRequest, Officer], str]] = {
    "role": _role,
    "remove-role": _remove_role,
    "second-factor": _second_factor,
    "email": _email,
    "name": _name,
    "confirm": _confirm,
    "deactivate": _deactivate,
    "reactivate": _reactivate,
}


def _proposed() -> str:
    return _("Proposed. Another administrator must decide.")


def _casino(request: HttpRequest) -> Casino:
    """Return the casino of a form, which is one that the administrator keeps."""
    casino_id = request.POST.get("casino", "")
    casinos = scope_of(request, Capability.KEEP_OFFICERS).casinos()
    found = casinos.filter(pk=casino_id).first() if casino_id.isascii() and casino_id.isdecimal() else None
    if found is None:
        raise AccountRefused(_("You are not an administrator of this casino."))
    return found


def _requests(actor: Officer, officer: Officer | None = None) -> list[dict[str, Any]]:
    """Return the requests that wait, about one account or all that ``actor`` keeps, with what they may do."""
    found = keepers.waiting_for(actor)
    return [
        {
            "request": each,
            "title": request_title(each),
            "is_own": each.proposed_by_id == actor.pk,
            "may_decide": keepers.may_decide(actor, each),
        }
        for each in (found if officer is None else found.filter(officer=officer))
    ]
