"""Every list of the desk without a row says what is so and what comes next, and offers no action on rows."""

from __future__ import annotations

import re

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from audit.desk.scoped_admin import ScopedAdmin
from audit.models import Deadline, InformationSigning, Officer
from tests import citus
from tests.audit.casework.test_actions import client_of
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db

SECTIONS = {
    str(model._meta.model_name): section
    for model, section in admin.site._registry.items()
    if isinstance(section, ScopedAdmin) and model is not InformationSigning  # its page lists nights, not its rows
}

NEVER_EMPTY = {"officer", "deadline"}
"""Who looks is an officer, and the installation has deadlines."""


@pytest.fixture(scope=citus.MODULE)
def chief(module_db: None) -> Officer:
    """One officer for all tests: what every page counts is a query that is kept by the officer."""
    return Officer.objects.create_superuser("chief")


@pytest.fixture
def client(chief: Officer, db: None) -> Client:
    return client_of(chief)


def page_of(client: Client, model: str, query: str = "", language: str = "en") -> str:
    address = reverse(f"admin:audit_{model}_changelist")
    return client.get(f"{address}?{query}", headers={"accept-language": language}, follow=True).content.decode()


def empty_in(page: str) -> str:
    (empty,) = re.findall(r'<p class="empty dim">(.*?)</p>', page[page.index('id="changelist"') :])
    return str(empty)


@pytest.mark.parametrize("model", sorted(SECTIONS.keys() - NEVER_EMPTY))
def test_an_empty_list_says_so_in_two_sentences_of_its_own(
    client: Client, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = SECTIONS[model]
    # Tests that commit leave rows for everybody who sees all casinos.
    monkeypatch.setattr(type(section), "get_queryset", lambda self, _request: self.model._default_manager.none())
    page = page_of(client, model)
    empty = empty_in(page)
    if model != "finding":  # its queues have words of their own
        assert section.when_empty != ScopedAdmin.when_empty
        assert empty == str(section.when_empty).replace("'", "&#x27;")
    assert len(re.findall(r"[.:](?:\s|$)", empty)) > 1, "what is so, and what comes next"
    assert 'name="action"' not in page, "nothing can be selected"
    assert "paginator" not in page, "and nothing is counted"
    assert empty_in(page_of(client, model, language="fr")) != empty


@pytest.mark.parametrize("model", in_short(sorted(SECTIONS), every=6))
def test_a_list_that_nothing_matches_says_so_and_leads_to_all_of_it(client: Client, model: str) -> None:
    field = SECTIONS[model].opts.pk.name
    empty = empty_in(page_of(client, model, f"{field}=-1"))
    assert "Nothing matches these filters." in empty
    assert '<a class="link" href="?">Clear all filters</a>' in empty


def test_what_was_searched_is_repeated_as_text(client: Client) -> None:
    empty = empty_in(page_of(client, "gamingtable", "q=<b>R9"))
    assert "Nothing matches “&lt;b&gt;R9”." in empty


@pytest.mark.parametrize(
    ("model", "query", "words"),
    [
        ("complaint", "answered=no", "No complaint is waiting for an answer."),
        ("job", "kind__exact=verify", "Nobody has requested a verification yet."),
        ("job", "kind__exact=export", "No export was requested."),
    ],
)
def test_a_list_that_is_opened_narrowed_has_words_for_that(client: Client, model: str, query: str, words: str) -> None:
    assert words in empty_in(page_of(client, model, query))
    with_more = empty_in(page_of(client, model, f"{query}&id=-1"))
    assert "Nothing matches these filters." in with_more


def test_a_list_with_rows_has_its_actions_and_their_number(client: Client) -> None:
    number = Deadline.objects.count()
    assert number > 1
    page = page_of(client, "deadline")
    assert 'class="empty' not in page
    assert f"{number} deadlines" in page
