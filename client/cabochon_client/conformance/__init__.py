"""The conformance runner, ``cabochon check URL``: scripts of sessions, what the record understood of them, a judgement.

    scripts ─► play (the runner sends, against a sandbox) ───┐
        └────► watch (the vendor's own system plays) ────────┴─► read back by the API ─► judge ─► report (HTML)

The scripts say what happens at a table and what has to be in the record afterwards. The runner never judges by what it
sent: it reads back what the record has, whoever sent it.
"""
