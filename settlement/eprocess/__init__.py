"""The ledger of e-processes: evidence that is kept for years and never restarted.

    finished session ─► ``observations`` ─► ``channels``: what each process sees ─► ``process``: wealth ─► ``budget``

A *process* is the wealth of a mixture of gamblers who bet at fair odds against one null hypothesis about one subject: a
wheel, a set of dice, a table, a player, a croupier. If the null holds, its wealth is a supermartingale that starts
at 1, so the probability that it ever reaches 1/α is at most α (J. Ville, *Étude critique de la notion de collectif*,
1939). Everything is an integer and rounded down, so that the level is a theorem of the program and not of its
idealisation; docs/ledger-mathematics.md has the proofs. Sessions are fed once, in the order in which they become known:
an order fixed before anybody looks at their draws.
"""
