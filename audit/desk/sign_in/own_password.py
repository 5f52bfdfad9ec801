"""The page on which an officer changes their own password, by the present one."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.forms import AdminPasswordChangeForm
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.views import PasswordChangeView
from django.core.exceptions import ValidationError
from django.http import HttpResponse, HttpResponseRedirect

from audit.access import accounts
from audit.desk.scoped_admin import officer_of
from audit.desk.sign_in.proof import check_password


class OwnPasswordForm(AdminPasswordChangeForm):
    """Asks for the present password; a wrong one counts as a failed sign-in."""

    request: Any = None

    def clean_old_password(self) -> str:
        password: str = self.cleaned_data["old_password"]
        if not check_password(self.request, password):
            raise ValidationError(self.error_messages["password_incorrect"], code="password_incorrect")
        return password


class OwnPasswordView(PasswordChangeView):
    form_class = OwnPasswordForm
    template_name = "admin/audit/sign_in/own_password.html"

    def get_form(self, form_class: Any = None) -> Any:
        form: Any = super().get_form(form_class)
        form.request = self.request
        return form

    def form_valid(self, form: Any) -> HttpResponse:
        """Set the password; the officer's other sessions end, and this one gets a new key."""
        officer = officer_of(self.request)
        accounts.change_own_password(officer, form.cleaned_data["new_password1"])
        update_session_auth_hash(self.request, officer)
        return HttpResponseRedirect(self.get_success_url())
