"""The words of the code are those of ``docs/glossary.md``, the old do not come back, and no sentence stops a reader."""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests import words
from tests.words import (
    LIST,
    PLACES,
    all_hits_in,
    allowed_stoppers,
    exceptions,
    files,
    files_of_prose,
    hits_in,
    in_name,
    in_text,
    old_words,
    rows,
    stoppers_in,
    stoppers_of,
    texts_for_officers,
    unread_wordings_in,
)


def test_no_old_word_is_used_and_every_exception_has_a_reason_and_is_still_needed() -> None:
    """One test, because to read every file takes seconds."""
    hits = [str(hit) for file in files() for hit in hits_in(file)]
    assert not hits, f"{len(hits)} old words, see tests/words.md\n" + "\n".join(hits)
    stale = []
    for exception in exceptions():
        assert len(exception.reason) > 10, exception
        standing = {
            word
            for file in files()
            if fnmatch(file, exception.files)
            for hit in all_hits_in(file)
            for word in (hit.word, hit.seen)
        }
        stale += [f"{exception.files}: {word}" for word in exception.words if word not in standing]
    assert stale == []


def test_each_row_of_the_list_says_what_to_use_and_where_it_is_checked() -> None:
    assert len(old_words()) > 20
    for old in old_words():
        assert old.words
        assert old.use
        assert old.places
        assert old.places <= PLACES, old


def test_no_word_is_listed_twice() -> None:
    listed = [(word, place) for old in old_words() for word in old.words for place in old.places]
    assert len(listed) == len(set(listed))


# What the check sees in a name, by hand: the name, and the old words in it.
NAMES = """
    said                 said
    said_again           said
    _asked_for           asked
    Work                 work
    WorkState            work
    network
    is_working
    casework
    BESIDE               beside
    let_stand            let_stand
    outlet_stand
    houses               houses
    place                place
    place_bet
    replace
"""


@pytest.mark.parametrize("row", NAMES.strip().splitlines(), ids=str.strip)
def test_an_old_word_is_a_part_of_a_name(row: str) -> None:
    name, *expected = row.split()
    assert [word for word, _use in in_name(name)] == expected


def test_an_old_phrase_is_found_over_a_line_break_and_in_any_case() -> None:
    found = [(down, word) for down, word, _seen, _use in in_text("It is what a\nReplay\n  beside finds.")]
    assert found == [(1, "replay beside")]


def test_words_in_backquotes_are_quoted_and_not_used() -> None:
    assert list(in_text("`replay beside` is now a what-if run")) == []


def test_the_house_is_the_bank_and_a_house_is_a_casino() -> None:
    assert [word for _, word, _, _ in in_text("The house edge is what the house keeps.")] == []
    assert [word for _, word, _, _ in in_text("Each house has its night.")] == ["each house"]


def test_names_are_seen_wherever_they_are_written() -> None:
    source = '''
def f(said, *, told=None):
    """Return the replay beside."""
    asked = x.trouble  # a replay beside
    path("x/", view, name="audit_work_again")
    return {"said": asked}
'''
    hits = [(hit.line, hit.word) for hit in sorted(words._in_python("x.py", source, ast.parse(source)))]
    assert hits == [
        (2, "said"),
        (2, "told"),
        (3, "replay beside"),
        (4, "asked"),
        (4, "replay beside"),
        (4, "trouble"),
        (5, "work"),
        (6, "asked"),
    ]


def test_templates_are_read_for_variables_urls_and_classes() -> None:
    page = """<p class="work {% if said %}now{% endif %}">{{ job.told }}</p>\n{% url 'admin:audit_work_list' %} said"""
    hits = [(hit.line, hit.word) for hit in sorted(words._in_template("x.html", page))]
    assert sorted(hits) == [(1, "said"), (1, "told"), (1, "work"), (2, "work")]


# Stoppers


