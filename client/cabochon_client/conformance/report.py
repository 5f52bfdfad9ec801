"""The report as one HTML file: no script, nothing from elsewhere, light and dark, and to be printed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from html import escape

from cabochon_client.conformance.judge import Judgement
from cabochon_client.conformance.scripts import ALWAYS_SEEN

STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1f; --soft: #5b5b66; --line: #d5d5dd; --ground: #fff; --good: #11693a;
  --bad: #a3161a; --open: #7a5200 }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf1; --soft: #a9a9b6; --line: #3a3a44; --ground: #16161a;
  --good: #6fd39b; --bad: #ff9a94; --open: #ecc069 } }
body { margin: 0 auto; padding: 2rem 1rem; max-width: 62rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--ground) }
h1 { line-height: 1.2 } h2 { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem }
.soft { color: var(--soft) } .good { color: var(--good) } .bad { color: var(--bad) } .open { color: var(--open) }
.good, .bad, .open { font-weight: 600 } code { overflow-wrap: anywhere }
.wide { overflow-x: auto } table { border-collapse: collapse; width: 100%; margin: .75rem 0 1.25rem }
caption { text-align: left; font-weight: 600; padding-bottom: .25rem }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line) }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
ul { padding-left: 1.25rem } li { margin: .25rem 0 }
@media print { :root { --ink: #000; --soft: #444; --ground: #fff; --good: #000; --bad: #000; --open: #000 }
  body { max-width: none; padding: 0; font-size: 10pt } h2 { break-after: avoid } table, li { break-inside: avoid } }
"""


def as_html(judgements: Iterable[Judgement], *, url: str, casino: str, who: str, at: datetime) -> str:
    """Return the report of a check. ``who`` says who has played the sessions."""
    judged = list(judgements)
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>Conformance: {escape(casino)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
            "<h1>Conformance of a table system</h1>",
            f"<p class='soft'>{escape(url)}, casino <code>{escape(casino)}</code>, {at:%Y-%m-%d %H:%M %Z}.",
            f"{escape(who)}</p>",
            *_summary(judged),
            *(line for number, each in enumerate(judged, 1) for line in _section(number, each)),
            "</main>\n</body>\n</html>\n",
        ]
    )


def word_of(judgement: Judgement) -> str:
    """Return ``conforms``, ``does not conform`` or ``not played``."""
    if judgement.skipped:
        return "not played"
    return "conforms" if judgement.is_ok else "does not conform"


def _class_of(judgement: Judgement) -> str:
    return "open" if judgement.skipped else "good" if judgement.is_ok else "bad"


def _summary(judged: list[Judgement]) -> Iterator[str]:
    good = sum(each.is_ok for each in judged)
    yield f"<p>{good} of {len(judged)} sessions conform.</p>"
    yield "<div class='wide'><table><caption>Sessions</caption><thead><tr><th scope='col'>Script</th>"
    yield "<th scope='col'>Result</th><th scope='col' class='number'>Events</th><th scope='col'>Stream</th>"
    yield "</tr></thead><tbody>"
    for number, each in enumerate(judged, 1):
        events = len(each.recorded.events) if each.recorded else 0
        yield (
            f"<tr><th scope='row'><a href='#s{number}'>{escape(each.script.title)}</a></th>"
            f"<td class='{_class_of(each)}'>{word_of(each)}</td>"
            f"<td class='number'>{events}</td><td><code>{escape(each.stream)}</code></td></tr>"
        )
    yield "</tbody></table></div>"


