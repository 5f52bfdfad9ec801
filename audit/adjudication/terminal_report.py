"""An adjudication printed at a terminal: the wagers, then each finding with its provision."""

from __future__ import annotations

from typing import Literal

from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from settlement import Adjudication, Finding
from settlement.catalogue import RULES, bet_label
from settlement.catalogue.sentences import amount, format_fact
from settlement.catalogue.templates import agree
from settlement.provisions import PROVISIONS, label_in

Language = Literal["en", "fr"]

COLOURS = {"critical": "red", "major": "yellow", "minor": "cyan", "info": "blue"}

LABELS = {
    "en": {
        "wager": "wager",
        "bet": "bet",
        "stake": "stake",
        "status": "status",
        "due": "due (winnings + stake)",
        "paid": "paid (winnings + stake)",
        "by": "decided by",
        "findings": "{count} finding(s)",
        "none": "Nothing irregular was found.",
        "events": "{count} event(s)",
        "evidence": "event(s)",
        "unchecked": "Not checked, because the table does not report it",
        "corrects": "corrected by event",
        "annuls": "annulled by event",
        "colon": ": ",
        "critical": "critical",
        "major": "major",
        "minor": "minor",
        "info": "information",
    },
    "fr": {
        "wager": "mise",
        "bet": "chance",
        "stake": "enjeu",
        "status": "sort",
        "due": "dû (gain + enjeu)",
        "paid": "payé (gain + enjeu)",
        "by": "décidée par",
        "findings": "{count} constat(s)",
        "none": "Rien d’irrégulier n’a été constaté.",
        "events": "{count} événement(s)",
        "evidence": "événement(s)",
        "unchecked": "Non vérifié, faute d’être transmis par la table",
        "corrects": "corrigé par l’événement",
        "annuls": "annulé par l’événement",
        "colon": "\N{NO-BREAK SPACE}: ",
        "critical": "critique",
        "major": "majeur",
        "minor": "mineur",
        "info": "information",
    },
}


def print_report(answer: Adjudication, console: Console, *, language: Language) -> None:
    """Print ``answer``. The console takes no markup and highlights nothing: it would in names and reasons."""
    labels = LABELS[language]
    console.print(
        Text.assemble(
            (answer.stream, "bold"), f"  {answer.ruleset}  {_counted(labels['events'], answer.events, language)}"
        ),
        soft_wrap=True,
    )
    if answer.wagers:
        console.print(_wagers(answer, language))
    for correction in answer.corrections:
        does = "corrects" if "corrects" in correction else "annuls"
        console.print(
            f"#{correction[does]} {labels[does]} #{correction['seq']} "
            f"({correction['approved_by']}{labels['colon']}{correction['reason']})",
            markup=False,
        )
    if not answer.findings:
        console.print(Text(labels["none"], style="green"))
    else:
        console.print(Text(_counted(labels["findings"], len(answer.findings), language), style="bold"))
    for finding in answer.findings:
        console.print(_finding(finding, language))
    if answer.unchecked:
        console.print(Text(f"{labels['unchecked']}{labels['colon']}{', '.join(answer.unchecked)}", style="dim"))


def _counted(label: str, count: int, language: Language) -> str:
    """Return a label that counts something with its number: “1 finding”."""
    return agree(label, {"count": count}, language).replace("{count}", str(count))


def _wagers(answer: Adjudication, language: Language) -> Table:
    labels = LABELS[language]

    def _sum(winnings: int, stake: int) -> str:
        return f"{amount(winnings, answer.currency, language)} + {amount(stake, answer.currency, language)}"

    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in ("wager", "bet", "stake", "status", "due", "paid", "by"):
        right = name in ("stake", "due", "paid")
        table.add_column(labels[name], justify="right" if right else "left")
    for wager_id, wager in answer.wagers.items():
        due = _sum(wager.winnings_due, wager.stake_due)
        paid = _sum(wager.winnings_paid, wager.stake_paid)
        table.add_row(
            Text(wager_id),
            Text(bet_label(answer.ruleset, wager.bet, language)),
            amount(wager.stake, answer.currency, language),
            format_fact(wager.status, "status", language, answer.currency) or wager.status,
            due,
            Text(paid, style="" if paid == due else "yellow"),
            f"#{wager.decided_by}" if wager.decided_by else "",
        )
    return table


def _finding(finding: Finding, language: Language) -> Panel:
    rule = RULES[finding.rule]
    lines: list[Text | Padding] = [Text(finding.message(language))]
    provision = PROVISIONS.get(finding.provision or "")
    if provision is not None:
        for quote in provision.quotes:
            lines.append(Padding(Text(f"« {quote} »", style="italic dim"), (0, 0, 0, 2)))
    elif rule.reason is not None:
        lines.append(Padding(Text(rule.reason.in_language(language), style="italic dim"), (0, 0, 0, 2)))
    events = ", ".join(f"#{seq}" for seq in finding.evidence)
    evidence = LABELS[language]["evidence"].replace("(s)", "" if len(finding.evidence) == 1 else "s")
    cited = label_in(finding.provision or "—", language)
    lines.append(Text(f"{cited} · {evidence} {events}", style="dim"))
    colour = COLOURS[finding.severity]
    title = Text.assemble(
        (f"#{finding.seq} ", "bold"),
        (finding.rule, colour),
        f"  {LABELS[language][finding.severity]} · {rule.title.in_language(language)}",
    )
    return Panel(Group(*lines), title=title, title_align="left", border_style=colour)
