"""The officers' desk: Django's own admin over the record, where nothing can be changed that must not be.

One folder a section; ``site.py`` puts them together, ``sections.py`` registers their models.

    overview      what waits, nights, errors, the feed of tables     what_if      what-if runs and their differences
    findings      the queue, one finding, casework, saved views      jobs         background jobs
    tables        event streams and the replay of a table            record       quarantined requests
    nights        reconciliation reports and their signatures        audit_trail  what officers did
    settings      casinos, tables, API keys, officers, deadlines     sign_in      the second factor
"""
