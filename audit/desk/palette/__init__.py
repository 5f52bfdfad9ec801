"""The palette: one field, Ctrl K, that goes to a moment at a table, a finding, a person, a night, a rule or a page."""
