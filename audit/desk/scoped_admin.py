"""What every page of the desk shares: it demands a capability, and shows the officer's own casinos alone.

    ScopedAdmin      a section of the desk over a model; says which capability sees its rows, and which changes them
    RecordAdmin      a section of the record: read and never written
    demands          a page that belongs to no model, or that an admin adds to Django's own

The rows, the choices in forms and filters, what actions reach, and the objects of URLs are those of the officer's
``Scope``. A page without a capability does not start: ``audit.desk.page_checks`` is a system check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, wraps
from inspect import getmembers, isfunction
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar

from django.contrib.admin.filters import RelatedFieldListFilter
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.views.main import ChangeList
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.core.exceptions import FieldDoesNotExist, PermissionDenied
from django.db.models import ForeignKey, Model, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, register_converter
from django.urls.converters import IntConverter
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.access.capabilities import Capability
from audit.access.scope import Scope, officers_with
from audit.desk.empty_lists import Empty, nothing_matches
from audit.desk.typed_admin import ModelAdmin
from audit.models import Casino, Officer

Row = TypeVar("Row", bound=Model)
P = ParamSpec("P")


class SignedConverter(IntConverter):
    """A stream's id in a URL: half of them are negative."""

    regex = "-?[0-9]+"


register_converter(SignedConverter, "signed")


CHOSEN_CASINO = "casino"
"""The key of a session under which the id of the casino is that its officer has chosen to see."""

_SCOPES = "_cabochon_scopes"
"""The attribute of a request that holds the officer and their scopes, by capabilities."""


def officer_of(request: HttpRequest) -> Officer:
    """Return the signed-in officer, on a page that nobody else reaches."""
    officer = request.user
    assert isinstance(officer, Officer), "the admin site lets nobody else in"
    return officer


def scope_of(request: HttpRequest, *capabilities: Capability) -> Scope:
    """Return where the signed-in officer has one of ``capabilities``; nowhere if nobody is signed in.

    Each scope is built once for a request and the officer who is signed in by it, and dies with the request.
    """
    officer = request.user
    if not isinstance(officer, Officer):
        return Scope()
    built_for, built = request.__dict__.get(_SCOPES, (None, {}))
    scopes: dict[tuple[Capability, ...], Scope] = built if built_for is officer else {}
    request.__dict__[_SCOPES] = (officer, scopes)
    if capabilities not in scopes:
        scopes[capabilities] = Scope.of(officer, *capabilities)
    return scopes[capabilities]


def chosen_casino(request: HttpRequest) -> int | None:
    """Return the casino that the officer has chosen to see; None for all of theirs, or if it is theirs no more."""
    chosen = request.session.get(CHOSEN_CASINO)
    return chosen if isinstance(chosen, int) and scope_of(request, *Capability).includes(chosen) else None


def is_of_sandbox(request: HttpRequest) -> bool:
    """Return whether the officer has chosen to see a sandbox."""
    chosen = chosen_casino(request)
    return chosen is not None and Casino.objects.filter(pk=chosen, is_sandbox=True).exists()


def note_casino(request: HttpRequest, casino_id: int | None) -> None:
    """Have the page of one row say so if the row is of a sandbox, whichever casino the officer has chosen."""
    request._casino_of_page = casino_id  # type: ignore[attr-defined]


def casino_of_page(request: HttpRequest) -> int | None:
    """Return the casino that a page noted; None for a list, or what belongs to no casino."""
    return getattr(request, "_casino_of_page", None)


def note_section(request: HttpRequest, name: str) -> None:
    """Have the navigation mark the page that it has under ``name``, and not the one to which the address belongs."""
    request._section_of_page = name  # type: ignore[attr-defined]


def section_of_page(request: HttpRequest) -> str:
    """Return the name in the navigation that a page noted, else the name of its URL; "" for an unknown address."""
    noted: str = getattr(request, "_section_of_page", "")
    match = request.resolver_match
    return noted or (match.url_name or "" if match is not None else "")


