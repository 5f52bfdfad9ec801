"""Racks counted by hand: what the chips do, event by event, in a column that no code has computed.

Each tape is a session at a table that opens with 10,000. The right-hand column is the rack after the line, counted in
chips, and the last line closes with it. W_acct = K + C + D − O − F is then summed by hand, and so are the win by the
rules and what the table paid otherwise: the figures must say the same, and leave no accounting variance.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from settlement import Event, decode
from settlement.night.bridge import Bridge
from settlement.night.figures import Figures, SessionProjection
from tests.settlement.tapes import read


class Counted(NamedTuple):
    """A session: ``drop`` as the count room found it, the accounting win, the win by the rules, and payout errors.

    ``rack`` is what it holds in the midst of a coup, where the session is not closed.
    """

    tape: str
    drop: int
    win: int
    by_rules: int
    errors: int
    rack: int | None = None


CASES = {
    # K 6,960 + C 1,000 + D 3,000 − O 10,000 − F 5,000 = −4,040; by the rules −3,500 − 1,000 + 500; 40 not taken back
    "taken back, one payment in part and one of two whole": Counted(
        """
        fr-roulette collections float=10000   # rack 10,000
        buy 3000                              # rack  7,000   box 3,000
        place w1 plein 100 numbers=17         #                       layout 100
        place w2 noir 1000                    #                       layout 1,100
        land 17
        pay w1 3600+100                       # rack  3,400           3,500 are due
        recover w1 60+0                       # rack  3,460           40 too much
        pay w2 1000+1000                      # rack  2,460           layout 0
        pay w2 1000+1000                      # rack    460           both parts out of the rack
        recover w2 1000+1000                  # rack  2,460
        place w3 manque 500                   #                       layout 500
        land 20
        sweep w3                              # rack  2,960
        fill 5000 1                           # rack  7,960
        credit 1000 2                         # rack  6,960
        close 6960
        """,
        drop=3000,
        win=-4040,
        by_rules=-4000,
        errors=-40,
    ),
    # K 6,040 + D 2,000 − O 10,000 = −1,960; by the rules +1,000 + 1,000 − 1,000; given away 1,960 and 1,000
    "taken back in a later coup, and not whole": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        buy 2000                              # rack  8,000
        place w1 field 1000                   #                       layout 1,000
        place w2 big_6 1000                   #                       layout 2,000
        throw 5-2                             # w1 lost, w2 lost
        pay w1 1000+1000                      # rack  7,000           its stake off the layout, 1,000 out of the rack
        throw 5-6                             # w2 is swept: rack 8,000
        recover w1 40+0                       # rack  8,040
        place w3 field 1000                   #                       layout 1,000
        throw 5-6
        pay w3 1000+1000                      # rack  7,040
        pay ghost 700+300                     # rack  6,040           nobody placed it
        throw 5-6
        close 6040
        """,
        drop=2000,
        win=-1960,
        by_rules=1000,
        errors=-2960,
    ),
    # K 7,600 + D 2,000 − O 10,000 = −400; by the rules 0; 1,000 for a wager that nobody placed, of which 600 came back
    "paid for a wager that nobody placed, and taken back in part a coup later": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        buy 2000                              # rack  8,000
        pay ghost 700+300                     # rack  7,000
        throw 5-6
        recover ghost 400+0                   # rack  7,400
        throw 5-6
        recover ghost 0+200                   # rack  7,600
        close 7600
        """,
        drop=2000,
        win=-400,
        by_rules=0,
        errors=-400,
    ),
    # K 6,715 + D 2,000 − O 10,000 = −1,285; by the rules −1,000; +40 short, −525 goodwill, +200 paid by the player
    "goodwill, tips, and disputes settled by either side": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        buy 2000                              # rack  8,000
        place w1 field 1000                   #                       layout 1,000
        throw 5-6
        pay w1 900+1000                       # rack  7,100           100 short
        throw 5-2
        dispute w1                            # event 7
        settle 7 60 approved_by=chef          # rack  7,040           40 short still
        goodwill 500 approved_by=chef         # rack  6,540
        goodwill 25                           # rack  6,515
        tip 300                               # rack  6,515           to the staff's box
        dispute player=Anna                   # event 12
        settle 12 200 by=player approved_by=chef  # rack 6,715
        settle 12 999                         # rack  6,715           nobody approved it: no effect
        close 6715
        """,
        drop=2000,
        win=-1285,
        by_rules=-1000,
        errors=-285,
    ),
    # K 7,000 + D 2,000 − O 10,000 = −1,000, which is due
    "a dispute settled for what was short": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        buy 2000                              # rack  8,000
        place w1 field 1000                   #                       layout 1,000
        throw 5-6
        pay w1 900+1000                       # rack  7,100
        throw 5-2
        dispute w1                            # event 7
        settle 7 100 approved_by=chef         # rack  7,000
        close 7000
        """,
        drop=2000,
        win=-1000,
        by_rules=-1000,
        errors=0,
    ),
    # K 8,600 + D 2,000 − O 10,000 = +600: w2 lost 600, and nothing of w1 is the house's
    "a released stake that nobody takes goes to the cash desk": Counted(
        """
        fr-roulette collections float=10000   # rack 10,000
        buy 2000                              # rack  8,000
        place w1 rouge 1000                   #                       layout 1,000
        place w2 noir 600                     #                       layout 1,600
        land 0
        zero w1 prison
        zero w2 prison
        land 1                                # red: w1 is free, w2 lost
        sweep w2                              # rack  8,600           layout 1,000
        land 3
        orphan 1000 wager=w1                  # rack  8,600           layout 0, cash desk 1,000
        close 8600
        """,
        drop=2000,
        win=600,
        by_rules=600,
        errors=0,
    ),
    # K 9,000 + D 2,000 − O 10,000 = +1,000: of two stakes a half each
    "two players say the half at a zero, and take it unseen": Counted(
        """
        fr-roulette float=10000               # rack 10,000
        buy 2000                              # rack  8,000
        place w1 rouge 1000                   #                       layout 1,000
        place w2 noir 1000                    #                       layout 2,000
        land 0
        zero w1 half                          #                       layout 1,500
        zero w2 half                          #                       layout 1,000
        sweep w2                              # rack  8,500           layout   500
        land 3                                # rack  9,000           layout 0
        close 9000
        """,
        drop=2000,
        win=1000,
        by_rules=1000,
        errors=0,
    ),
    # K 8,500 + D 2,000 − O 10,000 = +500
    "the half at a zero is said, and the coup goes on": Counted(
        """
        fr-roulette collections float=10000   # rack 10,000
        buy 2000                              # rack  8,000
        place w1 rouge 1000                   #                       layout 1,000
        land 0
        zero w1 half                          #                       layout   500
        sweep w1                              # rack  8,500           layout 0
        """,
        drop=2000,
        win=500,
        by_rules=500,
        errors=0,
        rack=8500,
    ),
    # K 8,300 + D 2,000 − O 10,000 = +300; of 1,000 after two zeros 500 are the house's: 200 of them went to the desk
    "more goes to the cash desk than was free": Counted(
        """
        fr-roulette float=10000               # rack 10,000
        buy 2000                              # rack  8,000
        place w1 rouge 1000                   #                       layout 1,000
        land 0
        zero w1 prison
        land 0
        zero w1 prison
        land 1                                # 500 are free
        land 3
        orphan 700 wager=w1                   #                       layout 300, which the house takes: rack 8,300
        close 8300
        """,
        drop=2000,
        win=300,
        by_rules=500,
        errors=-200,
    ),
    # K 8,000 + D 2,000 − O 10,000 = 0; by the rules +1,000, which went to the cash desk
    "a lost stake goes to the cash desk": Counted(
        """
        fr-roulette float=10000               # rack 10,000
        buy 2000                              # rack  8,000
        place w1 rouge 1000                   #                       layout 1,000
        land 2
        orphan 1000 wager=w1                  #                       layout 0, cash desk 1,000
        close 8000
        """,
        drop=2000,
        win=0,
        by_rules=1000,
        errors=-1000,
    ),
    # K 7,000 + D 2,000 − O 10,000 = −1,000 = −700 − 700 + 400
    "a stake that plays on twice, the second time in part": Counted(
        """
        fr-craps collections float=10000      # rack 10,000
        buy 2000                              # rack  8,000
        place w1 right_bet 600 number=6       #                       layout 600
        throw 3-3
        pay w1 700+0 continues_as=w2          # rack  7,300           layout 600, now w2
        throw 3-3
        pay w2 700+200 continues_as=w3        # rack  6,600           layout 400, now w3
        throw 3-4
        sweep w3                              # rack  7,000
        close 7000
        """,
        drop=2000,
        win=-1000,
        by_rules=-1000,
        errors=0,
    ),
    # K 8,450 + D 2,000 − O 10,000 = +450 = −700 + 1,150; 150 of the 1,150 came from no event: they are the player's own
    "a press out of winnings, and chips that no event shows": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        buy 2000                              # rack  8,000
        place w1 right_bet 600 number=6       #                       layout 600
        throw 3-3                             # 700 are won
        pay w1 300+0                          # rack  7,700
        place w2 right_bet 1150 number=6 left_up_from=w1  # rack 7,300: 400 of the winnings; layout 600 + 400 + 150
        throw 3-4                             # rack  8,450
        close 8450
        """,
        drop=2000,
        win=450,
        by_rules=450,
        errors=0,
    ),
    # K 6,500 + D 2,000 − O 10,000 = −1,500 = −500 − 1,000
    "all of it plays on, stake and winnings, and nothing is handed over": Counted(
        """
        fr-roulette float=10000               # rack 10,000
        buy 2000                              # rack  8,000
        place w1 noir 500                     #                       layout 500
        land 17
        place w2 noir 1000 left_up_from=w1    # rack  7,500           layout 1,000
        land 20
        pay w2 1000+1000                      # rack  6,500           layout 0
        close 6500
        """,
        drop=2000,
        win=-1500,
        by_rules=-1500,
        errors=0,
    ),
    # K 8,100 + D 2,000 − O 10,000 = +100, which the player is owed; his stake still plays
    "taken back without having been paid, from a stake that plays": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        buy 2000                              # rack  8,000
        place w1 big_6 1000                   #                       layout 1,000
        throw 1-1
        recover w1 0+100                      # rack  8,100
        throw 1-1
        close 8100
        """,
        drop=2000,
        win=100,
        by_rules=0,
        errors=100,
    ),
    # K 8,000 + D 2,000 − O 10,000 = 0: the player has his own chips back, and nothing else moved
    "a stake handed back before its withdrawal is recorded": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        buy 2000                              # rack  8,000
        place w1 big_6 1000                   #                       layout 1,000
        throw 1-1
        pay w1 0+1000                         # rack  8,000           layout 0
        take w1
        throw 1-1
        close 8000
        """,
        drop=2000,
        win=0,
        by_rules=0,
        errors=0,
    ),
    # K 8,700 + D 2,000 − O 10,000 = +700
    "a part handed back before it is withdrawn": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        buy 2000                              # rack  8,000
        place w1 big_6 1000                   #                       layout 1,000
        throw 1-1
        pay w1 0+300                          # rack  8,000           layout 700
        take w1 300
        throw 3-4                             # rack  8,700
        close 8700
        """,
        drop=2000,
        win=700,
        by_rules=700,
        errors=0,
    ),
    # K 8,000 + D 2,000 − O 10,000 = 0
    "a stake handed back while it plays, put back a coup later, and withdrawn then": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        buy 2000                              # rack  8,000
        place w1 big_6 1000                   #                       layout 1,000
        throw 1-1
        pay w1 0+1000                         # rack  8,000           layout 0: it plays on credit
        throw 1-1
        recover w1 0+1000                     # rack  8,000           layout 1,000 again
        throw 1-1
        take w1                               # rack  8,000           layout 0
        close 8000
        """,
        drop=2000,
        win=0,
        by_rules=0,
        errors=0,
    ),
    # K 10,000: the 400 are the player's own, counted once, and 200 still play
    "a part handed back before it is withdrawn, in the midst of the coup": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        place w0 field 600                    #                       layout 600
        pay w0 0+400                          # rack 10,000           layout 200
        take w0 400                           #                       it is those 400
        """,
        drop=0,
        win=0,
        by_rules=0,
        errors=0,
        rack=10000,
    ),
    # K 10,000: as above; no wager can play on as itself
    "a part handed back before it is withdrawn, the rest said to play on as itself": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        place w0 field 600                    #                       layout 600
        pay w0 0+400 continues_as=w0          # rack 10,000           layout 200
        take w0 400                           #                       it is those 400
        """,
        drop=0,
        win=0,
        by_rules=0,
        errors=0,
        rack=10000,
    ),
    # K 10,000: the player lifts 400, and the payout says so; 200 still play
    "a part handed back after it is withdrawn, in the midst of the coup": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        place w0 big_6 600                    #                       layout 600
        throw 1-1
        take w0 400                           # rack 10,000           layout 200
        pay w0 0+400                          #                       it is those 400
        """,
        drop=0,
        win=0,
        by_rules=0,
        errors=0,
        rack=10000,
    ),
    # K 10,200 − O 10,000 = +200, what was left of the stake and lost
    "a part withdrawn, and handed back a coup later when the rest is lost": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        place w0 big_6 600                    #                       layout 600
        throw 1-1
        take w0 400                           # rack 10,000           layout 200
        throw 3-4
        pay w0 0+400                          #                       it is those 400
        close 10200                           # rack 10,200           layout 0
        """,
        drop=0,
        win=200,
        by_rules=200,
        errors=0,
    ),
    # K 9,600 − O 10,000 = −400: of 600 his 400 were handed to him, so 200 lie there, and 600 go to the desk
    "a part handed back, the rest withdrawn, and all of it at the cash desk": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        place w0 big_6 600                    #                       layout 600
        throw 1-1
        take w0 400                           # rack 10,000           layout 200
        pay w0 0+400                          #                       it is those 400
        throw 1-1
        take w0                               # rack 10,000           200 lie there as his
        orphan 600 wager=w0                   # rack  9,600           200 from the layout, 400 out of the rack
        close 9600
        """,
        drop=0,
        win=-400,
        by_rules=0,
        errors=-400,
    ),
    # K 9,850 − O 10,000 = −150: of his 600 he has 500, so 100 of the 250 at the desk are his
    "handed back but for a part, withdrawn, and more at the cash desk than was left": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        place w0 field 600                    #                       layout 600
        pay w0 0+500                          # rack 10,000           layout 100
        take w0                               #                       it is those 500; 100 lie there as his
        orphan 250 wager=w0                   # rack  9,850           layout 0, cash desk 250
        close 9850
        """,
        drop=0,
        win=-150,
        by_rules=0,
        errors=-150,
    ),
    # K 10,250 − O 10,000 = +250, which the player is owed; 200 still play
    "more taken back than was paid, of a stake of which a part is withdrawn": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        place w0 big_6 600                    #                       layout 600
        pay w0 250+300                        # rack  9,750           layout 300
        take w0 400                           # rack  9,650           layout 0: the rack lends 100
        recover w0 300+500                    # rack 10,250           his 300: 100 to the rack, layout 200; 500 more
        """,
        drop=0,
        win=250,
        by_rules=0,
        errors=250,
        rack=10250,
    ),
    # K 9,200 − O 10,000 = −800: what he withdrew plays on as w1, so all that is paid comes out of the rack
    "withdrawn and left up as another, and then paid": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        place w0 big_6 300                    #                       layout 300
        take w0                               #                       300 lie there as his
        place w1 big_6 1000 left_up_from=w0   #                       layout 1,000: those 300, and 700 of his
        throw 5-6
        pay w0 300+500                        # rack  9,200
        close 9200
        """,
        drop=0,
        win=-800,
        by_rules=0,
        errors=-800,
    ),
    # K 9,750 − O 10,000 = −250: 1,200 are due; the 600 handed back are the 600 that play as w1
    "left up as another, and the stake handed back after all": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        place w0 field 600                    #                       layout 600
        throw 1-1
        place w1 field 600 left_up_from=w0    #                       layout 600, now w1
        pay w0 250+600 continues_as=w0        # rack  9,750           handed back and staked again: layout 600
        close 9750
        """,
        drop=0,
        win=-250,
        by_rules=-1200,
        errors=950,
    ),
    # K 11,000 − O 10,000 = +1,000, which the player is owed: what plays on is his own
    "withdrawn, left up in part as another, and a coup later taken back though nothing was paid": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        place w0 big_6 1000                   #                       layout 1,000
        take w0                               #                       1,000 lie there as his
        place w1 big_6 300 left_up_from=w0    #                       300 of them play, 700 he lifts
        throw 1-1
        recover w0 0+1000                     # rack 11,000
        throw 1-1
        close 11000
        """,
        drop=0,
        win=1000,
        by_rules=0,
        errors=1000,
    ),
    # K 10,300 − O 10,000 = +300: swept while it played, released since, and nobody handed it back
    "swept while it played, and released when it is in the rack": Counted(
        """
        fr-roulette collections float=10000   # rack 10,000
        place w0 rouge 300                    #                       layout 300
        sweep w0                              # rack 10,300           layout 0
        land 0
        land 1                                # red: it is free
        close 10300
        """,
        drop=0,
        win=300,
        by_rules=0,
        errors=300,
    ),
    # K 10,600 − O 10,000 = +600: 300 lost, and 300 that he is owed; of a lost stake nothing plays on
    "taken back from a loser, and said to play on": Counted(
        """
        fr-craps float=10000                  # rack 10,000
        place w0 field 300                    #                       layout 300
        throw 3-4                             # lost
        recover w0 0+300                      # rack 10,300
        pay w0 0+0 continues_as=w1            #                       the 300 of w1 are the player's
        close 10600                           # w0 is swept: rack 10,600
        """,
        drop=0,
        win=600,
        by_rules=300,
        errors=300,
    ),
}


def events_of(tape: str) -> list[Event]:
    return [decode(line.raw) for line in read(tape)]


def figures_of(tape: str, page: int = 4) -> Figures:
    events = events_of(tape)
    projection = SessionProjection()
    for first in range(0, len(events), page):
        projection.feed(events[first : first + page])
    return projection.figures()


@pytest.mark.parametrize("name", CASES)
def test_the_figures_are_those_counted_by_hand(name: str) -> None:
    case = CASES[name]
    figures = figures_of(case.tape)
    bank = figures.bridge.bank
    counted_by_hand = {"drop": case.drop} | ({} if case.rack is None else {"closing_float": case.rack})
    bank = type(bank)(**{field: getattr(bank, field) for field in bank.__struct_fields__} | counted_by_hand)
    bridge = Bridge(**{f: getattr(figures.bridge, f) for f in figures.bridge.__struct_fields__} | {"bank": bank})
    assert bank.accounting_win == case.win == case.by_rules + case.errors
    assert bridge.adjudicated.total == case.by_rules
    assert bridge.payout_errors == case.errors
    assert bridge.accounting_variance == 0
    assert bridge.theoretical + bridge.luck == case.by_rules
