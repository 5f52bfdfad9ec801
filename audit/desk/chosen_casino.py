"""The switch between the casinos of an officer who has several. ``scoped_admin.narrowed`` narrows by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from audit.access.capabilities import Capability
from audit.desk.prepared import key_of, prepared
from audit.desk.scoped_admin import CHOSEN_CASINO, casino_of_page, chosen_casino, demands, scope_of
from audit.models import Casino


@dataclass(frozen=True, slots=True)
class Choice:
    """The name of the officer's only casino, "" for several; those that may be chosen, and the chosen one.

    ``is_sandbox``: what is shown is a sandbox's, by the choice or by the page. ``is_of_several``: a list is of several
    casinos, and names that of each row.
    """

    only: str
    casinos: list[tuple[int, str]]
    chosen: int | None
    is_sandbox: bool = False
    is_of_several: bool = False


def choice_of(request: HttpRequest) -> Choice:
    """Return what the switch shows the signed-in officer: one query, and another for what the page is of."""
    found = prepared("choice of casinos", key_of(request), lambda _now: _casinos(request))
    casinos = [(pk, str(Casino(name=name, code=code, is_sandbox=sandbox))) for pk, name, code, sandbox in found]
    if len(casinos) == 1 and not found[0][-1]:
        return Choice(casinos[0][1], [], None)
    chosen = chosen_casino(request)
    shown = {each for each in (chosen, casino_of_page(request)) if each is not None}
    is_sandbox = bool(shown) and Casino.objects.filter(pk__in=shown, is_sandbox=True).exists()
    is_of_several = chosen is None and sum(not sandbox for *_casino, sandbox in found) > 1
    return Choice("", casinos, chosen, is_sandbox, is_of_several)


def _casinos(request: HttpRequest) -> QuerySet[Any]:
    return scope_of(request, *Capability).casinos().values_list("pk", "name", "code", "is_sandbox")


@require_POST
@demands(*Capability)
def choose_casino_view(request: HttpRequest) -> HttpResponse:
    """Narrow lists to one casino of the officer's, or to none with an empty ``casino``; in this session alone."""
    wanted = request.POST.get("casino", "")
    if wanted.isascii() and wanted.isdigit() and scope_of(request, *Capability).casinos().filter(pk=wanted).exists():
        request.session[CHOSEN_CASINO] = int(wanted)
    else:
        request.session.pop(CHOSEN_CASINO, None)
    back = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    return redirect(back if is_ours and back.startswith("/") else "admin:index")  # what else there is names no page
