"""A finding: one irregularity, the events that show it, and the facts of its message.

A finding is a value, never an exception: the replay reports it and reads on, so one bad throw at 22:10 does not hide a
bad payout at 22:15.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from settlement.catalogue import Language, Wording, groups, message, remedy
from settlement.catalogue.sentences import Writer, amount
from settlement.catalogue.words import word

Fact: TypeAlias = int | str | Sequence[int | str] | None

READ_OTHERWISE = Wording(
    "Another reading of the text would make the payment right ({}).",
    "Une autre lecture du texte rendrait le paiement exact ({}).",
)

PUT_RIGHT = Wording("Event {} put it right after the coup.", "L’événement {} l’a régularisé après le coup.")

MADE_GOOD_SINCE = Wording(
    "Since then {} of it was made good; {} is still owed.",
    "Depuis, la somme de {} a été régularisée ; il reste dû {}.",
)
GROWN_SINCE = Wording("With what was added since, {} is owed.", "Avec ce qui s’y est ajouté depuis, il est dû {}.")
FOUND_BEFORE = Wording(
    "An earlier finding of this wager already has {} of it.", "Un constat antérieur de cette mise en porte déjà {}."
)
NOT_DUE = Wording("Not due to the player: {}.", "Part non due au joueur : {}.")

NO_NAMES: Mapping[str, str] = MappingProxyType({})


class FindingRef(Struct, frozen=True, array_like=True, gc=False):
    """What names a finding within its stream."""

    rule: str
    seq: int
    wager: str | None = None

    @property
    def order(self) -> tuple[int, str, str]:
        return (self.seq, self.rule, self.wager or "")

    def as_dict(self) -> dict[str, int | str | None]:
        return {"rule": self.rule, "seq": self.seq, "wager": self.wager}

    def written(self) -> str:
        """Return it as a fact of another finding."""
        return " ".join((str(self.seq), self.rule, *([] if self.wager is None else [self.wager])))

    @classmethod
    def read(cls, written: int | str) -> FindingRef:
        """Return what ``written`` gave."""
        seq, rule, *wager = str(written).split(" ", 2)
        return cls(rule, int(seq), wager[0] if wager else None)


class Owed(Struct, frozen=True, gc=False):
    """Who owes ``amount`` (minor units, at least 1). ``to`` is a player, None if unknown or if the player owes."""

    by: Literal["house", "player"]
    to: str | None
    amount: int

    def as_dict(self) -> dict[str, int | str | None]:
        return {"by": self.by, "to": self.to, "amount": self.amount}


class Outcome(Struct, frozen=True, gc=False):
    """A wager whose outcome is another by a change: its status and the player's gain, ``was`` and ``before`` it.

    Gains are in minor units, below zero where the player loses. ``player`` is None if not known.
    """

    wager: str
    player: str | None
    was: str
    now: str
    before: int
    after: int

    def as_dict(self) -> dict[str, int | str | None]:
        return {name: getattr(self, name) for name in self.__struct_fields__}

    def written(self) -> list[int | str]:
        """Return it as part of a fact of a finding."""
        return [self.wager, self.player or "", self.was, self.now, self.before, self.after]

    @classmethod
    def read_all(cls, fact: Fact) -> tuple[Outcome, ...]:
        """Return the outcomes that a fact has, one after the other as ``written`` gave them; none of any other fact."""
        if not isinstance(fact, list | tuple):
            return ()
        size = len(cls.__struct_fields__)
        rows = (fact[at : at + size] for at in range(0, len(fact), size))
        return tuple(
            cls(str(wager), str(player) or None, str(was), str(now), int(before), int(after))
            for wager, player, was, now, before, after in rows
        )


HIDING = ("entry-corrected", "entry-annulled")
"""The rules whose findings say what they took away."""


class Finding(Struct, frozen=True, kw_only=True):
    """One irregularity. ``seq`` is the event that completes it; ``evidence`` ends no later than there.

    ``expected`` and ``recorded`` are amounts in minor units or text, as ``Rule.expected_is`` and ``recorded_is`` say in
    the catalogue. ``provision`` is the label of the clause (``provisions.PROVISIONS``), None for a rule that rests on
    the event contract alone; ``provisions`` are all the clauses to cite. ``after_loss``: events before it are missing,
    so the state may be wrong.

    ``difference`` is what was recorded less what was due, in minor units, of the part the finding is about: positive
    where the player has too much. None: no money is concerned. ``player`` is whose stake or seat it is, ``croupier``
    who paid or was on duty; None if not known. ``causes`` are the findings without which this one would not hold, the
    earliest first; ``consequences`` those of which it is a cause, filled in a whole answer only.
    ``put_right_by`` is the event of a later coup that made good what it is about, None as long as none did.
    ``ruleset`` is that of the session, which names its bets; None if the stream gives none.
    """

    rule: str
    severity: str
    seq: int
    evidence: tuple[int, ...]
    wager: str | None = None
    expected: int | str | None = None
    recorded: int | str | None = None
    provision: str | None = None
    provisions: tuple[str, ...] = ()
    after_loss: bool = False
    difference: int | None = None
    owed: Owed | None = None
    player: str | None = None
    croupier: str | None = None
    causes: tuple[FindingRef, ...] = ()
    consequences: tuple[FindingRef, ...] = ()
    facts: dict[str, Fact] = {}
    currency: str = ""
    ruleset: str | None = None
    put_right_by: int | None = None

    @property
    def order(self) -> tuple[int, str, str]:
        """The sort key of findings in an answer."""
        return (self.seq, self.rule, self.wager or "")

    @property
    def ref(self) -> FindingRef:
        """What names this finding within its stream."""
        return FindingRef(self.rule, self.seq, self.wager)

    @property
    def caused_by(self) -> FindingRef | None:
        """The earliest cause; None if this finding holds by itself."""
        return self.causes[0] if self.causes else None

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The wagers whose outcome is another by the correction or annulment that this is about, fifty at most."""
        return Outcome.read_all(self.facts.get("outcomes"))

    @property
    def hides(self) -> tuple[FindingRef, ...]:
        """The findings that would stand without the correction or annulment that this one is about, in order."""
        hidden = self.facts.get("hides")
        return tuple(map(FindingRef.read, hidden)) if isinstance(hidden, list | tuple) else ()

    @property
    def outcomes_sum(self) -> dict[str, int] | None:
        """How many outcomes are another, and what all those players gain before and after; None if none is."""
        count, before, after = (self.facts.get(name) for name in ("outcome_count", "sum_before", "sum_after"))
        if not (isinstance(count, int) and isinstance(before, int) and isinstance(after, int)):
            return None
        return {"wagers": count, "before": before, "after": after}

    def message(self, language: Language, write: Writer = amount) -> str:
        """Return the finding as a sentence, its amounts as ``write`` writes them."""
        sentence = message(self.rule, self._known_facts(), language, self.currency, write, ruleset=self.ruleset)
        if (reading := self.facts.get("reading")) is not None:
            named = word("readings", reading, language)
            sentence = f"{sentence} {READ_OTHERWISE.in_language(language).format(named)}"
        if self.put_right_by is not None:
            return f"{sentence} {PUT_RIGHT.in_language(language).format(self.put_right_by)}"
        return " ".join([sentence, *self._sums(language, write)])

    def _sums(self, language: Language, write: Writer) -> Iterator[str]:
        """Yield what makes the amounts of the sentence and the one of the remedy add up."""

        def of(wording: Wording, *amounts: int) -> str:
            return wording.in_language(language).format(*(write(each, self.currency, language) for each in amounts))

        wrong = abs(self.difference or 0)
        if not wrong:
            return
        if self.rule in groups.PAID and isinstance(self.expected, int) and isinstance(self.recorded, int):
            before = abs(self.recorded - self.expected) - wrong
            if before > 0:
                yield of(FOUND_BEFORE, before)
        elif self.rule in groups.WITHDRAWALS_FORBIDDEN and wrong != self.recorded:
            yield of(NOT_DUE, wrong)
        if self.owed is not None and self.owed.amount < wrong:
            yield of(MADE_GOOD_SINCE, wrong - self.owed.amount, self.owed.amount)
        elif self.owed is not None and self.owed.amount > wrong:
            yield of(GROWN_SINCE, self.owed.amount)

    def remedy(self, language: Language, names: Mapping[str, str] = NO_NAMES, write: Writer = amount) -> str:
        """Return what to do about it, as a sentence, its amounts as ``write`` writes them.

        ``names`` are put in the place of ids: of the "player" and of the "croupier".
        """
        owed = None if self.owed is None else (self.owed.by, self.owed.amount)
        persons: dict[str, Fact] = {"player": self.player, "croupier": self.croupier, **names}
        now: dict[str, Fact] = {"put_right_by": self.put_right_by, "by_party": int(self._was_settled_by_party)}
        facts = self._known_facts() | persons | now
        return remedy(self.rule, facts, owed, language, self.currency, write, ruleset=self.ruleset)

    @property
    def _was_settled_by_party(self) -> bool:
        """Whether a party approved what put it right: then it keeps its difference."""
        return self.put_right_by is not None and bool(self.difference)

    def put_right(self, seq: int) -> Finding:
        """Return this finding as it reads once event ``seq`` has made good what it is about: nothing is owed."""
        return replace(self, put_right_by=seq, difference=0, owed=None)

    def _known_facts(self) -> dict[str, Fact]:
        standard = {"wager": self.wager, "expected": self.expected, "recorded": self.recorded, "seq": self.seq}
        return standard | self.facts

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON object of section 6 of the event contract."""
        answer: dict[str, Any] = {
            "rule": self.rule,
            "severity": self.severity,
            "seq": self.seq,
            "evidence": list(self.evidence),
        }
        if self.wager is not None:
            answer["wager"] = self.wager
        answer["expected"] = self.expected
        answer["recorded"] = self.recorded
        answer["difference"] = self.difference
        answer["owed"] = None if self.owed is None else self.owed.as_dict()
        answer["player"] = self.player
        answer["croupier"] = self.croupier
        answer["provision"] = self.provision
        answer["provisions"] = list(self.provisions)
        if self.after_loss:
            answer["after_loss"] = True
        if self.rule in HIDING:
            answer["hides"] = [hidden.as_dict() for hidden in self.hides]
            answer["outcomes"] = [outcome.as_dict() for outcome in self.outcomes]
            answer["outcomes_sum"] = self.outcomes_sum
        if self.put_right_by is not None:
            answer["put_right_by"] = self.put_right_by
        answer["caused_by"] = None if self.caused_by is None else self.caused_by.as_dict()
        answer["causes"] = [cause.as_dict() for cause in self.causes]
        answer["consequences"] = [consequence.as_dict() for consequence in self.consequences]
        answer["message"] = {"en": self.message("en"), "fr": self.message("fr")}
        answer["remedy"] = {"en": self.remedy("en"), "fr": self.remedy("fr")}
        return answer


def latest(findings: Iterable[Finding]) -> list[Finding]:
    """Return ``findings``, each identity (seq, rule, wager) where it first came, as it was last given."""
    return list({finding.order: finding for finding in findings}.values())
