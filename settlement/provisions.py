"""Every provision that the rules rest on: its label, and the quotations from the law that carry it.

A label reads as one cites: ``art. 55-8 A 1°``, ``art. 55-7 al. 5``, ``s. 95.17 (2)``. *Al. n* is the n-th
paragraph of the article, headings not counted. A few labels are ours: *intro* is the text of an article or a section
before its list, *last al.* its last paragraph, and *A after 4°* the unnumbered paragraph of art. 55-8 that closes the
first four bets. ``art. 54 B 1°`` and ``2°`` are the two choices at zero.

Some provisions are known by their number only, because their text is not among ours. They have no quotation, and state
why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from settlement import law
from settlement.law import Citation, LawText
from settlement.quotations import ART_54, ART_55_7, ART_55_8, ART_57_1, S_95_17, Quotations


@dataclass(frozen=True, slots=True)
class Provision:
    """A label and the quotations it stands for.

    ``text_missing`` is why there is no quotation, by language; None if there is one.
    """

    label: str
    citations: tuple[Citation, ...]
    text_missing: Mapping[str, str] | None = None

    @property
    def quotes(self) -> tuple[str, ...]:
        return tuple(citation.quote for citation in self.citations)


def _quoted(text: LawText, quotations: Quotations) -> dict[str, Provision]:
    table: dict[str, Provision] = {}
    for clause, quotes in quotations.items():
        label = f"{text.article} {clause}"
        citations = tuple(
            Citation(text.id, quote) if isinstance(quote, str) else Citation(text.id, *quote) for quote in quotes
        )
        table[label] = Provision(label, citations)
    return table


def _known_by_number(label: str, *, en: str, fr: str) -> dict[str, Provision]:
    return {label: Provision(label, (), MappingProxyType({"en": en, "fr": fr}))}


PROVISIONS: Mapping[str, Provision] = MappingProxyType(
    {
        **_quoted(law.ART_54, ART_54),
        **_quoted(law.ART_55_7, ART_55_7),
        **_quoted(law.ART_55_8, ART_55_8),
        **_quoted(law.ART_57_1, ART_57_1),
        **_quoted(law.S_95_17, S_95_17),
        **_known_by_number(
            "art. 39 (1959)",
            en="Article 39 of the arrêté of 23 December 1959 is not among the texts supplied.",
            fr="L’article 39 de l’arrêté du 23 décembre 1959 n’est pas parmi les textes fournis.",
        ),
        **_known_by_number(
            "art. 53 (2007)",
            en="Article 53 of the arrêté of 14 May 2007 is not among the texts supplied.",
            fr="L’article 53 de l’arrêté du 14 mai 2007 n’est pas parmi les textes fournis.",
        ),
        **_known_by_number(
            "r. 3 s. 3",
            en="Section 3 of the Québec by-law (r. 3) is not among the texts supplied.",
            fr="L’article 3 du règlement québécois (r. 3) n’est pas parmi les textes fournis.",
        ),
        **_known_by_number(
            "r. 3 s. 4–5",
            en="Sections 4 and 5 of the Québec by-law (r. 3) are not among the texts supplied.",
            fr="Les articles 4 et 5 du règlement québécois (r. 3) ne sont pas parmi les textes fournis.",
        ),
        **_known_by_number(
            "r. 3.1",
            en="The by-law r. 3.1, which replaced r. 3 on 13 October 2011, is not among the texts supplied; "
            "its section 11 sends the rules of play to a document kept at the table.",
            fr="Le règlement r. 3.1, qui a remplacé le r. 3 le 13 octobre 2011, n’est pas parmi les textes "
            "fournis ; son article 11 renvoie les règles du jeu à un document tenu à la table.",
        ),
    }
)


# Which provision makes, decides and prices each bet.

_ROULETTE = {
    **dict.fromkeys(
        (
            "plein",
            "cheval",
            "transversale",
            "carre",
            "sixain",
            "douzaine",
            "colonne",
            "deux_douzaines",
            "deux_colonnes",
        ),
        "art. 54 A",
    ),
    **dict.fromkeys(("pair", "impair", "manque", "passe", "rouge", "noir"), "art. 54 B"),
}

WAGER_PROVISIONS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "fr-craps": MappingProxyType(
            {
                "win": "art. 55-8 A 1°",
                "dont_win": "art. 55-8 A 2°",
                "come": "art. 55-8 A 3°",
                "dont_come": "art. 55-8 A 4°",
                "field": "art. 55-8 A 5°",
                "big_6": "art. 55-8 A 6°",
                "big_8": "art. 55-8 A 7°",
                "under_7": "art. 55-8 A 8°",
                "over_7": "art. 55-8 A 9°",
                "hardway": "art. 55-8 B 1°",
                "seven": "art. 55-8 B 2°",
                "eleven": "art. 55-8 B 3°",
                "any_craps": "art. 55-8 B 4°",
                "craps_2": "art. 55-8 B 5°",
                "craps_3": "art. 55-8 B 6°",
                "craps_12": "art. 55-8 B 7°",
                "horn": "art. 55-8 B 8°",
                "win_odds": "art. 55-8 C 1°",
                "dont_win_odds": "art. 55-8 C 2°",
                "come_odds": "art. 55-8 C 3°",
                "dont_come_odds": "art. 55-8 C 4°",
                "right_bet": "art. 55-8 D 1°",
                "wrong_bet": "art. 55-8 D 2°",
            }
        ),
        "qc-craps": MappingProxyType(
            {"right_bet": "s. 95.17 (1)", "buy_bet": "s. 95.17 (2)", "lay_bet": "s. 95.17 (3)"}
        ),
        "fr-roulette": MappingProxyType(_ROULETTE),
        "fr-american-roulette": MappingProxyType(_ROULETTE),
    }
)

# The clause that closes a ruleset's list of bets: the provision of any bet that is not on it.
CLOSED_LISTS: Mapping[str, str] = MappingProxyType(
    {
        "fr-craps": "art. 55-8 intro",
        "qc-craps": "s. 95.17 intro",
        "fr-roulette": "art. 54 intro",
        "fr-american-roulette": "art. 54 intro",
    }
)

# The clause that lets a bet be taken back, where it is not the bet's own paragraph.
WITHDRAWAL_PROVISIONS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "fr-craps": MappingProxyType(
            {
                **dict.fromkeys(("win_odds", "dont_win_odds", "come_odds", "dont_come_odds"), "art. 55-8 C intro"),
                **dict.fromkeys(("right_bet", "wrong_bet"), "art. 55-8 D intro"),
            }
        ),
        "qc-craps": MappingProxyType(dict.fromkeys(("right_bet", "buy_bet", "lay_bet"), "s. 95.17 intro")),
    }
)


def wager_provision(ruleset: str, bet: str | None) -> str:
    """Return the label of a bet's own provision; for any other bet, of the clause that closes the list."""
    return WAGER_PROVISIONS[ruleset].get(bet or "", CLOSED_LISTS[ruleset])
