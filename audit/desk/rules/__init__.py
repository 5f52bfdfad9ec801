"""Rules and law: every rule of the catalogue, and the page of each."""
