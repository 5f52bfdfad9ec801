"""Django's admin classes with a type parameter, which django-stubs gives them and Django itself does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from django.db.models import Model

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin, StackedInline
else:
    from django.contrib import admin

    Child = TypeVar("Child", bound=Model)
    Row = TypeVar("Row", bound=Model)

    class ModelAdmin(admin.ModelAdmin, Generic[Row]):
        pass

    class StackedInline(admin.StackedInline, Generic[Child, Row]):
        pass


__all__ = ["ModelAdmin", "StackedInline"]
