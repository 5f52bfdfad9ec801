"""The law of the table: events in, what was due and what was irregular out."""
