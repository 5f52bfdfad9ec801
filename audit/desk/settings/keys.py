"""API keys of table systems: made, rotated and revoked here. A secret is shown once, on the page that made it."""

from __future__ import annotations

from base64 import b64encode
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext

from audit.access import keys
from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.desk.audited_admin import AuditedAdmin, actor
from audit.desk.scoped_admin import at, demands, scope_of
from audit.desk.sign_in.proof import ask_for_proof, fresh_proof
from audit.event_store.batch_signatures import NotAPublicKey, public_key_in
from audit.models import DEFAULT_SCOPES, ApiKey, Casino, GamingTable, KeyScope
from audit.presentation import MISSING, date_time

MAX_DAYS = 9_999
"""Days after which a key expires at the latest, where it does; the command accepts as many."""


class KeyForm(forms.Form):
    """A new key: whose, for what, on which tables, for how long."""

    casino = forms.ModelChoiceField(label=gettext_lazy("Casino"), queryset=Casino.objects.none(), empty_label=None)
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=200,
        help_text=gettext_lazy("The system that will use it, such as “Salle sud”."),
    )
    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("It may"),
        choices=KeyScope.choices,
        initial=DEFAULT_SCOPES,
        widget=forms.CheckboxSelectMultiple,
    )
    tables = forms.ModelMultipleChoiceField(
        label=gettext_lazy("On tables"),
        queryset=GamingTable.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("If none is chosen: every table of the casino."),
    )
    public_key = forms.CharField(
        label=gettext_lazy("Public key of the table system"),
        required=False,
        max_length=60,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=gettext_lazy(
            "Ed25519, 32 bytes in base64: the system signs every batch, and its key never changes. Empty: it does not"
            " sign."
        ),
    )
    days = forms.IntegerField(
        label=gettext_lazy("Days until it expires"),
        required=False,
        initial=keys.DEFAULT_DAYS,
        min_value=1,
        max_value=MAX_DAYS,
        help_text=gettext_lazy("Empty: it does not expire."),
    )

    def __init__(self, scope: Scope, *args: Any) -> None:
        super().__init__(*args)
        casinos = scope.casinos()
        tables = scope.rows(GamingTable.objects.select_related("casino").order_by("casino__code", "code"))
        self._choice("casino").queryset = casinos
        self._choice("tables").queryset = tables
        if len(casinos) > 1:
            self._choice("tables").label_from_instance = _with_casino  # type: ignore[method-assign,assignment]

    def _choice(self, name: str) -> forms.ModelChoiceField:  # type: ignore[type-arg]  # Django’s takes no parameter
        field = self.fields[name]
        assert isinstance(field, forms.ModelChoiceField)
        return field

    def clean_public_key(self) -> bytes | None:
        """Return the bytes of the public key, None for an empty field."""
        given = self.cleaned_data["public_key"]
        try:
            return public_key_in(given) if given else None
        except NotAPublicKey:
            raise forms.ValidationError(gettext("This is not an Ed25519 public key: 32 bytes in base64.")) from None

    def clean(self) -> dict[str, Any]:
        """Refuse a table of another casino: the key would reach nothing there."""
        cleaned: dict[str, Any] = super().clean() or {}
        casino = cleaned.get("casino")
        if casino and any(table.casino_id != casino.pk for table in cleaned.get("tables", ())):
            self.add_error("tables", gettext("Not all of these tables belong to this casino."))
        return cleaned


