"""What of the law is checked: the command, the pages of the docs, and the words of both."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.utils.translation import override

import settlement
from audit.adjudication.replay import advance
from audit.exports.law_coverage import tally, texts
from audit.management.commands.coverage import PAGES, page
from settlement.law import LAW_TEXTS
from settlement.law_coverage.session import in_session
from settlement.rulesets import RULESETS
from tests.audit.tables import Tenant, dice_changed_in_mid_series


def printed(*arguments: str) -> str:
    out = StringIO()
    call_command("coverage", *arguments, stdout=out)
    return out.getvalue()


# The command


def test_the_command_prints_the_list_of_a_ruleset() -> None:
    assert json.loads(printed("--ruleset", "qc-craps", "--json")) == settlement.coverage("qc-craps")
    assert json.loads(printed("--json")) == {name: settlement.coverage(name) for name in RULESETS}


def test_the_command_prints_every_sentence_with_its_rules_in_both_languages() -> None:
    report = printed("--ruleset", "fr-american-roulette")
    assert "checked\n  Le personnel affecté à chaque appareil" in report
    assert "    table-without-chief, staffing-invalid" in report
    assert "a table would have to report the speed" in " ".join(report.split())
    assert "la vitesse de la bille" in " ".join(
        printed("--ruleset", "fr-american-roulette", "--language", "fr").split()
    )


def test_the_command_counts_the_sentences_of_every_ruleset() -> None:
    lines = printed().splitlines()
    assert [line.partition(":")[0] for line in lines] == list(RULESETS)
    assert all(" checked, " in line for line in lines)


@pytest.mark.django_db(transaction=True)
def test_the_command_crosses_the_list_with_what_a_session_reports() -> None:
    tenant = Tenant()
    assert tenant.post("s", dice_changed_in_mid_series(tenant, "s")).status_code == 201
    with pytest.raises(CommandError, match="not been adjudicated yet"):
        printed("--stream", f"{tenant.code}/s")
    advance(tenant.stream("s").stream_id)
    entries = json.loads(printed("--stream", f"{tenant.code}/s", "--json"))
    offered = next(each for each in entries if each["rules"][:1] == ["first-shooter-not-left-of-croupiers"])
    assert offered["state"] == "checked"
    late = next(each for each in entries if "wager-after-no-more-bets" in each["rules"])
    assert (late["state"], late["lacking"]) == ("not checked", ["calls"])
    assert "not checked (calls)\n  Aucune mise ne peut" in printed("--stream", f"{tenant.code}/s")
    with pytest.raises(CommandError, match="no such stream"):
        printed("--stream", f"{tenant.code}/another")


# Pages


@pytest.mark.parametrize("language", sorted(PAGES))
def test_the_page_of_the_docs_is_up_to_date(language: str) -> None:
    written = (settings.BASE_DIR / PAGES[language]).read_text()
    assert written == page(language), "run manage.py coverage --page"


@pytest.mark.parametrize("language", sorted(PAGES))
def test_the_page_of_the_docs_has_every_sentence_and_every_rule(language: str) -> None:
    written = page(language)
    for name in RULESETS:
        title = RULESETS[name].title.in_language("fr" if language == "fr" else "en")
        assert f'id="{name}">\n<h2>{title[0].upper()}{title[1:]} <' in written
    for rule in settlement.catalogue.RULES:
        assert f"<code>{rule}</code>" in written
    every = sum(len(in_session(name, ())) for name in RULESETS)
    assert written.count('<details class="sentence ') == every


def test_the_words_of_a_page_are_those_of_the_law() -> None:
    sentences = in_session("fr-roulette", ())
    [own, *_by_analogy] = texts(sentences)
    assert "".join(own.text.content.removeprefix("#").split()) == "".join(
        "".join(each.words.split()) for each in own.sentences
    )
    assert own.text is LAW_TEXTS["fr-art-54"]


@pytest.mark.parametrize(
    ("language", "word"), [("en", "obligations checked in part"), ("fr", "obligations vérifiées en partie")]
)
def test_a_state_is_a_word_of_the_language(language: str, word: str) -> None:
    with override(language):
        counted: dict[str, Any] = {each.css: each for each in tally(in_session("fr-craps", ["calls", "custody"]))}
        assert counted["partly-checked"].state == word
        assert counted["partly-checked"].number >= 1
        assert "silent" not in counted
