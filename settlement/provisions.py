"""Every provision that the rules rest on: its label, and the quotations from the law that carry it.

A label reads as one cites: ``art. 55-8 A 1°``, ``art. 55-7 al. 5``, ``s. 95.17 (2)``. *Al. n* is the n-th
paragraph of the article, headings not counted. A few labels are ours: *intro* is the text of an article or a section
before its list, *last al.* its last paragraph, and *A after 4°* the unnumbered paragraph of art. 55-8 that closes the
first four bets. ``art. 54 B 1°`` and ``2°`` are the two choices at zero.

Some provisions are known by their number only, because their text is not among ours. They have no quotation, and state
why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from settlement import law, registries
from settlement.catalogue.rule import WAGER, WITHDRAWAL, Language, Rule
from settlement.kinds import Kind
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


_provisions: dict[str, Provision] = registries.table(
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
            "art. 36 (2007)",
            en="Article 36 of the arrêté of 14 May 2007 is not among the texts supplied.",
            fr="L’article 36 de l’arrêté du 14 mai 2007 n’est pas parmi les textes fournis.",
        ),
        **_known_by_number(
            "CMF art. R. 561-10",
            en="Article R. 561-10 of the code monétaire et financier is not among the texts supplied.",
            fr="L’article R. 561-10 du code monétaire et financier n’est pas parmi les textes fournis.",
        ),
        **_known_by_number(
            "SOR/2002-184 s. 70",
            en="Section 70 of the Canadian SOR/2002-184, on cash received, is not among the texts supplied.",
            fr="L’article 70 du règlement canadien DORS/2002-184, sur les espèces reçues, n’est pas parmi les textes "
            "fournis.",
        ),
        **_known_by_number(
            "SOR/2002-184 s. 71",
            en="Section 71 of the Canadian SOR/2002-184, on disbursements, is not among the texts supplied.",
            fr="L’article 71 du règlement canadien DORS/2002-184, sur les déboursements, n’est pas parmi les textes "
            "fournis.",
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

PROVISIONS: Mapping[str, Provision] = MappingProxyType(_provisions)

_FRENCH = (
    *((" last al.", " dernier al."), (" after ", " après le "), (" intro", " introduction")),
    *(("CQLR c. ", "RLRQ, c. "), ("SOR/", "DORS/")),
)
"""What labels have in English, in French: words of our own, and the collections of Québec's and of Canada's texts."""

_SECTION = re.compile(r"\bs\. (?=\d)")
"""How English cites a section: French calls it an article, as any other."""


def label_in(label: str, language: Language) -> str:
    """Return a label, ``LawText.article`` or ``Instrument.cited_as`` as one cites in a language: « art. 95.17 (2) ».

    A label itself is a code, the same in every language.
    """
    if language == "fr":
        label = _SECTION.sub("art. ", label)
        for english, french in _FRENCH:
            label = label.replace(english, french)
    return label


def add_provisions(text: LawText, quotations: Quotations) -> None:
    """Take the provisions of ``text``: each clause, and the words that carry it."""
    for label, provision in _quoted(text, quotations).items():
        registries.share(_provisions, label, provision, "a provision")


# Which provision makes, decides and prices each bet: by ruleset, then by bet.

_wagers: dict[str, Mapping[str, str]] = registries.table({})
WAGER_PROVISIONS: Mapping[str, Mapping[str, str]] = MappingProxyType(_wagers)

_closed_lists: dict[str, str] = registries.table({})
CLOSED_LISTS: Mapping[str, str] = MappingProxyType(_closed_lists)
"""The clause that closes a ruleset's list of bets: the provision of any bet that is not on it."""

_withdrawals: dict[str, Mapping[str, str]] = registries.table({})
WITHDRAWAL_PROVISIONS: Mapping[str, Mapping[str, str]] = MappingProxyType(_withdrawals)
"""The clause that lets a bet be taken back, where it is not the bet's own paragraph."""

_lines: dict[str, Mapping[str, str]] = registries.table({})
LINES: Mapping[str, Mapping[str, str]] = MappingProxyType(_lines)
"""The line that a payment of a bet cites in place of the whole list that the bet stands in."""

_pays: dict[str, Mapping[str, str]] = registries.table({})
PAY_PROVISIONS: Mapping[str, Mapping[str, str]] = MappingProxyType(_pays)
"""The clause that says what a bet pays, where its own does not: «Les chances simples qui, toutes, se paient à égalité».

Every other paragraph of art. 55-8 and s. 95.17 has its odds in itself, and so has each line of art. 54.
"""


