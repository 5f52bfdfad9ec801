"""The officers' desk: Django's own admin over the record, where nothing can be changed that must not be."""

from audit.admin import besides, findings, houses, nights, officers, quarantine, streams, works

__all__ = ["besides", "findings", "houses", "nights", "officers", "quarantine", "streams", "works"]
