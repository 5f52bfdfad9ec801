"""Ingestion: decode, validate and append what table systems send, idempotently, or refuse it whole.

    bodies        the bytes of each event in a request body
    record        one stream: decode, compare with what is stored, append a batch, receipt
    multi_stream  several streams in one request, each stored or refused by itself
    dry_run       what a request would do, without doing it
    quarantine    what was refused, byte for byte
    receipts      the signed receipt of a batch

Nothing here knows HTTP. Every refusal is an ``EventsRefused``, defined beside what raises it; ``audit.api.problems``
turns each into a problem document.
"""
