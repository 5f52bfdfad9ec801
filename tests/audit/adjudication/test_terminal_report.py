"""An adjudication at a terminal: what is printed, word by word, and in which colours."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from rich.text import Text

from audit.adjudication.terminal_report import Language, print_report
from audit.management.terminal import Console
from settlement import Adjudication, adjudicate
from tests.audit.sessions import event, opener


class Terminal(io.StringIO):
    """A file that takes colours."""

    def isatty(self) -> bool:
        return True


def adjudicated(*rest: tuple[str, dict[str, Any]], **opened: Any) -> Adjudication:
    events = [opener("s", casino="deauville", **opened)]
    events += [event("s", seq, kind, **data) for seq, (kind, data) in enumerate(rest, start=2)]
    return adjudicate([json.dumps(each) for each in events])


def irregular() -> Adjudication:
    """A bet the law does not know, whose stake was corrected after its coup, and a wager's id used twice."""
    right = {"wager": "w2", "bet": "on_the_croupier", "stake": 70}
    return adjudicated(
        ("wager.placed", {"wager": "w1", "bet": "win", "stake": 1_000}),
        ("wager.placed", right | {"stake": 700}),
        ("wager.placed", {"wager": "w1", "bet": "win", "stake": 1_000}),
        ("dice.thrown", {"faces": [4, 3]}),
        ("payout.made", {"wager": "w1", "winnings": 1_000, "stake_returned": 1_000}),
        ("entry.corrected", {"corrects": 3, "data": right, "reason": "misread [bold]chip", "approved_by": "chef-4"}),
        observes=["marker"],
    )


def regular() -> Adjudication:
    placed = {"wager": "w1", "bet": "win", "stake": 1_000}
    return adjudicated(("wager.placed", placed), observes=["calls", "collections", "custody", "marker"])


def printed(answer: Adjudication, language: Language) -> list[str]:
    out = io.StringIO()
    print_report(answer, Console(file=out, highlight=False, width=120), language=language)
    return [line.rstrip() for line in out.getvalue().splitlines()]


IRREGULAR: dict[Language, str] = {
    "en": """\
s  fr-craps  7 events
wager  bet               stake  status  due (winnings + stake)  paid (winnings + stake)  decided by
w1     win — pass line  €10.00  won            €10.00 + €10.00          €10.00 + €10.00  #5
w2     on_the_croupier   €0.70  void             €0.00 + €0.70            €0.00 + €0.00
#3 corrected by event #7 (chef-4: misread [bold]chip)
3 findings
╭─ #3 wager-not-permitted  major · Bet not permitted ──────────────────────────────────────────────────────────────────╮
│ Wager w2 of €0.70 was accepted on “on the croupier”, as the table system calls it. The text of this game has no such │
│ bet. The wager is void: its stake stays the player’s.                                                                │
│   « Les joueurs ne peuvent faire usage que des quatre catégories de chances suivantes : »                            │
│ art. 55-8 intro · event #3                                                                                           │
╰──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────╯
╭─ #4 wager-id-reused  critical · Wager identifier used twice ─────────────────────────────────────────────────────────╮
│ Identifier w1 was given to a second wager; event 2 had used it already. The second one is not adjudicated.           │
│   This rule is about the record itself, not about play: it rests on the event contract, not on a text of law.        │
│ — · events #2, #4                                                                                                    │
╰──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────╯
╭─ #7 entry-corrected  major · Entry corrected ────────────────────────────────────────────────────────────────────────╮
│ Event 3 (wager placed) was corrected: stake €0.70 in place of €7.00 (reason given: “misread [bold]chip”), approved   │
│ by chef-4.                                                                                                           │
│   This rule is about the record itself, not about play: it rests on the event contract, not on a text of law.        │
│ — · events #3, #7                                                                                                    │
╰──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────╯
Not checked, because the table does not report it: calls, collections, custody
""",
    "fr": """\
s  fr-craps  7 événements
mise  chance                  enjeu  sort      dû (gain + enjeu)  payé (gain + enjeu)  décidée par
w1    win (ligne de passe)  10,00 €  gagnante  10,00 € + 10,00 €    10,00 € + 10,00 €  #5
w2    on_the_croupier        0,70 €  nulle       0,00 € + 0,70 €      0,00 € + 0,00 €
#3 corrigé par l’événement #7 (chef-4 : misread [bold]chip)
3 constats
╭─ #3 wager-not-permitted  majeur · Chance non autorisée ──────────────────────────────────────────────────────────────╮
│ La mise w2 de 0,70 € a été acceptée sur « on the croupier », selon les termes du système de table. Le texte de ce    │
│ jeu ne connaît pas cette chance. La mise est nulle : l’enjeu reste au joueur.                                        │
│   « Les joueurs ne peuvent faire usage que des quatre catégories de chances suivantes : »                            │
│ art. 55-8 introduction · événement #3                                                                                │
╰──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────╯
╭─ #4 wager-id-reused  critique · Identifiant de mise employé deux fois ───────────────────────────────────────────────╮
│ L’identifiant w1 a été donné à une seconde mise ; l’événement 2 l’avait déjà employé. La seconde n’est pas jugée.    │
│   Cette règle porte sur l’enregistrement lui-même et non sur le jeu : elle repose sur le contrat d’événements, non   │
│   sur un texte.                                                                                                      │
│ — · événements #2, #4                                                                                                │
╰──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────╯
╭─ #7 entry-corrected  majeur · Écriture corrigée ─────────────────────────────────────────────────────────────────────╮
│ L’événement 3 (dépôt d’une mise) a été corrigé : mise 0,70 € au lieu de 7,00 € (motif indiqué : « misread [bold]chip │
│ »), avec l’accord donné par chef-4.                                                                                  │
│   Cette règle porte sur l’enregistrement lui-même et non sur le jeu : elle repose sur le contrat d’événements, non   │
│   sur un texte.                                                                                                      │
│ — · événements #3, #7                                                                                                │
╰──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────╯
Non vérifié, faute d’être transmis par la table : calls, collections, custody
""",
}