def _section(number: int, judgement: Judgement) -> Iterator[str]:
    yield f"<section aria-labelledby='s{number}'>\n<h2 id='s{number}'>{escape(judgement.script.title)}</h2>"
    yield f"<p class='soft'>{escape(judgement.script.what_happens)}</p>"
    yield f"<p class='{_class_of(judgement)}'>{word_of(judgement).capitalize()}{_because(judgement)}</p>"
    if judgement.checks:
        yield "<h3>What was looked at</h3>\n<ul>"
        for check in judgement.checks:
            mark = "<span class='good'>Yes</span>" if check.is_ok else "<span class='bad'>No</span>"
            to_do = f"<br><span class='soft'>{escape(check.to_do)}</span>" if check.to_do else ""
            yield f"<li>{mark}: {escape(check.what)}{to_do}</li>"
        yield "</ul>"
    if judgement.recorded is not None:
        yield from _families(judgement)
        yield from _wagers(judgement)
        yield from _findings(judgement)
    yield "</section>"


def _because(judgement: Judgement) -> str:
    return f": {escape(judgement.skipped)}" if judgement.skipped else "."


def _families(judgement: Judgement) -> Iterator[str]:
    assert judgement.recorded is not None, "only a session that was read has families"
    yield "<div class='wide'><table><caption>What was understood, family by family</caption><thead><tr>"
    yield "<th scope='col'>Family</th><th scope='col' class='number'>Events</th><th scope='col'>Types</th>"
    yield "<th scope='col'>Understood</th></tr></thead><tbody>"
    for family in judgement.families:
        types = ", ".join(f"{name} × {count}" for name, count in sorted(family.types.items()))
        yield (
            f"<tr><th scope='row'>{escape(family.name)}</th><td class='number'>{family.count}</td>"
            f"<td>{escape(types) or '–'}</td><td>{escape(family.understood)}</td></tr>"
        )
    yield "</tbody></table></div>"
    adjudication = judgement.recorded.adjudication
    unchecked = adjudication["unchecked"] if adjudication else []
    if unchecked:
        silent = ", ".join(escape(str(name)) for name in unchecked)
        always = ", ".join(sorted(ALWAYS_SEEN))
        yield f"<p>Rules stay silent for want of: {silent}. Families beyond {always} are optional.</p>"


def _wagers(judgement: Judgement) -> Iterator[str]:
    assert judgement.recorded is not None, "only a session that was read has wagers"
    wagers = (judgement.recorded.adjudication or {}).get("wagers", {})
    if not wagers:
        return
    yield "<div class='wide'><table><caption>Wagers, in minor units</caption><thead><tr><th scope='col'>Wager</th>"
    yield "<th scope='col'>Bet</th><th scope='col'>Outcome</th><th scope='col' class='number'>Stake</th>"
    yield "<th scope='col' class='number'>Due</th><th scope='col' class='number'>Paid</th></tr></thead><tbody>"
    for name, wager in list(wagers.items())[:MOST_WAGERS]:
        yield (
            f"<tr><th scope='row'>{escape(name)}</th><td>{escape(wager['bet'])}</td><td>{escape(wager['status'])}</td>"
            f"<td class='number'>{wager['stake']}</td><td class='number'>{wager['winnings_due']}</td>"
            f"<td class='number'>{wager['winnings_paid']}</td></tr>"
        )
    yield "</tbody></table></div>"
    if len(wagers) > MOST_WAGERS:
        yield f"<p>And {len(wagers) - MOST_WAGERS} more.</p>"


MOST_WAGERS = 50


def _findings(judgement: Judgement) -> Iterator[str]:
    assert judgement.recorded is not None, "only a session that was read has findings"
    found = judgement.recorded.findings
    if not found:
        yield "<p>No findings.</p>"
        return
    yield "<div class='wide'><table><caption>Findings</caption><thead><tr><th scope='col' class='number'>Event</th>"
    yield "<th scope='col'>Rule</th><th scope='col'>Severity</th><th scope='col'>What it says</th></tr></thead><tbody>"
    for each in found:
        wanted = " (the script brings it about)" if each["rule"] in judgement.script.findings else ""
        yield (
            f"<tr><td class='number'>{each['seq']}</td><td><code>{escape(each['rule'])}</code></td>"
            f"<td>{escape(each['severity'])}</td><td>{escape(each['message']['en'] + wanted)}</td></tr>"
        )
    yield "</tbody></table></div>"