def test_no_sentence_begins_with_who_or_what_and_none_is_told() -> None:
    """Over the English pages, the docstrings of the product and the English messages of the desk."""
    found = {file: hits for file in files_of_prose() if (hits := stoppers_of(file))}
    allowed = allowed_stoppers()
    more = [hit for file, hits in found.items() if len(hits) > allowed.get(file, 0) for hit in hits]
    listed = "\n".join(f"{hit.file}:{hit.line} {hit.word}: {hit.seen}" for hit in more)
    assert not more, f"{len(more)} stoppers\n{listed}"
    assert [file for file in allowed if file not in found] == [], "rows of tests/words.md that are needed no more"


# A text, and the stoppers in it.
STOPPED = {
    "Who decides is an officer.": ["Who decides is an officer"],
    "It waits. What was sent\nstays.": ["What was sent stays"],
    "* Whoever asks gets it. What else.": ["Whoever asks gets it", "What else"],
    "| a | What stays is kept. |": ["What stays is kept"],
    "| what happens | What holds |": [],
    "Who decides? An officer says what happens.": [],
    "An officer is\ntold of it, and nothing is said.": ["is told", "is said"],
    "The law has it that it is of no use.": ["has it that", "is of"],
    "It is of course that which counts.": ["that which"],
    "Figures of before stay.": ["of before"],
    "What-if runs read it.": [],
}


@pytest.mark.parametrize("text", STOPPED)
def test_a_stopper_is_seen(text: str) -> None:
    assert sorted(seen for _down, _name, seen in stoppers_in(text)) == sorted(STOPPED[text])


def test_a_stopper_has_its_line_and_code_and_headings_have_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(words, "ROOT", tmp_path)
    source = '''"""What a row is: a heading.

It says ``What is told.`` to nobody.

    What a diagram shows.

What follows it is read.
"""


def f():
    """Return it. Nobody is told."""
'''
    (tmp_path / "x.py").write_text(source)
    (tmp_path / "x.md").write_text("# What it is\n\nIt is.\n\n```\nWhat is it.\n```\n\nWhat is it.\n")
    assert [(hit.line, hit.seen) for hit in stoppers_of("x.py")] == [(7, "What follows it is read"), (12, "is told")]
    assert [(hit.line, hit.seen) for hit in stoppers_of("x.md")] == [(9, "What is it")]


def test_officers_words_are_called_alike_in_both_languages() -> None:
    listed = rows("Officers’ words", LIST.read_text())
    assert len(listed) >= 40
    odd = []
    for english, french in listed:
        word = re.compile(rf"(?<![\w-]){english}s?(?!\w)", re.I)
        for entry in words.catalogue(words.ROOT):
            french_text = (entry.msgstr or " ".join(entry.msgstr_plural.values())).lower()
            if word.search(re.sub(r"%\(\w+\)\w", "", entry.msgid)) and not any(
                each in french_text for each in french.split(", ")
            ):
                odd.append(f"{english}: {entry.msgid} → {french_text}")
    assert not odd, "\n".join(odd)


def test_no_text_for_officers_is_written_in_the_words_of_the_model() -> None:
    texts = list(texts_for_officers())
    assert {Path(file).suffix for file, _line, _text in texts} == {".po", ".py"}
    hits = [f"{file}:{line} {seen} → {use}" for file, line, text in texts for seen, use in unread_wordings_in(text)]
    assert not hits, f"{len(hits)} wordings, see tests/words.md\n" + "\n".join(hits)


@pytest.mark.parametrize(
    "text",
    [
        "%(number)s incidents fold %(findings)s findings.",
        "owed by nobody",
        "the stakes won or lost as chance seldom has it",
        "somebody who bet against chance at fair odds would have 12 times his stake",
        "What chance alone would rarely do",
        "the evidence reached its level; it stays asked",
        "given for 2026 before the first draw was looked at",
        "The record asks what its sessions give it reason to ask.",
        "%(process)s, %(subject)s: asks a question after this night; level %(alpha)s",
        "Names are marked at a false discovery rate of one in ten, whatever the dependence.",
        "Goes on as in prison, and is found.",
        "It only reads, and nothing waits for it.",
        "Nothing is called “%(typed)s” at your casinos.",
        "comme le hasard le veut rarement",
        "pose une question après cette nuit",
    ],
)
def test_a_wording_of_the_model_is_found(text: str) -> None:
    assert list(unread_wordings_in(text))
