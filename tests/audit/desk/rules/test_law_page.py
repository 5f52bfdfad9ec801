"""A text of law sentence by sentence: nothing is left out, each rule with its findings, and what the page costs."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.adjudication.replay import advance
from audit.desk.rules import law
from audit.models import Finding, Role
from settlement.law import LAW_TEXTS
from settlement.law_coverage import covered, governing
from settlement.rulesets import RULESETS
from tests.audit.casework.test_actions import hired, sign_in
from tests.audit.register.register_desk import RegisterDesk
from tests.audit.tables import Tenant, dice_changed_in_mid_series

pytestmark = pytest.mark.django_db

IN_MID_SERIES = "dice-changed-during-point-series"


def play(tenant: Tenant, *streams: str) -> None:
    for stream in streams:
        assert tenant.post(stream, dice_changed_in_mid_series(tenant, stream)).status_code == 201
        advance(tenant.stream(stream).stream_id)


def desk_of(tenant: Tenant, language: str = "en") -> Client:
    client = Client(headers={"accept-language": language})
    sign_in(client, hired(tenant, Role.AUDITOR, f"auditor-{tenant.code}"))
    return client


def shown(client: Client, text: str) -> str:
    response = client.get(reverse("admin:law", args=(text,)))
    assert response.status_code == 200
    return response.content.decode()


def read(page: str) -> str:
    """Return a page as it is read."""
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", page).split()))


def words(text: str) -> str:
    """Return what a text says, without blanks and the marks of a heading."""
    return re.sub(r"\s|^# ", "", text)


@pytest.mark.parametrize("text", sorted(LAW_TEXTS))
def test_no_word_of_a_text_is_left_out_and_every_sentence_has_a_letter(text: str) -> None:
    page = shown(desk_of(Tenant()), text)
    sentences = re.findall(
        r'<span class="sentence ([\w-]+)">(.*?)</b>(?:<sup[^>]*>\d+</sup>)?</span>(.*?)</span> ', page
    )
    assert words("".join(unescape(sentence) for _state, _letter, sentence in sentences)) == words(
        LAW_TEXTS[text].content
    )
    assert {state for state, _letter, _words in sentences} <= {"checked", "reading", "defines", "not-observable"}


@pytest.mark.parametrize("ruleset", RULESETS)
def test_every_rule_of_every_ruleset_that_a_text_governs_answers_for_its_sentences(ruleset: str) -> None:
    for each in covered(ruleset):
        if each.text in governing(ruleset):
            [own] = [one for one in law.sentences_of(each.text) if one.sentence.start == each.start]
            assert set(each.rules) <= set(own.sentence.rules)
            assert set(each.readings) <= set(own.sentence.readings)


def test_a_rule_says_what_it_needs_and_how_often_it_came_up_at_the_officers_own_casino() -> None:
    tenant = Tenant()
    play(tenant, "s", "t")
    found = Finding.objects.standing().filter(casino=tenant.casino, rule=IN_MID_SERIES).count()
    assert found == 2
    page = shown(desk_of(tenant), "fr-art-55-7")
    own = r"Dice changed during a point series critical, needs who holds the equipment, results · "
    assert re.search(own + "2 findings", read(page))
    assert f'href="{reverse("admin:rule", args=(IN_MID_SERIES,))}"' in page
    assert re.search(own + "no finding", read(shown(desk_of(Tenant()), "fr-art-55-7")))


def test_findings_under_another_text_are_not_counted_with_a_rule_that_both_have() -> None:
    tenant = Tenant()
    play(tenant, "s")
    found = Finding.objects.standing().filter(casino=tenant.casino).values_list("rule", flat=True)
    shared = set(law.watched(law.sentences_of("fr-art-54"))) & set(law.watched(law.sentences_of("fr-art-55-8")))
    assert "payout-overpaid" in shared & set(found)
    client = desk_of(tenant)
    assert re.search(r"Paid too much [^·]+ · 1 finding", read(shown(client, "fr-art-55-8")))
    assert "0 findings in the last 31 gaming days" in read(shown(client, "fr-art-54"))


def test_a_reading_that_may_be_set_leads_to_a_what_if_run_and_no_other_does() -> None:
    page = shown(desk_of(Tenant()), "fr-art-55-7")
    assert "?reading=throw_delay_s" in page
    assert "?reading=rubbing_the_dice" not in page


def test_the_sessions_of_a_text_are_the_officers_own() -> None:
    tenant, other = Tenant(), Tenant()
    play(tenant, "s")
    address = reverse("admin:audit_loggedstream_coverage", args=(tenant.stream("s").stream_id,))
    own = desk_of(tenant)
    assert f'href="{address}?text=fr-art-55-7"' in shown(own, "fr-art-55-7")
    assert address not in shown(own, "fr-art-54")
    assert address not in shown(desk_of(other), "fr-art-55-7")


def test_a_sentence_that_defines_no_bet_says_what_it_is() -> None:
    client = desk_of(Tenant())
    page = read(shown(client, "fr-art-55-7"))
    assert "D Number of the text" in page
    assert "D Heading: which tables it binds" in page
    assert "D No limit to check: seats of a craps table have no maximum" in page
    assert "defines" not in page
    assert "clauses with words that had to be settled" in page
    assert "defines 9 bets" in read(shown(client, "fr-art-54"))  # what is a multiple chance


@pytest.mark.parametrize(("text", "cited"), [("fr-art-55-7", "al. 2"), ("qc-s-13.1-r-3-s-95.17", "para. 2")])
def test_a_paragraph_is_cited_as_wherever_its_text_is_cited(text: str, cited: str) -> None:
    page = shown(desk_of(Tenant()), text)
    assert f"<small>{cited}</small>" in page


def test_a_text_that_there_is_not_has_no_page() -> None:
    assert desk_of(Tenant()).get(reverse("admin:law", args=("fr-art-1",))).status_code == 404


def test_the_page_is_in_french_with_letters_of_its_own() -> None:
    page = read(shown(desk_of(Tenant(), "fr"), "fr-art-55-7"))
    assert "Article 55-7, phrase par phrase" in page
    assert "V Aucune mise ne peut" in page.replace(" 1 Aucune", " Aucune")


@pytest.mark.django_db(transaction=True)  # as a request is, of which something is kept
def test_the_page_costs_the_same_with_more_findings_and_sessions() -> None:
    tenant = Tenant()
    play(tenant, "s")
    client = desk_of(tenant)

    def queries() -> int:
        shown(client, "fr-art-55-7")
        with CaptureQueriesContext(connection) as captured:
            shown(client, "fr-art-55-7")
        return len(captured)

    once = queries()
    play(tenant, "t", "u")
    assert queries() == once <= 12


def text_of_reading(reading: str) -> str:
    """Return a text one of whose sentences leaves a reading open, for the rulesets of the session of these tests."""
    return next(
        text for text in LAW_TEXTS for each in law.sentences_of(text)
        if reading in each.sentence.readings and "fr-craps" in " ".join(law.governed_by(text))
    )  # fmt: skip


def test_what_the_register_decides_stands_before_what_holds_without_it() -> None:
    desk, elsewhere = RegisterDesk(), RegisterDesk()
    text = text_of_reading("payout_unit")
    client = desk_of(desk.tenant)
    assert "by the register" not in read(shown(client, text))
    play(desk.tenant, "s")
    desk.decided("payout_unit", 50)
    desk.decided("payout_unit", 25, table=desk.table("T2"))
    elsewhere.decided("payout_unit", 77)
    page = read(shown(client, text))
    assert f"{desk.casino}: €0.50" in page
    assert f"{desk.casino}, table T2: €0.25" in page
    assert "by the register, since" in page
    assert str(elsewhere.casino) not in page
    assert page.index("€0.50") < page.index("Where no register decides:")
    desk.decided("payout_unit", None)
    assert f"{desk.casino}: €0.50" not in read(shown(client, text)), "revoked"


def test_the_register_costs_one_query_however_many_entries_it_has() -> None:
    desk = RegisterDesk()
    text = text_of_reading("payout_unit")
    client = desk_of(desk.tenant)

    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            shown(client, text)
        return len(queries)

    desk.decided("payout_unit", 50)
    before = cost()
    for value in (25, 10, 5):
        desk.decided("payout_unit", value, table=desk.table("T1"))
    assert cost() == before


def test_a_session_shows_the_register_that_it_was_read_by() -> None:
    desk = RegisterDesk()
    desk.decided("payout_unit", 50)
    play(desk.tenant, "s")
    stream = desk.tenant.stream("s")
    address = reverse("admin:audit_loggedstream_coverage", args=(stream.stream_id,))
    text = next(
        each for each in LAW_TEXTS
        if stream.ruleset in law.governed_by(each)
        and any("payout_unit" in every.sentence.readings for every in law.sentences_of(each))
    )  # fmt: skip
    client = desk_of(desk.tenant)
    page = read(client.get(f"{address}?text={text}").content.decode())
    assert f"{desk.casino}: €0.50" in page
    desk.decided("payout_unit", 25)
    assert "€0.50" in read(client.get(f"{address}?text={text}").content.decode()), "until it is read again"
