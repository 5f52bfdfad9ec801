"""Why a column is not held, and what follows from a forged value: said once for many columns."""

from __future__ import annotations

ROW_ID = "this number names the row in this database only; every reference to the row is held by name"
SECRET = "the log may not contain a secret; it records what somebody does with a stolen one under its owner’s name"
ADDRESS = (
    "the log may not contain a person’s address, and a hash of it would tell it to whoever guesses; no role of web"
    " server or worker writes it. A forged one has links mailed elsewhere, and another’s identity linked:"
    " `officer.link_used` and `officer.linked` say so"
)
NAME = "the log may not contain a person’s name or address; a forged one makes a page name the wrong person"
PROCESS = "one process keeps it for a time; `/health/ready` reports work that it did not do, and no evidence changes"
SENDING = (
    "it says how far a message has come; a forged one delays, repeats or drops it, and the desk still shows its content"
)
WHEN = "it says when this database wrote the row; lists are sorted by it, and no finding depends on it"
KEY_OF_SUMS = "it is the key of stored sums; the server ignores sums under another key and adds them up again"
CACHE_KEYS = "these are the log’s own keys; give `verify` the keys that you know with `--key`"
SANDBOX = "it belongs to a sandbox, and a sandbox proves nothing"
WHAT_IF = "it belongs to a what-if run; that run judges nothing until the log records its promotion"
REFUSED = "the server refused this request, so it is no part of the record"
WAITS = "it says since when the row waits and how often it failed; `verify` names a session that no run reads for a day"
NOT_RECORD = "it is no part of the record; a forged one changes what the desk shows or sends, and no evidence changes"
DJANGO = "it belongs to the framework; it gives no right at the desk"
SIGN_IN = (
    "it counts sign-ins; a forged one signs an officer out or allows more attempts, and the log records each sign-in"
)
UNUSED = "no code reads it; the schedule of tasks is code"
GUARD = "it belongs to the guard; a superuser can write it, and the roles of the application cannot"
DERIVED = "the database computes it from the other columns"
HEARTBEAT = (
    "each process writes its own, and one of a time to come counts as none; one that a superuser forges hides that a"
    " process has stopped, as long as he does"
)
COMPLETED = (
    "a forged one can keep a night from being reported again after the register changed or a correction was approved;"
    " the findings of the session are held"
)