@admin.register(ApiKey)
class ApiKeyAdmin(AuditedAdmin[ApiKey]):
    sees = changes = (Capability.KEEP_EQUIPMENT,)
    when_empty = gettext_lazy("No key has been issued: no table system can send anything. Add the first one.")
    list_display = ("name", "prefix", "casino", "created", "last_used", "expires", "revoked")
    list_filter = ("casino",)
    fields = readonly_fields = (
        "casino",
        "name",
        "prefix",
        "may",
        "reaches",
        "signs_with",
        "created",
        "expires",
        "revoked",
    )
    actions = ("revoke",)

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        """Store nothing: the page of a key changes nothing of it."""

    @admin.display(description=gettext_lazy("It may"))
    def may(self, key: ApiKey) -> str:
        return ", ".join(str(KeyScope(scope).label) for scope in key.scopes)

    @admin.display(description=gettext_lazy("signs with"))
    def signs_with(self, key: ApiKey) -> str:
        return b64encode(bytes(key.public_key)).decode() if key.public_key is not None else gettext("does not sign")

    @admin.display(description=gettext_lazy("tables"))
    def reaches(self, key: ApiKey) -> str:
        return ", ".join(map(str, key.tables.all())) or gettext("every table of the casino")

    @admin.display(description=gettext_lazy("created"), ordering="created_at")
    def created(self, key: ApiKey) -> str:
        return date_time(key.created_at, key.casino)

    @admin.display(description=gettext_lazy("last used"), ordering="last_used_at", empty_value=MISSING)
    def last_used(self, key: ApiKey) -> str | None:
        return date_time(key.last_used_at, key.casino) if key.last_used_at else None

    @admin.display(description=gettext_lazy("expires"), ordering="expires_at")
    def expires(self, key: ApiKey) -> str:
        return date_time(key.expires_at, key.casino) if key.expires_at else gettext("never")

    @admin.display(description=gettext_lazy("revoked"), ordering="revoked_at", empty_value=MISSING)
    def revoked(self, key: ApiKey) -> str:
        return date_time(key.revoked_at, key.casino) if key.revoked_at else MISSING

    @demands(Capability.KEEP_EQUIPMENT)
    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Make a key, and show its secret this once."""
        if (page := ask_for_proof(request)) is not None:
            return page
        form = KeyForm(scope_of(request, Capability.KEEP_EQUIPMENT), request.POST or None)
        if request.method != "POST" or not form.is_valid():
            purpose = gettext(
                "A table system uses it to send events and read answers. It is shown once, and only its digest is kept."
            )
            title = gettext("Create a key")
            return self.page(request, "admin/audit/parts/create.html", title=title, purpose=purpose, form=form)
        values = form.cleaned_data
        key, secret = keys.make(
            actor(request),
            casino=values["casino"],
            name=values["name"],
            scopes=values["scopes"],
            tables=values["tables"],
            expires_at=timezone.now() + timedelta(days=values["days"]) if values["days"] else None,
            public_key=values["public_key"],
        )
        return self._shown_once(request, key, secret)

    @at("<int:pk>/rotate/")
    @demands(Capability.KEEP_EQUIPMENT)
    @fresh_proof
    def rotate_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Replace a key by POST, and show the secret of the one that follows this once."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        key = self.row_or_404(request, pk, Capability.KEEP_EQUIPMENT)
        try:
            before, after, secret = keys.rotate(actor(request), key.pk)
        except keys.NotActive:
            messages.error(request, gettext("Only a valid key can be replaced."))
            return redirect("admin:app_list", "audit")
        return self._shown_once(request, after, secret, until=self.expires(before))

    def _shown_once(self, request: HttpRequest, key: ApiKey, secret: str, **context: Any) -> HttpResponse:
        response = self.page(request, "admin/audit/keys/once.html", title=key.name, key=key, secret=secret, **context)
        response["Cache-Control"] = "no-store"
        return response

    @admin.action(description=gettext_lazy("Revoke the selected keys"), permissions=["change"])
    def revoke(self, request: HttpRequest, chosen: QuerySet[ApiKey]) -> HttpResponse | None:
        if (page := ask_for_proof(request)) is not None:
            return page
        revoked = keys.revoke(actor(request), chosen.values_list("pk", flat=True))
        text = ngettext("%(count)d key has been revoked.", "%(count)d keys have been revoked.", len(revoked))
        self.message_user(request, text % {"count": len(revoked)})
        return None


def _with_casino(table: Model) -> str:
    assert isinstance(table, GamingTable)
    return f"{table.code} · {table.casino}"
