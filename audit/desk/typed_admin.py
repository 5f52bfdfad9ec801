"""Django's admin classes with a type parameter, which django-stubs gives them and Django itself does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from django.db.models import Model

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin
else:
    from django.contrib import admin

    Row = TypeVar("Row", bound=Model)

    class ModelAdmin(admin.ModelAdmin, Generic[Row]):
        pass


__all__ = ["ModelAdmin"]
