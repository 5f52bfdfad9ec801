"""French law: the arrêté of 23 December 1959 and what amends it, article by article."""
