"""The ledger at the desk: the list of questions, a page for each process, money of a person, the exchange register."""
