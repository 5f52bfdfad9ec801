"""A landed migration is never edited: records in the field have run it as it was. Another migration mends it.

The SQL that a migration reads is part of it: a function that changes is made anew by a migration, from another file.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

import audit

AUDIT = Path(audit.__file__).parent
MIGRATIONS = AUDIT / "migrations"

LANDED = {
    "migrations/0001_initial.py": "a9710eb749c9d1399c1244c2e0bd9956f970be098867f645f25174618d683298",
    "migrations/0002_sql.py": "a9c30dacf644b644c59704b547a0935724bb1a9dc2cac8b15dac62f6bd4fce14",
    "access/sql/accounts.sql": "a9aa3c65346689097a6d9579cd035ff3085f9c0887bd0a3f619c348cebd0eb63",
    "access/sql/hands.sql": "f4625e606f0157da5a8cb1e5e7c29c49427d2a3909adadefbdfad5050839a146",
    "access/sql/keys.sql": "61af9d9867ab371868475dad718d22f7e95d43b47bb2775738ffdfa01d82a5a5",
    "access/sql/requests.sql": "7516077324b2dc66c51f3228622e9122f4c688bd096782adce184679d4ac2da3",
    "access/sql/rights.sql": "5a6bfa5fa476590b5b8f8aeca2a7120f89e45769946b9310165aeddbe0df7bd8",
    "access/sql/sandboxes.sql": "517715b3ed667c8554269136cb3bef5ff31bfe76f4ab2f37b8763d04456f1ba4",
    "access/sql/second_factors.sql": "8fd8c5d35680d169a180b16f8658cc81e6525f1eb0c6e9740ccdbb8097e8844c",
    "access/sql/sign_on.sql": "e56939cbdb81febdb91aaa911b5c760d152d92fdb164fdf225f0e041fbb184c6",
    "adjudication/sql/finding_content.sql": "af613f05d7baa8ccdd5e8b495990b2b88a0361dfae317553bea8828c82715c4d",
    "adjudication/sql/findings.sql": "38ffad16d9cddb6fda7329b14bb213c533e9d4d8ce3ab1d1112f6c629e908b1b",
    "archive/sql/months.sql": "3a9eb33d1c85d16cca94a659cbb6b9c8180c280c63bab146773ec37727367b32",
    "casework/sql/cases.sql": "5a18d926e55f7aa7ec1ffe05ae3a36fefc74a6e8de080a9121019c2e9870dccc",
    "corrections/sql/decisions.sql": "c1f54529ba7ac007206c831854698eee49a98bc5b4f6dded094996d86f22ad93",
    "desk/sql/changes.sql": "ddd63fd5fc680e639e9706472b7b730a7c517a35a055e5199b48e01031178cb0",
    "event_store/sql/archive.sql": "b28bbc9deb1041901889d1f30940eefa744405d7f4fb130bcf8877f904186a79",
    "event_store/sql/entries.sql": "bf1d20b0532848f44b3d26022b03f090e5e2a4e07fe0ececa9c891705c258989",
    "event_store/sql/events.sql": "f7f8461d8151ef9947897e5fd6c26bce36661bca1181208e99e124f3c97b7b7b",
    "event_store/sql/guard.sql": "9ada37c27b6a6e336ff6723727d885d3727f560bcc99de5e821776cfe11b3246",
    "event_store/sql/sandboxes.sql": "a397933aa9dfbb409b0c2a2de59b6cd0b0764716f9ee0f66b8f6a9aec890c093",
    "event_store/sql/streams.sql": "4305aa5fc1a94fbc80fb55303fd2c0ec52d461a0691b767498da93623559d1a6",
    "event_store/sql/tree.sql": "8a099f4978bad35f56c95ed13e91c2e366ea735e5074979ca970cf19164b058e",
    "notifications/sql/feed.sql": "1e8acb25c9ffb8802bc4ab327ddaaa10926a1588b8f48774645709c96c848c2e",
    "persons/sql/erasure.sql": "ea328f2502216241d9397654f5796c606dba24806ce1b78d31b74a3bb57b3c9c",
    "reconciliation/sql/nights.sql": "7162ac8bec0c758cf2af206c78133ccd032500727ffd6b0896adf1d440818b62",
    "register/sql/entries.sql": "26b8bc1cabd780d232732b22d537589df2d809f3f5b7994f66a23c074060af4b",
    "transparency/sql/integrity.sql": "a9207f860a512096308b29f2c403378325bb9240ffa8aeb21f5b5aa33c84101f",
    "transparency/sql/recovery.sql": "3a6e72b4f4745262eb05c37ac805d9b1b56cc09ee8debe54a88e44c5c299e456",
}
"""SHA-256 of each migration that somebody may have run, and of the SQL that it runs. Each release adds its own."""


@pytest.mark.parametrize("name", LANDED)
def test_a_landed_migration_is_as_it_landed(name: str) -> None:
    assert sha256((AUDIT / name).read_bytes()).hexdigest() == LANDED[name], f"{name}: add another migration"


SINCE = "8256f73eb1242a0deb7ca9184027f49644f8ffed61275c9d3d1379dfc6445ba9"
"""The same of 0003 to 0036, of what runs them at once, and of their SQL, in the order of their names."""


def test_what_landed_since_is_as_it_landed() -> None:
    migrations = sorted(path for path in MIGRATIONS.glob("0*.py") if "0002_sql.py" < path.name < "0037")
    named = "".join(path.read_text() for path in migrations)
    sql = sorted(path for path in AUDIT.glob("*/sql/*.sql") if path.relative_to(AUDIT).as_posix() in named)
    assert (len(migrations), len(sql)) == (35, 31)
    digest = sha256(b"".join(path.read_bytes() for path in [*migrations, *sql])).hexdigest()
    assert digest == SINCE, "add another migration"


def test_every_migration_is_landed_or_follows_those_that_are() -> None:
    landed = [name for name in LANDED if name.startswith("migrations/")]
    for path in MIGRATIONS.glob("0*.py"):
        name = path.relative_to(AUDIT).as_posix()
        assert name in landed or name > max(landed), f"{name} neither landed nor sorts after those that did"


def test_a_migration_runs_every_file_of_sql() -> None:
    files = {path.relative_to(AUDIT).as_posix() for path in AUDIT.glob("*/sql/*")}
    sources = "".join(path.read_text() for path in MIGRATIONS.glob("0*.py"))
    assert [name for name in sorted(files) if name not in sources] == []