REGULAR: dict[Language, str] = {
    "en": """\
s  fr-craps  2 events
wager  bet               stake  status      due (winnings + stake)  paid (winnings + stake)  decided by
w1     win — pass line  €10.00  still open           €0.00 + €0.00            €0.00 + €0.00
Nothing irregular was found.
""",
    "fr": """\
s  fr-craps  2 événements
mise  chance                  enjeu  sort           dû (gain + enjeu)  payé (gain + enjeu)  décidée par
w1    win (ligne de passe)  10,00 €  encore en jeu    0,00 € + 0,00 €      0,00 € + 0,00 €
Rien d’irrégulier n’a été constaté.
""",
}


@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_report_shows_wagers_corrections_and_each_finding_with_its_provision(language: Language) -> None:
    assert printed(irregular(), language) == IRREGULAR[language].splitlines()


@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_regular_session_is_said_to_be_regular(language: Language) -> None:
    assert printed(regular(), language) == REGULAR[language].splitlines()


def test_a_session_without_wagers_has_no_table_of_them() -> None:
    assert printed(adjudicated(observes=["calls"]), "en") == [
        "s  fr-craps  1 event",
        "Nothing irregular was found.",
        "Not checked, because the table does not report it: collections, custody, marker",
    ]


def styles(answer: Adjudication, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Print a report to a terminal with colours, and return the words of each style, by the style."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    out = Terminal()
    print_report(answer, Console(file=out, highlight=False), language="en")
    found: dict[str, list[str]] = {}
    for line in out.getvalue().splitlines():
        text = Text.from_ansi(line)
        for span in text.spans:
            words = text.plain[span.start : span.end].strip(" ╭╮╰╯─│")
            found.setdefault(str(span.style), []).append(words)
    return {style: " ".join(filter(None, words)) for style, words in found.items()}


def test_a_terminal_shows_in_colours_what_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    found = styles(irregular(), monkeypatch)
    assert found == {
        "bold": "s 3 findings",
        "dim": "wager bet stake status due (winnings + stake) paid (winnings + stake) decided by"
        " art. 55-8 intro · event #3 — · events #2, #4 — · events #3, #7"
        " Not checked, because the table does not report it: calls, collections, custody",
        "dim italic": "« Les joueurs ne peuvent faire usage que des quatre catégories de chances suivantes : »"
        " This rule is about the record itself, not about play: it rests on the event contract, not on a text of law."
        " This rule is about the record itself, not about play: it rests on the event contract, not on a text of law.",
        "color(3)": "€0.00 + €0.00 wager-not-permitted major · Bet not permitted"
        " entry-corrected major · Entry corrected",
        "bold color(3)": "#3 #7",
        "color(1)": "wager-id-reused critical · Wager identifier used twice",
        "bold color(1)": "#4",
    }
    assert styles(regular(), monkeypatch)["color(2)"] == "Nothing irregular was found."


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "#3 annulled by event #4 (chef-4: twice)"),
        ("fr", "#3 annulé par l’événement #4 (chef-4\N{NO-BREAK SPACE}: twice)"),
    ],
)
def test_what_was_annulled_stands_in_the_report(language: Language, line: str) -> None:
    answer = adjudicated(
        ("dice.thrown", {"faces": [4, 3]}),
        ("dice.thrown", {"faces": [4, 3]}),
        ("entry.annulled", {"annuls": 3, "reason": "twice", "approved_by": "chef-4"}),
    )
    assert line in printed(answer, language)
