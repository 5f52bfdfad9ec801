"""Every checked obligation of the law is broken alone in a tape, and found. Tapes: see ``tests.settlement.tapes``.

A row is an obligation, the rule that finds it broken, and the tape: its lines, ``;`` between them. The rows of a text
are in the order of its clauses, so that none can be left out.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from settlement import adjudicate
from settlement.law_coverage import articles, covered
from settlement.law_coverage.sentence import Article, Clause
from tests.settlement.tapes import read

Row = tuple[str, str, str]

A = "fr-american-roulette"
CRAPS = "fr-craps"
QC = "qc-craps"
SET = "dice a b c d e f by=opening"


def row(obligation: str, rule: str, header: str, *lines: str) -> Row:
    return obligation, rule, "; ".join((header, *lines))


def table(text: str) -> list[Row]:
    """Return the rows of a table: the obligation, the rule and the tape, ``|`` between them."""
    found = []
    for line in text.strip().splitlines():
        obligation, rule, tape = (cell.strip() for cell in line.split("|"))
        found.append((obligation, rule, tape))
    return found


# Roulette

ART_54 = table("""
    faire usage     | wager-not-permitted            | fr-roulette; place w tip 100
    rapporte        | payout-overpaid                | fr-roulette; place w plein 100 numbers=3; land 3; pay w 3600+100
    rapporte        | payout-overpaid                | fr-roulette; place w cheval 100 numbers=1,2; land 1; pay w 1800+100
    rapporte        | payout-overpaid                | fr-roulette; place w transversale 100 numbers=1,2,3; land 1; pay w 1200+100
    rapporte        | payout-overpaid                | fr-roulette; place w carre 100 numbers=1,2,4,5; land 1; pay w 900+100
    rapporte        | payout-overpaid                | fr-roulette; place w sixain 100 numbers=1,2,3,4,5,6; land 1; pay w 600+100
    rapporte        | payout-overpaid                | fr-roulette; place w douzaine 100 which=1; land 1; pay w 300+100
    rapporte        | payout-overpaid                | fr-roulette; place w deux_douzaines 100 which=1,2; land 1; pay w 60+100
    1 fois la mise  | payout-overpaid                | fr-roulette; place w pair 100; land 2; pay w 200+100
    1 fois la mise  | payout-overpaid                | fr-roulette; place w manque 100; land 2; pay w 200+100
    1 fois la mise  | payout-overpaid                | fr-roulette; place w noir 100; land 2; pay w 200+100
    conserve        | stake-not-returned             | fr-roulette; place w noir 100; land 2; pay w 100+0
    s'offrent       | zero-decision-missing          | fr-roulette; place w noir 1000; land 0; land 1
    Retirer         | half-refund-mismatch           | fr-roulette; place w noir 1000; land 0; zero w half; pay w 0+400
    Laisser         | imprisoned-stake-withdrawn     | fr-roulette; place w noir 1000; land 0; zero w prison; take w
    reprennent      | imprisoned-stake-paid-winnings | fr-roulette; place w noir 1000; land 0; zero w prison; land 2; pay w 1000+1000
    perdues         | losing-wager-paid              | fr-roulette; place w noir 1000; land 0; zero w prison; land 1; pay w 0+1000
    laissé          | zero-decision-missing          | fr-roulette; place w noir 1000; land 0; zero w prison; land 0; land 1
    perdu           | half-refund-mismatch           | fr-roulette; place w noir 1000; land 0; zero w prison; land 0; zero w half; pay w 0+500
    tenu d'accepter | last-coup-refund-mismatch      | fr-roulette; place w noir 1000; last; land 0; pay w 0+1000
