"""**The record.** Log, ingestion, replay, findings and the officers who work on them: the one Django app."""
