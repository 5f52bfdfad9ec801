"""The nightly lists of information: the nights, and the list of one night, which an officer reads and signs."""