""")  # noqa: E501

SPUN = f"{A} wheel; spin clockwise; launch counterclockwise"

ART_57_1 = table(f"""
    divisé                    | invalid-pocket               | {A}; land 38
    portent                   | invalid-pocket               | {A}; land 37
    figure                    | invalid-pocket               | {A}; land 000
    recevoir                  | colour-shared                | {A}; colour Anna blue 100; colour Bruno blue 100
    indiquant                 | colour-value-undeclared      | {A}; colour Anna blue null
    ne permet                 | seat-limit-exceeded          | {A} seating seats_at_most=1; sit Anna; sit Bruno
    un chef de table          | table-without-chief          | {A} staff staff=croupier; land 1
    un croupier               | table-without-croupier       | {A} staff staff=chef_de_table; land 1
    un employé                | staffing-invalid             | {A} staff staff=chef_de_table,croupier,employe,employe; land 1
    remet                     | marker-not-from-chief        | {A}; colour Anna blue 100 from=croupier
    ne manipule               | chief-handled-chips          | {A}; land 1; handle chef_de_table
    actionner                 | wheel-not-spun               | {A} wheel; launch clockwise; land 1
    dans un sens opposé       | wheel-direction-repeated     | {SPUN}; land 1; spin clockwise; launch counterclockwise; land 2
    lancer                    | ball-not-launched            | {A} wheel; spin clockwise; land 1
    en sens inverse           | ball-same-direction-as-wheel | {A} wheel; spin clockwise; launch clockwise; land 1
    arrêter                   | result-after-fallen-chip     | {SPUN}; chip; land 1
    reprendre                 | result-after-fallen-chip     | {SPUN}; chip; launch counterclockwise; land 1
    lancer                    | result-after-fallen-chip     | {SPUN}; chip; retrieve; land 1
    annonce                   | no-more-bets-missing         | {A} calls; land 1
    ne peut plus être placé   | wager-after-no-more-bets     | {A} calls; call; place w plein 100 numbers=5; land 1
    reconstituer              | stacks-not-rebuilt           | {A} handling staff=chef_de_table,croupier; land 1; launch clockwise
    annonce                   | result-not-announced         | {A} announcements; land 1; spin clockwise
    les chances simples       | announcement-mismatch        | {A}; land 1; announce 1 manque rouge; land 2
    ramasse                   | payment-before-collection    | {A} collections; place w rouge 100; place v noir 100; land 1; pay w 100+100; sweep v
    procède                   | payments-interleaved         | {A}; place w rouge 100 player=Anna; place v rouge 100 player=Bruno; place u plein 100 player=Anna numbers=1; land 1; pay w 100+100; pay v 100+100; pay u 3500+100
    annoncé                   | payment-not-announced        | {A} announcements; place w rouge 100; land 1; announce 1 manque impair rouge; pay w 100+100
    effectués                 | payment-order-violated       | {A}; place w plein 100 player=Anna numbers=1; place v rouge 100 player=Anna; land 1; pay w 3500+100; pay v 100+100
    se font                   | payment-without-colour       | {A} colours; colour Anna blue 100; place w rouge 100 player=Anna colour=blue; land 1; pay w 100+100
""")  # noqa: E501

# La boule

B = "fr-boule"
ROLLS = [f"roll {1 + number % 9} person=p0" for number in range(30)]

ART_45 = [
    row(obligation, "thrower-not-rotated", f"{B} staff staff=croupier,employe", *ROLLS, "close")
    for obligation in ("doivent être chargés", "spécialisé")
]

ART_46 = table(f"""
    autorisés    | boule-number-invalid | {B}; roll 10
    fait usage   | wager-not-permitted  | {B}; place w cheval 100
    rapporte     | payout-overpaid      | {B}; place w plein 100 number=5; roll 5; pay w 800+100
    rapporte     | payout-overpaid      | {B}; place w noir 100; roll 4; pay w 700+100
    perdante     | losing-wager-paid    | {B}; place w impair 100; roll 5; pay w 100+100
