"""Below a list is how many rows it has, by what one row is called: never by the name of a section."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from django.utils import translation

from audit.models import Deadline, Officer
from audit.templatetags.presentation import counted
from tests.audit.casework.test_actions import sign_in


def of(section: Any, number: int) -> str:
    return counted(SimpleNamespace(model_admin=section, opts=section.opts, result_count=number))  # type: ignore[arg-type]


def section(name: str) -> Any:
    return next(each for model, each in admin.site._registry.items() if model._meta.model_name == name)


def test_every_list_counts_its_rows_with_a_plural() -> None:
    with translation.override("en"):
        sections = [each for each in admin.site._registry.values() if each.opts.app_label == "audit"]
        assert len(sections) > 10
        texts = [of(each, 20) for each in sections]
    singular = [text for text in texts if not any(word.endswith("s") for word in text.split())]
    assert singular == []


@pytest.mark.parametrize(
    ("name", "number", "english", "french"),
    [
        ("ledgerprocess", 20, "20 tests", "20 tests"),
        ("ledgerprocess", 1, "1 test", "1 test"),
        ("registerentry", 2, "2 entries of the register", "2 inscriptions au registre"),
        ("quarantined", 2, "2 quarantined requests", "2 requêtes en quarantaine"),
        ("nightreport", 1, "1 night", "1 nuit"),
        ("nightreport", 3, "3 nights", "3 nuits"),
    ],
)
def test_rows_are_counted_by_what_one_of_them_is_called(name: str, number: int, english: str, french: str) -> None:
    with translation.override("en"):
        assert of(section(name), number) == english
    with translation.override("fr"):
        assert of(section(name), number) == french


@pytest.mark.django_db
def test_the_page_says_so() -> None:
    desk = Client()
    sign_in(desk, Officer.objects.create_superuser("chief"))
    shown = desk.get(reverse("admin:audit_deadline_changelist"), headers={"accept-language": "en"})
    number = Deadline.objects.count()
    assert re.search(rf'<p class="paginator">\s*{number} deadlines\s*</p>', shown.content.decode())