def narrowed(rows: QuerySet[Row], request: HttpRequest, casino: str = "casino") -> QuerySet[Row]:
    """Return those of ``rows`` that a list shows: of the chosen casino and of none, or all. No page of one row uses
    it: that opens by the officer's scope alone. ``casino`` is the lookup from a row to its casino.

    What is of a sandbox is shown to who has chosen that sandbox, and stands in no list with what is of casinos.
    """
    chosen = chosen_casino(request)
    if chosen is None:
        return rows.exclude(**{f"{casino}__in": Casino.objects.filter(is_sandbox=True)})
    return rows.filter(Q(**{casino: chosen}) | Q(**{f"{casino}__isnull": True}))


def in_record(rows: QuerySet[Row], request: HttpRequest) -> QuerySet[Row]:
    """Return those of ``rows``, for a list, that belong to a casino whose record the officer may see."""
    return narrowed(scope_of(request, Capability.SEE_RECORD).rows(rows), request)


def casinos_in_record(request: HttpRequest) -> QuerySet[Casino]:
    """Return the casinos, for a list, whose record the officer may see, in the order of their codes."""
    return narrowed(scope_of(request, Capability.SEE_RECORD).casinos(), request, "pk")


class OfChosenCasino(ChangeList):
    """The list of a section, of the chosen casino alone."""

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, *args, **kwargs)
        assert isinstance(self.model_admin, ScopedAdmin), "each section of the desk is scoped"
        self.title = self.model_admin.title_of_list(request)

    def get_queryset(self, request: HttpRequest, *args: Any, **kwargs: Any) -> QuerySet[Any]:
        rows = super().get_queryset(request, *args, **kwargs)
        section = self.model_admin
        assert isinstance(section, ScopedAdmin), "each section of the desk is scoped"
        try:
            section.opts.get_field(section.casino.partition("__")[0])
        except FieldDoesNotExist:  # of casinos themselves, and of officers, who may be of several
            return rows
        return narrowed(rows, request, section.casino)

    def get_query_string(self, new_params: Mapping[str, Any] | None = None, remove: Iterable[str] | None = None) -> str:
        """Return the query of this list, changed: as Django does, which writes all of it anew for each of the some
        hundred choices of its filters."""
        parts = dict(self._kept(tuple(remove or ())))
        for name, value in (new_params or {}).items():
            parts.pop(name, None)
            if value is not None:
                parts[name] = _as_query(name, tuple(value) if isinstance(value, list | tuple) else str(value))
        return "?" + "&".join(parts[name] for name in sorted(parts))

    def _kept(self, removed: tuple[str, ...]) -> Mapping[str, str]:
        """Return the parameters whose name begins with none of ``removed``, each as the query has it, by name."""
        kept: dict[tuple[str, ...], Mapping[str, str]] = self.__dict__.setdefault("_kept_parameters", {})
        if removed not in kept:
            kept[removed] = {
                name: _as_query(name, tuple(value))
                for name, value in self.filter_params.items()
                if not name.startswith(removed)
            }
        return kept[removed]


@lru_cache(4_096)
def _as_query(name: str, value: str | tuple[str, ...]) -> str:
    """Return a parameter of a query with its value or values. The filters of a list offer the same at every request."""
    return urlencode([(name, value)], doseq=True)


def demands(*capabilities: Capability) -> Callable[[Callable[P, HttpResponse]], Callable[P, HttpResponse]]:
    """Decorate a view, or a method that is one: only officers with one of ``capabilities`` at some casino reach it.

    Which casino's rows they reach is the view's own to ask (``scope_of``, ``ScopedAdmin.row_or_404``).
    """

    def decorate(view: Callable[P, HttpResponse]) -> Callable[P, HttpResponse]:
        @wraps(view)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            request = next(each for each in args if isinstance(each, HttpRequest))
            if not scope_of(request, *capabilities):
                raise PermissionDenied
            return view(*args, **kwargs)

        guarded.demanded = capabilities  # type: ignore[attr-defined]  # read by the system check
        return guarded

    return decorate


def at(address: str) -> Callable[[Callable[P, HttpResponse]], Callable[P, HttpResponse]]:
    """Decorate a view of a section that is no page of Django's own, with its ``address`` below the section's.

    Its name is the model's and the method's: that of ``start_view`` of jobs is ``audit_job_start``.
    """

    def decorate(view: Callable[P, HttpResponse]) -> Callable[P, HttpResponse]:
        view.address = address  # type: ignore[attr-defined]
        return view

    return decorate


