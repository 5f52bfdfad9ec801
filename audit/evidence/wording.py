"""The verdict as text, in both languages: what a regulator reads first.

The verifier compares it to ``finding.json`` in the same order (``verify.check_verdict``): a line added here with a
value of ``finding.json`` has to be added there as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit.evidence.verify import named
from settlement.catalogue import Language
from settlement.catalogue.rule import Wording

LABELS: Mapping[str, Wording] = {
    "verdict": Wording("VERDICT", "VERDICT"),
    "critical": Wording("critical", "critique"),
    "major": Wording("major", "majeur"),
    "minor": Wording("minor", "mineur"),
    "info": Wording("information", "information"),
    "expected": Wording("Expected by the rules", "Attendu selon les règles"),
    "recorded": Wording("Recorded by the table", "Enregistré par la table"),
    "difference": Wording("Difference", "Écart"),
    "owed": Wording("Owed", "Dû"),
    "remedy": Wording("What to do", "Que faire"),
    "causes": Wording("Consequence of", "Conséquence de"),
    "consequences": Wording("Consequences", "Conséquences"),
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


OWED_BY: Mapping[str, Wording] = {
    "house": Wording("{} by the house to the player", "{} par la banque au joueur"),
    "player": Wording("{} by the player to the house", "{} par le joueur à la banque"),
}
"""What is owed, by who owes it."""


def verdict(content: Mapping[str, Any], language: Language) -> bytes:
    """Return the verdict of ``content``, which is that of ``finding.json``, as UTF-8."""
    finding, amounts = content["finding"], content["written"][language]

    def label(name: str) -> str:
        return LABELS[name].in_language(language)

    def rows(**values: object) -> list[str]:
        colon = "\N{NO-BREAK SPACE}: " if language == "fr" else ": "
        return [f"{label(name)}{colon}{value}" for name, value in values.items() if value not in (None, "")]

    lines = [
        label("verdict"),
        "",
        f"{content['rule']['title'][language]} ({label(finding['severity'])})",
        "",
        finding["message"][language],
        *rows(**{name: amounts[name] for name in ("expected", "recorded", "difference")}, owed=amounts["owed"]),
        *rows(remedy=finding["remedy"][language]),
        *rows(**{name: ", ".join(map(named, finding[name])) for name in ("causes", "consequences")}),
        "",
        *rows(provision=", ".join(finding["provisions"]) or finding["provision"]),
    ]
    for text in content["law"]:
        lines.append(f"{text['instrument']}, {text['article']} — {text['title']}")
        lines += [f"    « {quotation['words']} »" for quotation in text["quotations"]]
        lines.append(f"    {text['file']}, SHA-256 {text['sha256']}")
    if content["no_text"]:
        lines.append(content["no_text"][language])
    lines += [
        "",
        *rows(rule=finding["rule"]),
        *rows(**{name: content[name] for name in ("stream", "casino", "table", "gaming_day")}),
        *rows(seq=finding["seq"], evidence=", ".join(map(str, finding["evidence"])), wager=finding.get("wager")),
        *rows(
            ruleset=content["ruleset"], engine_version=content["engine_version"], readings=content["readings"]["digest"]
        ),
    ]
    if finding.get("after_loss"):
        lines += ["", label("after_loss")]
    return "\n".join([*lines, ""]).encode()
