"""What whoever takes over a web server does to API keys by the functions: only what the officer may, with its entry."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from audit.access import keys
from audit.event_store import binary_copy
from audit.models import ApiKey, Role
from tests.audit.access.walls import refused, taken_over
from tests.audit.casework.test_actions import hired
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db

DIGEST = "a" * 64


def new_key(**changed: Any) -> dict[str, Any]:
    """Return what the entry of a key says, with an id that is free."""
    [(key_id,)] = binary_copy.execute("select audit_next_id('apikey')", ())
    created = datetime.now(UTC).isoformat()
    stated = {"id": key_id, "prefix": "0123456789ab", "named": "k", "scopes": [], "tables": []}
    return {**stated, "expires": "", "created": created, **changed}


def test_a_keeper_makes_rotates_and_revokes_as_a_web_server(tenant: Tenant) -> None:
    keeper = hired(tenant, Role.ADMINISTRATOR, "keeper").get_username()
    with taken_over():
        scopes = ["streams:read", "events:write"]
        created, secret = keys.make(keeper, casino=tenant.casino, name="k", scopes=scopes, tables=[tenant.table])
        assert ApiKey.of_secret(secret) == created
        assert (created.scopes, list(created.tables.all()), created.expires_at) == (scopes, [tenant.table], None)
        before, after, _secret = keys.rotate(keeper, created.pk)
        created.refresh_from_db()
        assert created.expires_at == before.expires_at
        assert (after.name, after.scopes, list(after.tables.all())) == (created.name, scopes, [tenant.table])
        assert keys.revoke(keeper, [created.pk, after.pk]) == [created, after]
        assert keys.revoke(keeper, [created.pk]) == []
        assert ApiKey.of_secret(secret) is None


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ADMINISTRATOR])
def test_nobody_else_makes_or_revokes_one(tenant: Tenant, role: Role) -> None:
    officer = hired(tenant, role, "officer")
    revoked = {"id": tenant.key.pk, "prefix": tenant.key.prefix}
    assert refused(officer, "key.made", tenant.casino, new_key(), DIGEST) == "not-keeper-here"
    assert refused(officer, "key.revoked", tenant.casino, revoked) == "not-keeper-here"


def test_a_keeper_of_one_casino_keeps_no_keys_of_another(tenant: Tenant) -> None:
    keeper, other = hired(tenant, Role.ADMINISTRATOR, "keeper"), Tenant()
    of_other = {"id": other.key.pk, "prefix": other.key.prefix}
    follows = {"follows": other.key.prefix, "until": datetime.now(UTC).isoformat()}
    assert refused(keeper, "key.made", other.casino, new_key(), DIGEST) == "not-keeper-here"
    assert refused(keeper, "key.revoked", tenant.casino, of_other) == "not-active"
    assert refused(keeper, "key.rotated", tenant.casino, new_key(**follows), DIGEST) == "not-active"
    assert refused(keeper, "key.made", tenant.casino, new_key(tables=["no such table"]), DIGEST) == "not-its-tables"


WRONG = {
    "an id that is not given out": {"id": 2**40},
    "no id": {"id": None},
    "another kind of prefix": {"prefix": "x"},
    "a day long ago": {"created": "2020-01-01T00:00:00+00:00"},
}


@pytest.mark.parametrize("changed", WRONG.values(), ids=list(WRONG))
def test_an_invalid_key_is_refused(tenant: Tenant, changed: dict[str, Any]) -> None:
    keeper = hired(tenant, Role.ADMINISTRATOR, "keeper")
    assert refused(keeper, "key.made", tenant.casino, new_key(), DIGEST) is None
    assert refused(keeper, "key.made", tenant.casino, new_key(**changed), DIGEST) == "not-a-key"


@pytest.mark.parametrize("digest", [None, "", "a" * 63])
def test_a_key_without_a_digest_is_refused(tenant: Tenant, digest: str | None) -> None:
    keeper = hired(tenant, Role.ADMINISTRATOR, "keeper")
    assert refused(keeper, "key.made", tenant.casino, new_key(), digest) == "not-a-key"


def test_no_key_takes_the_id_or_the_prefix_of_another(tenant: Tenant) -> None:
    keeper = hired(tenant, Role.ADMINISTRATOR, "keeper")
    for changed in ({"id": tenant.key.pk}, {"prefix": tenant.key.prefix}):
        assert refused(keeper, "key.made", tenant.casino, new_key(**changed), DIGEST) == "not-a-key"


def test_a_revoked_key_is_neither_rotated_nor_revoked_again_nor_lives_longer(tenant: Tenant) -> None:
    keeper = hired(tenant, Role.ADMINISTRATOR, "keeper")
    soon, later = (datetime.now(UTC) + timedelta(hours=hours) for hours in (1, 2))
    ApiKey.objects.filter(pk=tenant.key.pk).update(expires_at=soon)
    follows = {"follows": tenant.key.prefix, "until": later.isoformat()}
    assert refused(keeper, "key.rotated", tenant.casino, new_key(**follows), DIGEST) == "not-active"
    ApiKey.objects.filter(pk=tenant.key.pk).update(revoked_at=datetime.now(UTC), expires_at=None)
    revoked = {"id": tenant.key.pk, "prefix": tenant.key.prefix}
    assert refused(keeper, "key.rotated", tenant.casino, new_key(**follows), DIGEST) == "not-active"
    assert refused(keeper, "key.revoked", tenant.casino, revoked) == "not-active"
