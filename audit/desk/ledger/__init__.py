"""The ledger at the desk: the watch list, a page for each process, money of a person, the exchange register."""
