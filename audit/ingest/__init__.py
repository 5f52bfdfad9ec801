"""Ingestion: what table systems send, judged by its shape alone, and stored for good or refused whole."""