class ScopedRelatedFilter(RelatedFieldListFilter):
    """Django's filter by a related row, with the choices that are in the officer's scope."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[tuple[Any, Any]]:
        capabilities = (*model_admin.sees, *model_admin.changes)
        rows = model_admin.related_rows(request, field.remote_field.model, capabilities)
        return [(row.pk, str(row)) for row in rows]


class ScopedAdmin(ModelAdmin[Row]):
    """A section of the desk over a model. Without a capability, its rows are a superuser's alone.

    ``sees`` are the capabilities of which any shows a row, ``changes`` those of which any adds or changes one.
    ``casino`` is the lookup from a row to its casino. ``counted`` is what ``number`` rows are called, by
    ``ngettext_lazy``: for a section whose name is no plural, as “quarantine” is none; None for the model's names.
    """

    sees: tuple[Capability, ...] = ()
    changes: tuple[Capability, ...] = ()
    casino = "casino"
    counted: Any = None
    listed_as: str | Promise = ""
    """What the navigation calls the list, where that is not the name of the model."""
    when_empty: str | Promise = gettext_lazy("Nothing is listed here yet.")
    """What the list says while it has no row: what is so, and what comes next."""
    when_empty_of: Mapping[str, str | Promise] = MappingProxyType({})
    """The same of a list that is narrowed by one parameter alone, by that as a query has it: “answered=no”."""

    def get_urls(self) -> list[URLPattern]:
        """Return the addresses of the section: its own (``at``), and Django's."""
        own = getmembers(type(self), lambda each: isfunction(each) and hasattr(each, "address"))
        names = {name: f"audit_{self.opts.model_name}_{name.removesuffix('_view')}" for name, _view in own}
        view = self.admin_site.admin_view
        return [
            *(path(each.address, view(getattr(self, name)), name=names[name]) for name, each in own),
            *super().get_urls(),
        ]

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._is_within(scope_of(request, *self.sees, *self.changes), obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._is_within(scope_of(request, *self.changes), None)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._is_within(scope_of(request, *self.changes), obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Forbid deleting, unless a section allows it: the record refers to its rows."""
        return False

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return OfChosenCasino

    def title_of_list(self, request: HttpRequest) -> str:
        """Return the name of the list in the navigation; Django's own title invites to select a row."""
        return capfirst(str(self.listed_as or self.opts.verbose_name_plural))

    def emptiness(self, request: HttpRequest, listed: ChangeList) -> Empty:
        """Return what a list without a row says; one that is narrowed, how all of it is listed."""
        narrowed_by = listed.get_filters_params()
        if not listed.query and not narrowed_by:
            return Empty(str(self.when_empty))
        words = self.when_empty_of.get(urlencode(narrowed_by, doseq=True)) if not listed.query else None
        return Empty(str(words)) if words is not None else nothing_matches(listed.query)

    def action_checkbox(self, obj: Row) -> SafeString:
        """Return the box that selects a row: as Django's, without a widget and a template for each.

        The label around it is what a finger touches on a phone.
        """
        return format_html(
            '<label class="tick"><input type="checkbox" name="{}" value="{}" class="action-select"'
            ' aria-label="{}"></label>',
            ACTION_CHECKBOX_NAME,
            str(obj.pk),
            _("Select %(reference)s") % {"reference": obj},
        )

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the form under a title without an article, which French would have to elide before a vowel."""
        title = _("Add: %(what)s") % {"what": self.opts.verbose_name}
        return super().add_view(request, form_url, {"title": title, **(extra_context or {})})

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Show a form under the name of its row, with the one button to save it, if there is anything to save."""
        row = context.get("original")
        if row is not None:
            context |= {"title": self.title_of(row), "subtitle": None}
        no_others = {"show_save_and_add_another": False, "show_save_and_continue": False}
        context |= {**no_others, "show_save": bool(context["adminform"].form.fields)}
        return super().render_change_form(request, context, *args, **kwargs)

    def title_of(self, row: Any) -> str:
        """Return the title of the page of a row."""
        return capfirst(str(row))

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Answer that there is no such page: what was changed, and by whom, is in the officers' trail."""
        raise Http404

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Choose a row from a list alone, without icons that open a window; end no label with a colon."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None:
            field.label_suffix = ""
        if field is not None and isinstance(field.widget, RelatedFieldWidgetWrapper):
            choices = field.widget.choices
            field.widget = field.widget.widget
            field.widget.choices = choices
        return field

    def _is_within(self, scope: Scope, row: Model | None) -> bool:
        return bool(scope) if row is None else scope.includes(self.casino_id_of(row))

    def casino_id_of(self, row: Model) -> int | None:
        """Return the id of the casino that a row belongs to; None for a row of the installation."""
        found: Any = row
        *path, last = self.casino.split("__")
        for name in path:
            found = getattr(found, name)
        return found.pk if last == "pk" else getattr(found, f"{last}_id")  # type: ignore[no-any-return]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Row]:
        return scope_of(request, *self.sees, *self.changes).rows(super().get_queryset(request), casino=self.casino)

    def related_rows(
        self, request: HttpRequest, model: type[Model], capabilities: Sequence[Capability]
    ) -> QuerySet[Any]:
        """Return the rows of a related model that the officer may choose: of casinos where one of ``capabilities``
        is theirs. Of a model that belongs to no casino, none."""
        scope = scope_of(request, *capabilities)
        if scope.is_everywhere:
            return model._default_manager.all()
        if model is Casino:
            return scope.casinos()
        if model is Officer:
            return officers_with(Capability.SEE_RECORD, scope.casino_ids)
        try:
            model._meta.get_field("casino")
        except FieldDoesNotExist:
            return model._default_manager.none()
        return scope.rows(model._default_manager.all())

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        kwargs.setdefault("queryset", self.related_rows(request, db_field.remote_field.model, self.changes))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        kwargs.setdefault("queryset", self.related_rows(request, db_field.remote_field.model, self.changes))
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Return what the form of a new row begins with: its casino, where the officer may choose only one."""
        initial: dict[str, Any] = super().get_changeform_initial_data(request)
        if any(field.name == "casino" and not field.null for field in self.opts.fields):
            casinos = scope_of(request, *self.changes).casinos()[:2]
            if len(casinos) == 1:
                initial.setdefault("casino", casinos[0].pk)
        return initial

    def get_list_filter(self, request: HttpRequest) -> Any:
        """Return the filters; those by a related row offer the rows of the officer's scope."""
        return [self._scoped_filter(each) for each in super().get_list_filter(request)]

    def _scoped_filter(self, named: Any) -> Any:
        if isinstance(named, str) and isinstance(self.opts.get_field(named), ForeignKey):
            return (named, ScopedRelatedFilter)
        return named

    def save_model(self, request: HttpRequest, obj: Row, form: Any, change: bool) -> None:
        """Save a row whose casino, as the form has it now, is in the officer's scope."""
        if not self._is_within(scope_of(request, *self.changes), obj):
            raise PermissionDenied
        super().save_model(request, obj, form, change)

    def page(self, request: HttpRequest, template: str, /, **context: Any) -> TemplateResponse:
        """Answer with a page of the section: ``context`` is what it has beside what every page has."""
        return TemplateResponse(
            request, template, {**self.admin_site.each_context(request), "opts": self.opts, **context}
        )

    def is_of_one_row(self, request: HttpRequest) -> bool:
        """Return whether a request is for the page of one row, which shows more of it than a list does."""
        return request.resolver_match is not None and "object_id" in request.resolver_match.kwargs

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Row | None:
        """Return the row of a page, None if the officer does not see it, and note its casino."""
        row = super().get_object(request, object_id, from_field)
        if row is not None:
            note_casino(request, self.casino_id_of(row))
        return row

    def row_or_404(self, request: HttpRequest, object_id: str | int, *capabilities: Capability) -> Row:
        """Return the row of a page. Raise ``Http404`` if the officer does not see it, and ``PermissionDenied`` if
        they see no row of the section, or none of ``capabilities``, where any are given, is theirs at its casino."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = self.get_object(request, str(object_id))
        if row is None:
            raise Http404
        if capabilities and not self._is_within(scope_of(request, *capabilities), row):
            raise PermissionDenied
        return row


class RecordAdmin(ScopedAdmin[Row]):
    """A read-only table of the record: no form, no way to add, change or delete a row."""

    sees = (Capability.SEE_RECORD,)
    actions: Any = None
    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
