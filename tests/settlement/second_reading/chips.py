"""What moved of the chips of a wager: every event that moves them, as account.md 1 lists the entries.

``held`` is what the player has had out of it: "winnings + stake handed back, lifted or playing on + settlements −
recoveries". Nothing here knows what is due; whose the stake is, the caller says.

Where the text is open, it is read like this.

*   "A withdrawal and a stake handed back are one movement, up to the amount withdrawn": or two, whichever comes nearer
    to what is due. A withdrawal that the article allows says that he took it: less handed back is no shortage.
*   "A stake that is the player's at that moment … may have been lifted unseen": the whole stake, of which nothing was
    handed back and that was not swept, or nothing. So may be "the half at a zero that he takes himself": the half that
    he chose, whole. What is swept of that stake is the other half, "before or after" (practice). A half that the house
    refunds (at the last coup; where the zero leaves no choice) needs a payout.
*   Nobody lifts what does not lie there: what was lifted already, or swept, or was handed back and recovered since.
    What he had lifted goes "back to the felt while the wager is undecided": it lies there, and may be lifted again.
    What was lifted too late may be withdrawn in time later on: that is no more than the stake, unless he gave it back
    or paid for it.
*   "What was wrong and is right by then … it lies again where it lay, or was handed back": an undecided stake that was
    swept, and handed back whole and without winnings, lies there. Where the half of it is taken back in the coup of a
    zero, "whatever went to and fro before", he was handed the half. A stake that was lifted whole, and is swept, lay
    there as well, unless he has paid for it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Chips:
    """The sums of the movements of one wager's chips, in minor units."""

    money: int = 0
    """Winnings and settlements, less what was taken back of them."""
    withdrawn: int = 0
    """As the article allows."""
    lifted: int = 0
    """Otherwise."""
    handed_back: int = 0
    recovered: int = 0
    """Of the stake."""
    playing_on: int = 0
    is_swept: bool = False
    handed_in_play: int = 0
    """Of the stake, handed back before anything decided the wager."""
    laid_back: int = 0
    """Of the stake, swept and handed back: it lies where it lay."""
    put_in: int = 0
    """Of what was recovered: what he had lifted, and put back while the wager was undecided."""
    known: int = 0
    """What was handed back and not recovered when the last coup ended that did not decide the wager."""

    @property
    def net(self) -> int:
        """The stake that payouts handed back, less recoveries."""
        return self.handed_back - self.recovered

    def lies(self, standing: int) -> int:
        """Return what lies there for the player to lift."""
        gone = self.lifted - self.put_in + min(self.recovered - self.put_in, self.handed_back)
        return 0 if self.is_swept else max(0, standing - gone)

    def hand_back(self, winnings: int, stake: int, standing: int, *, is_undecided: bool) -> None:
        self.money += winnings
        is_whole = self.net + self.lifted <= self.withdrawn and stake == standing
        if is_undecided and self.is_swept and is_whole and not winnings:
            self.is_swept = False
            self.laid_back += stake
        else:
            self.handed_back += stake
            if is_undecided:
                self.handed_in_play += stake

    def of_the_end(self) -> int:
        """Return the stake handed back, net, but for the parts that were withdrawn and handed back while it played."""
        return self.net - min(max(0, self.net), self.handed_in_play, self.withdrawn)

    def recover(self, winnings: int, stake: int, *, is_undecided: bool) -> None:
        """Take back: "player → house, or back to the felt while the wager is undecided"."""
        self.money -= winnings
        if is_undecided and not self.withdrawn + self.lifted:
            laid_back = min(stake, self.handed_back)
            self.handed_back -= laid_back
            self.handed_in_play -= laid_back
            stake -= laid_back
        if is_undecided:
            self.put_in += min(stake, self.lifted - self.put_in)
        self.recovered += stake

    def sweep(self, standing: int, status: str) -> None:
        """Sweep what stood when it was decided, or withdrawn whole."""
        if status == "withdrawn":
            self.withdrawn = self.lifted = 0
        elif self.lifted - self.recovered >= standing and self.money >= 0:
            self.lifted = self.recovered
        self.is_swept = status == "lost" or self.net + self.lifted < standing

    def held(self, laid: int, his: int | None, due: int, *, is_half: bool = False) -> int:
        """Return what the player has had, as near to ``due`` as it may be. ``his``: the stake, if it is his.

        ``is_half``: it is the half that he chose at a zero.
        """
        least, most = self.stake_held(laid, his, is_half=is_half)
        return self.money - self.recovered + min(max(due - self.money + self.recovered, least), most)

    def stake_held(self, laid: int, his: int | None, *, is_half: bool) -> tuple[int, int]:
        """Return the least and the most of the stake that he may have had, before recoveries."""
        out = self.handed_back + self.playing_on
        taken = min(self.withdrawn + self.lifted, laid + self.recovered + max(0, -self.money))
        least = max(out, self.lifted if self.handed_back else taken)
        if his is None:
            return least, out + taken
        if (is_half or not self.is_swept) and self.handed_back <= self.known:
            # What he had before it was his, and came back, lies there again.
            taken = max(taken, his + min(self.recovered, self.handed_back + self.lifted) - self.handed_back)
        # What he took of his own, and lays again, is one movement.
        return least, max(out, taken + self.handed_back)