""")

# Craps: the dice

HELD = f"{CRAPS} custody; {SET}; offer S1; place w win 1000 seat=S1; select S1 a b / c d e f"
SEATED = f"{CRAPS} custody seating seats=S1,S2,S3; sit P1 seat=S1; sit P2 seat=S2; sit P3 seat=S3"

ART_55_7 = table(f"""
    proposés               | first-shooter-not-left-of-croupiers        | {SEATED}; offer S2
    dans le sens des aiguilles d'une montre | dice-not-offered-clockwise | {SEATED}; offer S1; decline S1; offer S3
    passent                | throw-by-non-shooter                       | {CRAPS} custody; offer S1; place w win 1000 seat=S1; decline S1; throw 5-6 seat=S1
    éviter                 | dice-touched-without-cause                 | {CRAPS}; touch stickman habit
    jeter                  | throw-without-no-more-bets                 | {CRAPS} calls; throw 1-1
    frotter                | dice-rubbed-or-held                        | {CRAPS}; throw 1-1 flags=rubbed_or_held
    garder                 | dice-rubbed-or-held                        | {CRAPS}; throw 1-1 flags=rubbed_or_held
    demander               | dice-change-not-authorised                 | {CRAPS} custody; dice a b c d e f by=croupier
    faire                  | dice-changed-during-point-series           | {HELD}; throw 5-3 seat=S1; dice g h i j k l by=chef_de_table
    lancés                 | irregular-throw-counted                    | {CRAPS}; throw 1-1 flags=wrong_direction
    s'immobilisent         | irregular-throw-counted                    | {CRAPS}; throw 1-1 flags=short_of_far_end
    frappé                 | irregular-throw-counted                    | {CRAPS}; throw 1-1 flags=no_wall_contact
    rouler                 | irregular-throw-counted                    | {CRAPS}; throw 1-1 flags=slid
    immobilisés            | irregular-throw-counted                    | {CRAPS}; throw 1-1 flags=straddling
    annonce                | void-not-announced-by-stickman             | {CRAPS}; void slid by=croupier
    retirer                | shooter-removed-by-wrong-role              | {CRAPS} custody; offer S1; void slid seat=S1; void off_table seat=S1; remove S1 by=stickman
    viole de façon répétée | shooter-removed-without-repeated-violation | {CRAPS} custody; offer S1; void slid seat=S1; remove S1 by=chef_de_table
    décider                | dice-change-not-authorised                 | {CRAPS} custody; {SET}; dice g h i j k l by=croupier
    annonce                | dice-change-not-announced                  | {CRAPS} custody; dice a b c d e f by=chef_de_table announced=false
    six dés                | dice-set-not-six                           | {CRAPS} custody; dice a b c d e by=chef_de_table
    prend                  | dice-changed-during-point-series           | {HELD}; throw 5-3 seat=S1; select S1 c d / a b e f
    remis                  | dice-remainder-not-boxed                   | {CRAPS} custody; {SET}; offer S1; select S1 a b / c d e
    déposée                | wager-after-no-more-bets                   | {CRAPS} calls; call; place w field 1000; throw 1-2
    avoir déposé           | shooter-without-line-wager                 | {CRAPS} custody; offer S1; throw 1-1 seat=S1