def cite_bets(ruleset: str, closed_list: str, kinds: Iterable[Kind]) -> None:
    """Take the clauses of a ruleset's bets; ``closed_list`` is the one that closes their list."""
    known = tuple(kinds)
    registries.add(_closed_lists, ruleset, closed_list, "a closed list")
    registries.add(_wagers, ruleset, MappingProxyType({kind.bet: kind.clause for kind in known}), "a list of bets")
    for by_ruleset, clauses in (
        (_withdrawals, {kind.bet: kind.withdrawn_under for kind in known}),
        (_lines, {kind.bet: kind.line for kind in known}),
        (_pays, {kind.bet: kind.pays for kind in known}),
    ):
        known_clauses = {bet: clause for bet, clause in clauses.items() if clause is not None}
        if known_clauses:
            registries.add(by_ruleset, ruleset, MappingProxyType(known_clauses), "a list of clauses")


def wager_provision(ruleset: str, bet: str | None) -> str:
    """Return the label of a bet's own provision; for any other bet, of the clause that closes the list."""
    return WAGER_PROVISIONS[ruleset].get(bet or "", CLOSED_LISTS[ruleset])


_OF_A_ZERO = MappingProxyType(
    {"released": "art. 54 B 2°", "refunded_half": "art. 54 B 1°", "refunded_last_coup": "art. 54 last al."}
)


_governed: dict[str, tuple[str, Callable[[], frozenset[str]]]] = registries.table({})


def govern(ruleset: str, game: str, texts: Callable[[], frozenset[str]]) -> None:
    """Take the game of a ruleset, and what returns the ids of the texts that govern it when it is first asked."""
    registries.add(_governed, ruleset, (game, texts), "a ruleset")


@lru_cache(maxsize=4096)
def analogy(ruleset: str | None, labels: tuple[str, ...]) -> str | None:
    """Return the game whose text the clauses ``labels`` are of, where it does not govern ``ruleset``; None: its own."""
    if ruleset not in _governed:
        return None
    own = _governed[ruleset][1]()
    cited_texts = (each.text_id for label in labels if label in PROVISIONS for each in PROVISIONS[label].citations)
    foreign = {text for text in cited_texts if text not in own}
    return next((game for game, texts in _governed.values() if not foreign.isdisjoint(texts())), None)


registries.forgets(analogy.cache_clear)


def provision_of(rule: Rule, ruleset: str | None, bet: str | None) -> str | None:
    """Return the label of the clause that ``rule`` rests on here: the rule's own, or the bet's."""
    label = rule.provision_in(ruleset)
    if ruleset is None or label not in (WAGER, WITHDRAWAL):
        return label
    if label == WITHDRAWAL and bet is not None and bet in WITHDRAWAL_PROVISIONS.get(ruleset, {}):
        return WITHDRAWAL_PROVISIONS[ruleset][bet]
    return wager_provision(ruleset, bet)


@lru_cache(maxsize=4096)
def _cited(
    labels: tuple[str, ...], own: str | None, ruleset: str | None, bet: str | None, status: str | None
) -> tuple[str, ...]:
    given: list[str | None] = []
    for label in labels:
        if label == WAGER:
            given += [
                LINES.get(ruleset or "", {}).get(bet or "", own),
                PAY_PROVISIONS.get(ruleset or "", {}).get(bet or ""),
                _OF_A_ZERO.get(status or ""),
            ]
        else:
            given.append(own if label == WITHDRAWAL else label)
    return tuple(dict.fromkeys(label for label in given if label))


WHAT_IT_PAYS = frozenset(
    {
        *("payout-missing", "payout-duplicated", "payout-overpaid", "payout-underpaid", "payout-put-right"),
        *("horn-paid-split", "rounded-in-players-favour"),
    }
)
"""The rules that the odds decide, not what makes a bet win or lose."""


def deciding_first(provisions: Sequence[str], rule: str, ruleset: str | None, bet: str | None) -> list[str]:
    """Return the clauses that a finding cites with the one first that decides it.

    Of money it is the one that has the odds, at zero the one that says what is handed back.
    """
    if rule not in WHAT_IT_PAYS:
        return list(provisions)
    pays = PAY_PROVISIONS.get(ruleset or "", {}).get(bet or "")
    decides = [label for label in (*_OF_A_ZERO.values(), pays) if label in provisions]
    return list(dict.fromkeys([*(label for label in decides if label), *provisions]))


def cited(rule: Rule, ruleset: str | None, bet: str | None, status: str | None) -> tuple[str, ...]:
    """Return the labels of all clauses that a finding of ``rule`` cites: a payment, both what wins and what it pays.

    ``bet`` and ``status`` are those of its wager, None without one. There are none for a rule that rests on the event
    contract alone.
    """
    own = provision_of(rule, ruleset, bet)
    return _cited(rule.provisions.get(ruleset or "", ()), own, ruleset, bet, status)
