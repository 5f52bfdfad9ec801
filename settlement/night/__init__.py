"""The mathematics of the nightly reconciliation: what the money should have done, and how far chance explains the rest.

Pure, exact, and derived from the engine's own tables:

    draws      what one throw or spin can do to a wager
    edges      the edge of every bet, and the value of a stake while it is undecided
    value      the luck of every draw, and its variance: a martingale
    bridge     a session's win, taken apart into theoretical win, luck, payout errors and accounting variance
    figures    the projection that reads a session's stream once and collects all of this
    variance   p-values and intervals of a luck and of a hold
    croupiers  payout errors by croupier, with multiple testing (false discovery rate)

``docs/night-mathematics.md`` explains each figure.
"""