""")  # noqa: E501

# Craps: the bets. Each is w, of 1000, and where it has a base that is b.


def unpaid(verb: str, *lines: str, header: str = CRAPS) -> Row:
    return row(verb, "payout-missing", header, *lines, "throw 1-2")


def lost_and_paid(verb: str, *lines: str, header: str = CRAPS) -> Row:
    return row(verb, "losing-wager-paid", header, *lines, "pay w 1000+1000")


def waiting_and_paid(verb: str, *lines: str, header: str = CRAPS) -> Row:
    return row(verb, "push-paid", header, *lines, "pay w 1000+1000")


def overpaid(verb: str, due: int, *lines: str, header: str = CRAPS) -> Row:
    return row(verb, "payout-overpaid", header, *lines, f"pay w {due + 1}+1000")


def withdrawn(verb: str, *lines: str, header: str = CRAPS) -> Row:
    return row(verb, "withdrawal-not-after-indecisive-roll", header, *lines, "take w")


def line_bets() -> Iterator[Row]:
    win, dont = "place w win 1000", "place w dont_win 1000"
    point, seven = "throw 2-2", "throw 3-4"
    yield row("se joue", "line-wager-after-come-out", CRAPS, point, win)
    yield unpaid("gagne", win, "throw 5-6")
    yield lost_and_paid("perd", win, "throw 1-1")
    yield waiting_and_paid("suspendu", win, point)
    yield row("indique", "point-marker-missing", f"{CRAPS} marker", point, "throw 1-2")
    yield unpaid("gagnante", win, point, "throw 1-3")
    yield lost_and_paid("perdante", win, point, seven)
    yield waiting_and_paid("en attente", win, point, "throw 1-2")
    again = ("place v win 1000 seat=S1", "throw 1-2 seat=S1")
    turn = ("offer S1", f"{win} seat=S1", f"{point} seat=S1", f"{seven} seat=S1")
    yield row("changent de mains", "shooter-kept-dice-after-seven-out", f"{CRAPS} custody", *turn, *again)
    yield row("se joue", "line-wager-after-come-out", CRAPS, point, dont)
    yield unpaid("gagne", dont, "throw 1-1")
    yield lost_and_paid("perd", dont, "throw 5-6")
    yield row("fait coup nul", "barred-number-settled", CRAPS, dont, "throw 6-6", "pay w 1000+1000")
    yield waiting_and_paid("suspendu", dont, point)
    yield unpaid("gagnante", dont, point, seven)
    yield lost_and_paid("perdante", dont, point, "throw 1-3")


def come_bets() -> Iterator[Row]:
    come, dont, seven, five = "place w come 1000", "place w dont_come 1000", "throw 3-4", "throw 2-3"
    point = "throw 2-2"
    yield row("se joue", "come-wager-on-come-out", CRAPS, come)
    yield unpaid("gagne", point, come, "throw 5-6")
    yield lost_and_paid("perd", point, come, "throw 1-1")
    yield row("placée", "come-moved-to-wrong-number", CRAPS, point, come, five, "move w 6", "throw 1-2")
    yield unpaid("gagne", point, come, five, five)
    yield lost_and_paid("perd", point, come, five, seven)
    yield waiting_and_paid("reste en attente", point, come, five, "throw 1-2")
    yield row("se joue", "come-wager-on-come-out", CRAPS, dont)
    yield unpaid("gagne", point, dont, "throw 1-1")
    yield lost_and_paid("perd", point, dont, "throw 5-6")
    yield row("fait coup nul", "barred-number-settled", CRAPS, point, dont, "throw 6-6", "pay w 1000+1000")
    yield row("placée", "come-moved-to-wrong-number", CRAPS, point, dont, five, "move w 6", "throw 1-2")
    yield unpaid("gagne", point, dont, five, seven)
    yield lost_and_paid("perd", point, dont, five, five)
    yield row("retirées", "contract-wager-withdrawn", CRAPS, "place w win 1000", point, "take w")
    yield row("jouer", "wager-left-open", CRAPS, "place w win 1000", point, "close")


def other_simple_chances() -> Iterator[Row]:
    field, six, eight = "place w field 1000", "place w big_6 1000", "place w big_8 1000"
    under, over = "place w under_7 1000", "place w over_7 1000"
    yield row("décisif", "one-roll-wager-withdrawn", CRAPS, field, "take w")
    yield unpaid("gagne", field, "throw 1-2")
    yield lost_and_paid("perd", field, "throw 2-3")
    yield overpaid("se paie double", 2000, field, "throw 1-1")
    yield overpaid("à égalité", 1000, field, "throw 1-2")
    for placed, number in ((six, "throw 3-3"), (eight, "throw 4-4")):
        yield unpaid("gagne", placed, number)
        yield lost_and_paid("perd", placed, "throw 3-4")
        yield withdrawn("retirée", placed)
    for placed, number in ((under, "throw 1-2"), (over, "throw 5-6")):
        yield unpaid("gagne", placed, number)
        yield lost_and_paid("perd", placed, "throw 3-4")


def multiple_chances() -> Iterator[Row]:
    four, six = "place w hardway 1000 number=4", "place w hardway 1000 number=6"
    yield row("se jouent", "invalid-wager-number", CRAPS, "place w hardway 1000 number=5")
    yield withdrawn("retirées", four)
    yield unpaid("gagnent", four, "throw 2-2")
    yield lost_and_paid("perdent", four, "throw 1-3")
    yield overpaid("payés", 7000, four, "throw 2-2")
    yield overpaid("9 fois la mise", 9000, six, "throw 3-3")
    for bet, number, times in (
        ("seven", "3-4", 4), ("eleven", "5-6", 15), ("any_craps", "1-1", 7), ("craps_2", "1-1", 30),
        ("craps_3", "1-2", 15), ("craps_12", "6-6", 30), ("horn", "1-1", 4),
    ):  # fmt: skip
        placed = f"place w {bet} 1000"
        yield overpaid("se paie", 1000 * times, placed, f"throw {number}")
        yield unpaid("gagne", placed, f"throw {number}")
        yield lost_and_paid("perd", placed, "throw 4-4")


def odds() -> Iterator[Row]:
    on_win = ("place b win 1000", "throw 2-2", "place w win_odds 1000 base=b")
    yield row("jouées", "odds-without-base-wager", CRAPS, "throw 2-2", "place w win_odds 1000")
    yield lost_and_paid("suivent", *on_win, "throw 3-4")
    yield withdrawn("retirées", *on_win)
    for bet, wins, loses, due in (
        ("win", "throw 1-3", "throw 3-4", 2000),
        ("dont_win", "throw 3-4", "throw 1-3", 500),
        ("come", "throw 1-3", "throw 3-4", 2000),
        ("dont_come", "throw 3-4", "throw 1-3", 500),
    ):
        point = ("throw 2-3",) if bet.endswith("come") else ()
        based = (*point, f"place b {bet} 1000", "throw 2-2", f"place w {bet}_odds 1000 base=b")
        yield unpaid("gagne", *based, wins, "pay b 1000+1000")
        yield lost_and_paid("perd", *based, loses)
        yield waiting_and_paid("fait coup nul", *based, "throw 1-2")
        yield overpaid("payée", due, *based, wins, "pay b 1000+1000")


def place_bets() -> Iterator[Row]:
    right, wrong = "place w right_bet 1000 number=5", "place w wrong_bet 1000 number=6 marker=wrong_bet"
    yield row("se jouer", "invalid-wager-number", CRAPS, "place w right_bet 1000 number=7")
    yield withdrawn("retirés", right)
    yield unpaid("gagne", right, "throw 2-3")
    yield lost_and_paid("perd", right, "throw 3-4")
    yield waiting_and_paid("fait coup nul", right, "throw 1-1")
    yield overpaid("payée", 1400, right, "throw 2-3")
    yield row("différenciée", "wrong-bet-not-marked", CRAPS, "place w wrong_bet 1000 number=6")
    yield unpaid("gagne", wrong, "throw 3-4")
    yield lost_and_paid("perd", wrong, "throw 3-3")
    yield waiting_and_paid("fait coup nul", wrong, "throw 1-1")
    yield overpaid("payée", 800, wrong, "throw 3-4")


ART_55_8 = [
    row("faire usage", "wager-not-permitted", CRAPS, "place w rouge 1000"),
    overpaid("se paient", 1000, "place w win 1000", "throw 5-6"),
    *line_bets(),
    *come_bets(),
    *other_simple_chances(),
    *multiple_chances(),
    *odds(),
    *place_bets(),
]


# Québec


def in_quebec() -> Iterator[Row]:
    point = "throw 3-3"  # without one a right bet and a buy bet are off
    right, buy, lay = (
        "place w right_bet 1000 number=5",
        "place w buy_bet 1000 number=5",
        "place w lay_bet 1000 number=4",
    )
    yield row("wager on the numbers", "invalid-wager-number", QC, "place w right_bet 1000 number=7")
    yield withdrawn("withdrawn", right, header=QC)
    yield row("is placed", "undue-commission", QC, f"{right} commission=50")
    yield from decided(1400, point, right, "throw 2-3", "throw 3-4")
    yield from inactive(right)
    yield row("identified", "wager-marker-missing", QC, f"{buy} commission=50")
    yield row("has paid", "commission-not-paid", QC, f"{buy} marker=buy")
    yield row("5%", "commission-amount-mismatch", QC, f"{buy} marker=buy commission=40")
    yield from decided(1500, point, f"{buy} marker=buy commission=50", "throw 2-3", "throw 3-4")
    yield from inactive(f"{buy} marker=buy commission=50")
    yield row("identified", "wager-marker-missing", QC, f"{lay} commission=25")
    yield row("has paid", "commission-not-paid", QC, f"{lay} marker=lay")
    yield row("5%", "commission-amount-mismatch", QC, f"{lay} marker=lay commission=20")
    yield from decided(500, point, f"{lay} marker=lay commission=25", "throw 3-4", "throw 2-2")


def decided(due: int, point: str, placed: str, wins: str, loses: str) -> Iterator[Row]:
    yield unpaid("shall win", point, placed, wins, header=QC)
    yield lost_and_paid("shall lose", point, placed, loses, header=QC)
    yield waiting_and_paid("“push”", point, placed, "throw 1-1", header=QC)
    yield overpaid("is paid", due, point, placed, wins, header=QC)


def inactive(placed: str) -> Iterator[Row]:
    yield row("is not active", "inactive-wager-settled", QC, placed, "throw 2-3", "pay w 1000+1000")
    yield row("indicated", "working-call-late", f"{QC} calls", placed, "call", "switch w on", "throw 1-1")


ROWS = {
    "fr-art-45": ART_45,
    "fr-art-46": ART_46,
    "fr-art-54": ART_54,
    "fr-art-55-7": ART_55_7,
    "fr-art-55-8": ART_55_8,
    "fr-art-57-1": ART_57_1,
    "qc-s-13.1-r-3-s-95.17": list(in_quebec()),
}

EVERY_ROW = [
    pytest.param(text, index, id=f"{text}-{index}-{each[0]}")
    for text, rows in ROWS.items()
    for index, each in enumerate(rows)
]


def checked(article: Article) -> list[tuple[Clause, int, int]]:
    return [(clause, start, end) for clause, start, end in article.spans() if clause.rules]


@pytest.mark.parametrize("article", articles(), ids=lambda article: article.text.id)
def test_no_checked_obligation_lacks_a_tape(article: Article) -> None:
    obligations = [clause.obligation for clause, _start, _end in checked(article)]
    assert [obligation for obligation, _rule, _tape in ROWS[article.text.id]] == obligations


@pytest.mark.parametrize("article", articles(), ids=lambda article: article.text.id)
def test_an_obligation_is_in_words_of_its_clause_and_is_checked_or_says_why_not(article: Article) -> None:
    for clause, start, end in article.spans():
        if not clause.obligation:
            assert not clause.rules, clause.opening
            assert clause.why is None, clause.opening
            continue
        assert clause.obligation in article.text.content[start:end], clause.opening
        assert clause.rules or clause.why, clause.opening


@pytest.mark.parametrize(("text", "index"), EVERY_ROW)
def test_a_tape_breaks_an_obligation_alone_and_is_found(text: str, index: int) -> None:
    obligation, rule, tape = ROWS[text][index]
    article = next(each for each in articles() if each.text.id == text)
    clause, start, _end = checked(article)[index]
    lines = "\n".join(part.strip() for part in tape.split(";"))
    answer = adjudicate([line.raw for line in read(lines)])
    assert {found.rule for found in answer.findings} == {rule}
    assert answer.ruleset in article.governs
    entry = next(each for each in covered(answer.ruleset) if (each.text, each.start) == (text, start))
    assert (entry.obligation, clause.obligation) == (obligation, obligation)
    assert rule in entry.rules
    assert "checked" in entry.kinds
