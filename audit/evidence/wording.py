"""The verdict in words, in both languages: what a regulator reads first, and what the verifier compares.

Its order is the verifier's too (``verify.check_verdict``): a line added here that says what ``finding.json`` says
belongs there as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from settlement.catalogue import Language
from settlement.catalogue.rule import Wording

WORDS: Mapping[str, Wording] = {
    "verdict": Wording("VERDICT", "VERDICT"),
    "critical": Wording("critical", "critique"),
    "major": Wording("major", "majeur"),
    "minor": Wording("minor", "mineur"),
    "info": Wording("information", "information"),
    "expected": Wording("Expected by the rules", "Attendu selon les règles"),
    "recorded": Wording("Recorded by the table", "Enregistré par la table"),
    "difference": Wording("Difference", "Écart"),
    "provision": Wording("Clause", "Disposition"),
    "rule": Wording("Rule", "Règle"),
    "stream": Wording("Stream", "Flux"),
    "casino": Wording("Casino", "Casino"),
    "table": Wording("Table", "Table"),
    "gaming_day": Wording("Gaming day", "Journée de jeu"),
    "seq": Wording("Event", "Événement"),
    "evidence": Wording("Events that prove it", "Événements qui l’établissent"),
    "wager": Wording("Wager", "Mise"),
    "ruleset": Wording("Ruleset", "Règlement"),
    "engine_version": Wording("Engine version", "Version du moteur"),
    "readings": Wording("Readings, SHA-256", "Lectures, SHA-256"),
    "after_loss": Wording(
        "Events had been lost before this one: the state of the table may be wrong.",
        "Des événements avaient été perdus auparavant : l’état de la table peut être faux.",
    ),
}


def verdict(said: Mapping[str, Any], language: Language) -> bytes:
    """Return the verdict that ``finding.json`` says, ``said`` being what is in it."""
    finding, written = said["finding"], said["written"][language]

    def words(name: str) -> str:
        return WORDS[name].in_language(language)

    def rows(**values: object) -> list[str]:
        colon = "\N{NO-BREAK SPACE}: " if language == "fr" else ": "
        return [f"{words(name)}{colon}{value}" for name, value in values.items() if value not in (None, "")]

    lines = [
        words("verdict"),
        "",
        f"{said['rule']['title'][language]} ({words(finding['severity'])})",
        "",
        finding["message"][language],
        *rows(**{name: written[name] for name in ("expected", "recorded", "difference")}),
        "",
        *rows(provision=finding["provision"]),
    ]
    for text in said["law"]:
        lines.append(f"{text['instrument']}, {text['article']} — {text['title']}")
        lines += [f"    « {quotation['words']} »" for quotation in text["quotations"]]
        lines.append(f"    {text['file']}, SHA-256 {text['sha256']}")
    if said["no_text"]:
        lines.append(said["no_text"][language])
    lines += [
        "",
        *rows(rule=finding["rule"]),
        *rows(**{name: said[name] for name in ("stream", "casino", "table", "gaming_day")}),
        *rows(seq=finding["seq"], evidence=", ".join(map(str, finding["evidence"])), wager=finding.get("wager")),
        *rows(ruleset=said["ruleset"], engine_version=said["engine_version"], readings=said["readings"]["digest"]),
    ]
    if finding.get("after_loss"):
        lines += ["", words("after_loss")]
    return "\n".join([*lines, ""]).encode()
