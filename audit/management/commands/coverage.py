"""``manage.py coverage``: what of the law is checked, sentence by sentence, by a ruleset or in a session.

``--ruleset`` shows the list itself, ``--stream`` crosses it with what the session's table reports, ``--page`` writes
the pages of the docs, and nothing at all counts the sentences of every ruleset. Only ``--stream`` needs a database.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO, cast

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils.translation import override
from rich.padding import Padding
from rich.text import Text

from audit.adjudication.results import coverage_of, standing
from audit.exports.law_coverage import docs_page, tally, texts
from audit.management.pages import page_of_docs
from audit.management.terminal import BaseCommand, Console
from audit.models import LoggedStream
from audit.presentation import provision
from settlement import RULESETS, coverage
from settlement.law_coverage.session import SessionSentence, in_session

PAGES = {"en": Path("docs/coverage.html"), "fr": Path("docs/coverage.fr.html")}
STYLE = Path("audit/static/audit/law.css")

COLOURS = {
    "checked": "green",
    "partly-checked": "yellow",
    "not-checked": "red",
    "not-observable": "bright_black",
    "reading": "magenta",
    "defines": "blue",
}


def page(language: str) -> str:
    """Return the page of the docs in ``language``."""
    return docs_page((settings.BASE_DIR / STYLE).read_text(), language)


class Command(BaseCommand):
    help = "Show what of the law is checked, sentence by sentence: by a ruleset, or in a session."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        mode = parser.add_mutually_exclusive_group()
        mode.add_argument("--ruleset", choices=sorted(RULESETS), help="every sentence, as this ruleset reads it")
        mode.add_argument("--stream", metavar="[CASINO/]NAME", help="the session of this stream")
        mode.add_argument("--page", action="store_true", help="write the pages of the docs")
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument("--language", choices=["en", "fr"], default="en", help="language of the report")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["page"]:
            for language, path in PAGES.items():
                page_of_docs(path).write_text(page(language))
                self.stdout.write(f"{path}: written")
            return
        if options["stream"]:
            sentences = _session(options["stream"])
            content: Any = [each.as_dict() for each in sentences]
        elif options["ruleset"]:
            sentences = in_session(options["ruleset"], ())
            content = coverage(options["ruleset"])
        else:
            sentences = ()
            content = {name: coverage(name) for name in RULESETS}
        if options["json"]:
            self.stdout.write(json.dumps(content, ensure_ascii=False, indent=2))
            return
        with override(options["language"]):
            if options["stream"] or options["ruleset"]:
                _print(sentences, cast(TextIO, self.stdout))
            else:
                for name in RULESETS:
                    self.stdout.write(f"{name}: {_summary(in_session(name, ()))}")


def _session(address: str) -> Sequence[SessionSentence]:
    """Return the coverage of a stream, named alone or after its casino's code and a stroke."""
    casino, _stroke, name = address.rpartition("/")
    streams = LoggedStream.objects.filter(name=name, is_of_desk=False)
    if casino:
        streams = streams.filter(casino__code=casino)
    found = list(streams[:2])
    if len(found) != 1:
        raise CommandError("Several casinos have one: write CASINO/NAME." if found else "There is no such stream.")
    adjudication = standing(found[0].stream_id)
    if adjudication is None or not adjudication.state:
        raise CommandError("This stream has not been adjudicated yet.")
    return coverage_of(adjudication)


def _summary(sentences: Sequence[SessionSentence]) -> str:
    return ", ".join(f"{count.number} {count.state}" for count in tally(sentences))


def _print(sentences: Sequence[SessionSentence], out: TextIO) -> None:
    console = Console(file=out, highlight=False, width=None if out.isatty() else 120)
    for shown in texts(sentences):
        console.print(Text(f"{provision(shown.text.article)} — {shown.text.title}", style="bold"))
        for sentence in shown.sentences:
            lacking = f" ({', '.join(sentence.lacking)})" if sentence.lacking else ""
            console.print(Text(f"{sentence.state}{lacking}", style=COLOURS[sentence.css]))
            console.print(Padding(Text(" ".join(sentence.words.split())), (0, 0, 0, 2)))
            below = [*(rule.name for rule in sentence.rules), *(name for name, _decision in sentence.readings)]
            for line in (", ".join(below), sentence.why):
                if line:
                    console.print(Padding(Text(line, style="dim"), (0, 0, 0, 4)))
    console.print(Text(_summary(sentences), style="bold"))
