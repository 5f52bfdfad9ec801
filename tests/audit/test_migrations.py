"""A landed migration is never edited: records in the field have run it as it was. Another migration mends it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

import audit

MIGRATIONS = Path(audit.__file__).parent / "migrations"

LANDED = {
    "0001_initial.py": "f5927421379af920f3afbc71b01498b198656d8380b42609a78fe62365ec4a11",
    "0002_log.py": "e482af628ddce4e00502b1477375bd9b9fa3bdee501dfbdb3f2be9bdf00e2574",
    "0003_keys_and_quarantine.py": "2e280518faa3fb435c210746444ba7acb1b3d40d0f919f3511004823cec09738",
    "0004_tree.py": "7d18a08a6666902ec8e923d36770c4f8fc8e981ffc5fd1666e9e4a4a79754752",
    "0005_runs.py": "c2f1ddbcaca3986fd266ab63151d95b5bae4478b43dd3c62fe2fd6106b7e1534",
    "0006_append_named.py": "0f1ac4c5a2d30c0543404534014747730602ffde01ffc69a7fd011d19b89bfec",
    "0007_quarantine_retention.py": "610a9fcefc108af38629ca449d9d394ea2f0d00457547fb99f8cc2e60a394813",
    "0008_cases.py": "107c91021025884edc9e7f0fb2308f94a634e2c23fcd43e07c02966af8d1bf7c",
    "0009_night.py": "b71e22b28e0d3661960f497bd268df90ab343f052d45714889fc3129708c34fa",
    "0010_saved_views.py": "7ab4f78bcced4b8121fa495a18780d3c33fa062654b8ef5586a085f17dac050d",
    "0011_case_urgency.py": "239867c9e07f9e386636f86abf5e9f1d0cad2da7ed410c35644ba96f0f06cc79",
    "0012_works.py": "e833d5c64c727c7622e3fae3329264d9f7c03a5c85abd6fa30024ac3eaf6181f",
    "0013_standard_names.py": "10597cbba07ffe6afb2ff68dc9a02799548b2cfb4415e1a38460b730d1fd9040",
    "0014_close_maintenance.py": "cfb8b6b509b34885308daddebf1187f33454e0aeec6f64733e83b0a53e4cd542",
    "sql/0002_guard.sql": "e5c441cb97f6d4608008cd72fce00e21355a616a9e8cc50fb677d810f06537fe",
    "sql/0002_log.sql": "c1eb668a38a3780d1a9259c8c0ed66c026f57c79a0a32bbdfc0e3c944ebe5e36",
    "sql/0002_roles.sql": "d638857251b8dd794b78cb367745af9b93a5fae7d064d71da4678602519ed37e",
    "sql/0004_tree.sql": "8e4163f098441db01281d412cbf4e3f51dd3b2c8fd0dab670bb8ec1ff47a1b3d",
    "sql/0006_append_named.sql": "cc232a28e55b92a70306c7ace197b01f33ba3d30be88a6db6b0f338cb09150fe",
    "sql/0008_case_guard.sql": "a56dd4813a6994c78f140ba11f549235fc5e846af785e11f2b15426065f9be55",
    "sql/0014_close_maintenance.sql": "988c92927519ba27bcbf90dd1940858131058446a3a9dd1575be6a56cb2345cd",
}
"""SHA-256 of each migration that a release has, and of the SQL that it runs. A release adds its own."""


@pytest.mark.parametrize("name", LANDED)
def test_a_landed_migration_is_as_it_landed(name: str) -> None:
    assert sha256((MIGRATIONS / name).read_bytes()).hexdigest() == LANDED[name], f"{name}: add another migration"


def test_every_migration_is_landed_or_follows_those_that_are() -> None:
    found = {path.relative_to(MIGRATIONS).as_posix() for path in [*MIGRATIONS.glob("0*.py"), *MIGRATIONS.glob("sql/*")]}
    last_landed = max(name for name in LANDED if "/" not in name)
    for name in found - LANDED.keys():
        assert Path(name).name > last_landed, f"{name} is not among those that landed, and sorts before their last"
