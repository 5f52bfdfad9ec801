"""Single sign-on with a provider that runs as a process of its own, and with one that lies."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import jwt
import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import rsa
from django.core.management import CommandError, call_command
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.desk.sign_in import provider
from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.models import Membership, Officer, ProviderAccount, Role
from audit.templatetags.proof import proof_fields
from tests.audit.casework.test_actions import hired
from tests.audit.tables import Tenant
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db

BEGIN, CALLBACK = "/admin/login/provider/", "/admin/login/provider/callback/"
SECRET = "shared by the provider and its client"
CLIENT = "cabochon"


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    """The address of a provider: ``oidc-provider-mock``, which wants a nonce, as a process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), "--require-nonce", "true"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        address, deadline = f"http://127.0.0.1:{port}", time.monotonic() + 60
        try:
            while not _answers(address):
                assert time.monotonic() < deadline, "the provider does not answer"
                time.sleep(0.1)
            yield address
        finally:
            process.terminate()


def _answers(address: str) -> bool:
    try:
        requests.get(address, timeout=10)
    except requests.RequestException:
        return False
    return True


@pytest.fixture(autouse=True)
def configured(settings: Any, issuer: str) -> None:
    settings.AUTHENTICATION_BACKENDS = settings.ALL_AUTHENTICATION_BACKENDS
    settings.CABOCHON_OIDC_ISSUER, settings.CABOCHON_OIDC_CLIENT_ID = issuer, CLIENT
    settings.CABOCHON_OIDC_CLIENT_SECRET, settings.CABOCHON_OIDC_NAME = SECRET, "Keyring"
    settings.CABOCHON_OIDC_GROUPS = "groups"
    settings.CABOCHON_OIDC_SECOND_FACTOR = frozenset({"mfa", "otp"})


@pytest.fixture
def tenant() -> Tenant:
    return Tenant()


@pytest.fixture
def officer(tenant: Tenant) -> Officer:
    found = hired(tenant, Role.OFFICER, f"claire-{uuid4().hex[:8]}")
    Officer.objects.filter(pk=found.pk).update(email=f"{found.username}@casino.example")
    return Officer.objects.get(pk=found.pk)


def known(issuer: str, officer: Officer, *, sub: str = "", **claims: Any) -> str:
    """Have the provider know an officer, and return what it calls them."""
    subject = sub or f"subject-{officer.pk}"
    stated = {"email": officer.email, "email_verified": True, "auth_time": int(time.time()), **claims}
    answer = requests.put(f"{issuer}/users/{subject}", json=stated, timeout=60)
    assert answer.status_code == 204
    return subject


def begun(client: Client, address: str = BEGIN) -> tuple[str, dict[str, str]]:
    """Begin to sign in; return the provider's address, and what it is params."""
    to = client.get(address)["Location"]
    return to, {name: value for name, [value] in parse_qs(urlsplit(to).query).items()}


def answered(to: str, subject: str) -> dict[str, str]:
    """Return what the provider gives the browser of somebody who consents."""
    back = requests.post(to, data={"sub": subject}, allow_redirects=False, timeout=60).headers["Location"]
    return {name: value for name, [value] in parse_qs(urlsplit(back).query).items()}


def signed_on(subject: str, *, client: Client | None = None, address: str = BEGIN) -> tuple[Client, Any]:
    client = client or Client()
    to, _params = begun(client, address)
    return client, client.get(CALLBACK, answered(to, subject))


def is_in(client: Client) -> bool:
    return client.get("/admin/").status_code == 200


def types_at(tenant: Tenant) -> list[str]:
    return [entry.type for entry in audit_trail.entries_of(tenant.casino.pk, datetime.now(UTC).date())]


def test_an_officer_signs_in_with_the_provider_and_the_account_is_linked_once(
    issuer: str, officer: Officer, tenant: Tenant
) -> None:
    GroupRoleOf(tenant).add("officer", "audit")
    subject = known(issuer, officer, groups=["audit"])
    client, answer = signed_on(subject)
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    assert is_in(client)
    account = ProviderAccount.objects.get(officer=officer)
    assert (account.issuer, account.subject) == (issuer, subject)
    # From then on the subject counts: the address at the provider may be another.
    known(issuer, officer, email="other@casino.example", email_verified=False, groups=["audit"])
    assert is_in(signed_on(subject)[0])
    assert types_at(tenant).count("officer.linked") == 1
    assert types_at(tenant).count("officer.signed_in") == 2


class GroupRoleOf:
    """What groups stand for at a casino, by the operator's command."""

    def __init__(self, tenant: Tenant) -> None:
        self.code = tenant.casino.code

    def add(self, role: str, group: str) -> None:
        call_command("signon", "--add", self.code, role, group)

    def remove(self, role: str, group: str) -> None:
        call_command("signon", "--remove", self.code, role, group)


def test_state_nonce_and_pkce_are_asked_for_and_sent_back(issuer: str, officer: Officer, monkeypatch: Any) -> None:
    subject, client = known(issuer, officer), Client()
    to, params = begun(client)
    assert params["code_challenge_method"] == "S256"
    assert len(params["state"]) >= 32
    assert len(params["nonce"]) >= 32
    sent: list[dict[str, str]] = []
    post = requests.post
    monkeypatch.setattr(
        "mozilla_django_oidc.auth.requests.post",
        lambda url, **given: (sent.append(given["data"]), post(url, **given))[1],
    )
    assert client.get(CALLBACK, answered(to, subject)).status_code == 302
    digest = sha256(sent[-1]["code_verifier"].encode()).digest()
    assert urlsafe_b64encode(digest).rstrip(b"=").decode() == params["code_challenge"]


@pytest.mark.parametrize(
    "attack", ["no state", "another's state", "state again", "no session", "late", "no nonce", "no verifier"]
)
def test_an_answer_to_a_sign_in_that_was_not_begun_here_is_refused(issuer: str, officer: Officer, attack: str) -> None:
    subject, client = known(issuer, officer), Client()
    to, _params = begun(client)
    back = answered(to, subject)
    match attack:
        case "no state":
            del back["state"]
        case "another's state":
            back["state"] = begun(Client())[1]["state"]
        case "state again":
            other, _ = signed_on(subject, client=client)
            other.logout()
            back = {**back}
        case "no session":
            client = Client()
        case _:
            session = client.session
            begun_here = session["oidc_states"][back["state"]]
            begun_here.update(
                {"late": {"added_on": time.time() - 601}, "no nonce": {"nonce": ""}}.get(attack, {"code_verifier": ""})
            )
            session.save()
    assert client.get(CALLBACK, back).status_code == 403
    assert not is_in(client)


def test_a_code_is_good_once(issuer: str, officer: Officer) -> None:
    subject, client = known(issuer, officer), Client()
    to, _params = begun(client)
    back = answered(to, subject)
    assert client.get(CALLBACK, back).status_code == 302
    client.post("/admin/logout/")
    assert client.get(CALLBACK, back).status_code == 403
    assert not is_in(client)


@pytest.mark.parametrize("verified", in_short([False, "true"], further=[None, 1]))
def test_an_address_that_the_provider_has_not_verified_is_nobodys(
    issuer: str, tenant: Tenant, verified: object
) -> None:
    administrator = hired(tenant, Role.ADMINISTRATOR, f"admin-{uuid4().hex[:8]}")
    Officer.objects.filter(pk=administrator.pk).update(email=f"{administrator.username}@casino.example")
    administrator.refresh_from_db()
    client, answer = signed_on(known(issuer, administrator, email_verified=verified))
    assert answer.status_code == 403
    assert "no account here is yours" in answer.content.decode()
    assert not is_in(client)
    assert not ProviderAccount.objects.exists()


def test_a_superuser_a_stranger_a_double_address_and_the_deactivated_are_not_let_in(
    issuer: str, officer: Officer
) -> None:
    boss = Officer.objects.create_superuser(f"boss-{uuid4().hex[:8]}", password="x")
    Officer.objects.filter(pk=boss.pk).update(email="boss@casino.example")
    boss.refresh_from_db()
    assert signed_on(known(issuer, boss))[1].status_code == 403
    assert signed_on(known(issuer, officer, sub="stranger", email="nobody@casino.example"))[1].status_code == 403
    twin = Officer.objects.create_user(f"twin-{uuid4().hex[:8]}", password="x", is_staff=True)
    Officer.objects.filter(pk=twin.pk).update(email=officer.email.upper())
    assert signed_on(known(issuer, officer))[1].status_code == 403
    Officer.objects.filter(pk=twin.pk).update(email="")
    client, answer = signed_on(known(issuer, officer))
    assert answer.status_code == 302
    Officer.objects.filter(pk=officer.pk).update(is_active=False)
    assert not is_in(client), "the session ends with the account"
    assert signed_on(known(issuer, officer))[1].status_code == 403


def test_another_account_at_the_provider_with_the_same_address_is_not_the_officer(
    issuer: str, officer: Officer
) -> None:
    assert signed_on(known(issuer, officer))[1].status_code == 302
    assert signed_on(known(issuer, officer, sub="newcomer"))[1].status_code == 403
    call_command("signon", "--unlink", officer.username)
    assert signed_on(known(issuer, officer, sub="newcomer"))[1].status_code == 302
    with pytest.raises(CommandError):
        call_command("signon", "--unlink", "nobody")


# Roles


def role_of(officer: Officer, tenant: Tenant) -> str:
    return str(
        Membership.objects.filter(officer=officer, casino=tenant.casino).values_list("role", flat=True).first() or ""
    )


BY_GROUPS: tuple[tuple[Role, Any, str], ...] = (
    (Role.OFFICER, ["seconds"], "second"),
    (Role.SECOND, ["officers"], "officer"),
    (Role.SECOND, ["officers", "seconds"], "second"),
    (Role.DIRECTOR, ["officers", "directors"], "director"),
    (Role.OFFICER, ["unknown"], ""),
    (Role.OFFICER, None, ""),
    (Role.OFFICER, "officers", ""),
    (Role.OFFICER, [["officers"], 7], ""),
    (Role.OFFICER, ["admins"], ""),
    (Role.ADMINISTRATOR, ["admins", "seconds"], "administrator"),
    (Role.ADMINISTRATOR, ["seconds"], "second"),
    (Role.ADMINISTRATOR, None, ""),
)
"""The role that an officer has, the groups that the provider states, and the role after that."""


def test_groups_give_and_take_the_roles_that_an_operator_mapped_and_never_that_of_administrator(
    issuer: str, tenant: Tenant
) -> None:
    for role, group in (
        ("officer", "officers"),
        ("second", "seconds"),
        ("director", "directors"),
        ("administrator", "admins"),
    ):
        GroupRoleOf(tenant).add(role, group)
    elsewhere, found, entries = Tenant(), [], 0
    for held, groups, after in BY_GROUPS:
        officer = hired(tenant, held, f"paul-{uuid4().hex[:8]}")
        Officer.objects.filter(pk=officer.pk).update(email=f"{officer.username}@casino.example")
        officer.refresh_from_db()
        Membership.objects.create(officer=officer, casino=elsewhere.casino, role=Role.AUDITOR)
        status = signed_on(known(issuer, officer, groups=groups))[1].status_code
        own = role_of(officer, tenant)
        before, entries = entries, types_at(tenant).count("officer.role_by_groups")
        # No group stands for anything elsewhere.
        seen = (status, own, role_of(officer, elsewhere), entries - before)
        if seen != (302, after, "auditor", 0 if after == held else 1):
            found.append((held, groups, seen))
    assert found == []


def test_a_role_of_administrator_that_no_group_could_stand_for_stays(issuer: str, tenant: Tenant) -> None:
    GroupRoleOf(tenant).add("officer", "officers")
    officer = hired(tenant, Role.ADMINISTRATOR, f"anne-{uuid4().hex[:8]}")
    Officer.objects.filter(pk=officer.pk).update(email=f"{officer.username}@casino.example")
    officer.refresh_from_db()
    assert signed_on(known(issuer, officer, groups=[]))[1].status_code == 302
    assert role_of(officer, tenant) == "administrator"


@pytest.mark.parametrize(
    ("held", "mapped", "refused"),
    in_short(
        [(Role.ADMINISTRATOR, "", True), (Role.ADMINISTRATOR, "officer", True), (Role.OFFICER, "second", False)],
        further=[(Role.OFFICER, "", True), (Role.ADMINISTRATOR, "administrator", False)],
    ),
)
def test_the_database_takes_no_role_away_where_no_operator_mapped_a_group(
    officer: Officer, tenant: Tenant, issuer: str, held: Role, mapped: str, refused: bool
) -> None:
    assert signed_on(known(issuer, officer))[1].status_code == 302
    Membership.objects.filter(officer=officer).delete()
    Membership.objects.create(officer=officer, casino=tenant.casino, role=held)
    GroupRoleOf(Tenant()).add("administrator", "admins")
    if mapped:
        GroupRoleOf(tenant).add(mapped, "a-group")
    data = {"id": officer.pk, "officer": officer.username, "role": "", "before": str(held), "group": ""}
    with pytest.raises(EntryRefused, match="not-allowed") if refused else nullcontext():
        audit_trail.perform(officer.username, "officer.role_by_groups", casino_id=tenant.casino.pk, data=data)
    assert role_of(officer, tenant) == (held if refused else "")


def test_the_database_gives_no_role_that_no_operator_mapped_and_none_to_another(
    officer: Officer, tenant: Tenant, issuer: str
) -> None:
    assert signed_on(known(issuer, officer))[1].status_code == 302
    Membership.objects.get_or_create(officer=officer, casino=tenant.casino, defaults={"role": Role.OFFICER})
    other = hired(tenant, Role.OFFICER, f"other-{uuid4().hex[:8]}")
    GroupRoleOf(tenant).add("administrator", "admins")
    GroupRoleOf(tenant).add("director", "directors")

    def attempted(actor: str, **changed: Any) -> str | None:
        data = {"id": officer.pk, "officer": officer.username, "before": "officer", **changed}
        try:
            audit_trail.perform(actor, "officer.role_by_groups", casino_id=tenant.casino.pk, data=data)
        except EntryRefused as refused:
            return refused.code
        return None

    assert attempted(officer.username, role="administrator", group="admins") == "not-allowed"
    assert attempted(officer.username, role="second", group="directors") == "not-allowed"
    assert attempted(officer.username, role="second", group="seconds") == "not-allowed"
    assert attempted(other.username, role="director", group="directors") == "not-allowed"
    assert (
        attempted(other.username, role="director", group="directors", id=other.pk, officer=other.username)
        == "no-such-role"
    ), "not linked"
    assert attempted(officer.username, role="director", group="directors", before="") == "no-such-role"
    assert role_of(officer, tenant) == "officer"
    assert attempted(officer.username, role="director", group="directors") is None
    with pytest.raises(EntryRefused):
        audit_trail.perform(
            officer.username, "group.given", casino_id=tenant.casino.pk, data={"role": "second", "group": "x"}
        )


# The second factor, and proofs


@pytest.mark.parametrize(
    ("stated", "is_let_in"),
    [
        pytest.param({}, False, marks=pytest.mark.faults),
        ({"amr": ["pwd"]}, False),
        ({"amr": "mfa"}, False),
        ({"amr": ["pwd", "otp"]}, True),
        ({"acr": "mfa"}, True),
    ],
)
def test_a_second_factor_is_the_providers_or_that_of_the_desk(
    issuer: str, officer: Officer, stated: Any, is_let_in: bool
) -> None:
    TOTPDevice.objects.create(user=officer, confirmed=True, name="phone")
    client, answer = signed_on(known(issuer, officer, **stated), address=f"{BEGIN}?next=/admin/rules/")
    assert answer["Location"] == ("/admin/rules/" if is_let_in else "/admin/login/code/?next=%2Fadmin%2Frules%2F")
    assert is_in(client) == is_let_in


@pytest.mark.parametrize("stated", [{"amr": ["mfa"]}, {}])
def test_where_a_second_factor_is_required_the_providers_will_do(
    issuer: str, officer: Officer, settings: Any, stated: Any
) -> None:
    settings.CABOCHON_SECOND_FACTOR = "required"
    client, _answer = signed_on(known(issuer, officer, **stated))
    shown = client.get("/admin/rules/")
    assert shown.status_code == (200 if stated else 302)
    assert stated or shown["Location"] == "/admin/second-factor/"


@pytest.mark.parametrize(("proved_s_ago", "is_fresh"), [(0, True), (400, False), (None, False)])
def test_a_proof_is_what_the_provider_says_was_proved_minutes_ago(
    issuer: str, officer: Officer, proved_s_ago: int | None, is_fresh: bool
) -> None:
    at = None if proved_s_ago is None else int(time.time()) - proved_s_ago
    client, _answer = signed_on(known(issuer, officer, auth_time=at))
    proved_at = client.session.get("proved_at")
    assert (proved_at is not None and time.time() - proved_at < 300) == is_fresh
    to, params = begun(client, f"{BEGIN}?again&next=/admin/rules/")
    assert (params["prompt"], params["max_age"]) == ("login", "0")
    known(issuer, officer, auth_time=int(time.time()))
    assert client.get(CALLBACK, answered(to, f"subject-{officer.pk}"))["Location"] == "/admin/rules/"
    assert time.time() - client.session["proved_at"] < 300


@pytest.mark.parametrize("has_device", [False, True])
def test_nobody_proves_at_the_provider_for_whoever_left_the_browser_open(
    issuer: str, officer: Officer, tenant: Tenant, has_device: bool
) -> None:
    boss = hired(tenant, Role.DIRECTOR, f"boss-{uuid4().hex[:8]}")
    client = Client()
    client.force_login(boss, backend="django.contrib.auth.backends.ModelBackend")
    if has_device:
        TOTPDevice.objects.create(user=officer, confirmed=True, name="phone")
    signed_on(known(issuer, officer), client=client)
    assert client.session.get("_auth_user_id") == (None if has_device else str(officer.pk))
    assert ("proved_at" in client.session) is not has_device


def test_a_stale_session_of_the_provider_is_asked_to_sign_in_there_again(issuer: str, officer: Officer) -> None:
    client, _answer = signed_on(known(issuer, officer, auth_time=int(time.time()) - 600))
    request = RequestFactory().get("/admin/rules/")
    request.session, request.user = client.session, officer  # type: ignore[assignment]
    shown = render_to_string("admin/audit/sign_in/proof_fields.html", proof_fields({"request": request}, "form"))
    assert f"{BEGIN}?again&amp;next=%2Fadmin%2Frules%2F" in shown
    assert 'type="password"' not in shown


# Where it leads, and local sign-in


@pytest.mark.parametrize(
    "to",
    in_short(["//evil.example", "/\\evil.example"], further=["https://evil.example/", "javascript:alert(1)"]),
)
def test_nobody_is_led_to_another_site(issuer: str, officer: Officer, to: str) -> None:
    _client, answer = signed_on(known(issuer, officer), address=f"{BEGIN}?next={to}")
    assert answer["Location"] == "/admin/"


def test_without_a_provider_there_is_no_such_page_and_no_button(settings: Any) -> None:
    settings.CABOCHON_OIDC_ISSUER = ""
    assert Client().get(BEGIN).status_code == Client().get(CALLBACK).status_code == 404
    assert BEGIN not in Client().get("/admin/login/").content.decode()


def test_local_sign_in_can_be_left_to_superusers(issuer: str, officer: Officer, settings: Any) -> None:
    assert "Sign in with Keyring" in Client().get("/admin/login/").content.decode()
    officer.set_password("a long password")
    officer.save()
    boss = Officer.objects.create_superuser(f"boss-{uuid4().hex[:8]}", password="a long password")

    def gets_in(name: str) -> bool:
        client = Client()
        client.post("/admin/login/", {"username": name, "password": "a long password"})
        return is_in(client)

    assert gets_in(officer.username)
    settings.CABOCHON_LOCAL_SIGN_IN = False
    assert not gets_in(officer.username)
    assert gets_in(boss.username)
    assert is_in(signed_on(known(issuer, officer))[0])
    settings.CABOCHON_OIDC_ISSUER = ""
    assert gets_in(officer.username), "nobody is locked out by half a configuration"


def test_the_password_form_does_not_reach_the_provider(issuer: str, officer: Officer) -> None:
    to, _params = begun(Client())
    back = answered(to, known(issuer, officer))
    client = Client()
    client.post(
        f"/admin/login/?code={back['code']}&state={back['state']}", {"username": officer.username, "password": "wrong"}
    )
    assert not is_in(client)


# A provider that lies


KEY = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)


@pytest.mark.parametrize(
    ("lie", "key", "algorithm"),
    in_short(
        [
            ({}, KEY, "RS256"),
            ({"aud": "another client"}, KEY, "RS256"),
            ({"aud": [CLIENT, "another"], "azp": "another"}, KEY, "RS256"),
            ({"iss": "https://evil.example"}, KEY, "RS256"),
            ({"exp": 1}, KEY, "RS256"),
            ({"exp": None}, KEY, "RS256"),
            ({"iat": 9_999_999_999}, KEY, "RS256"),
            ({"nonce": "another"}, KEY, "RS256"),
            ({"nonce": None}, KEY, "RS256"),
            ({"sub": None}, KEY, "RS256"),
            ({}, OTHER_KEY, "RS256"),
            ({}, None, "none"),
            ({}, SECRET, "HS256"),
            ({"additional": "somebody else"}, KEY, "RS256"),
        ],
        further=[({"aud": None}, KEY, "RS256"), ({"sub": 7}, KEY, "RS256"), ({}, KEY, "RS512")],
    ),
)
def test_a_token_is_believed_that_is_of_this_provider_for_this_client_and_this_sign_in(
    issuer: str, officer: Officer, monkeypatch: Any, lie: dict[str, Any], key: Any, algorithm: str
) -> None:
    client = Client()
    _to, params = begun(client)
    now = int(time.time())
    claims = {
        "iss": issuer,
        "aud": CLIENT,
        "sub": "s",
        "nonce": params["nonce"],
        "iat": now,
        "exp": now + 60,
        "auth_time": now,
    }
    claims |= {name: value for name, value in lie.items() if name != "additional"}
    claims = {name: value for name, value in claims.items() if value is not None}

    token = jwt.encode(claims, key, algorithm, headers={"kid": "k"})
    additional = {"sub": lie.get("additional", claims.get("sub")), "email": officer.email, "email_verified": True}
    monkeypatch.setattr(provider.ProviderBackend, "get_token", lambda *_: {"id_token": token, "access_token": "a"})
    monkeypatch.setattr(provider.ProviderBackend, "get_userinfo", lambda *_: additional)
    monkeypatch.setattr(provider.ProviderBackend, "retrieve_matching_jwk", lambda *_: KEY.public_key())
    answer = client.get(CALLBACK, {"state": params["state"], "code": "c"})
    is_honest = not lie and key is KEY and algorithm == "RS256"
    assert answer.status_code == (302 if is_honest else 403)
    assert is_in(client) == is_honest


@pytest.mark.parametrize(
    "of_token, of_endpoint, links",
    in_short(
        [
            ({"email": "theirs"}, {"email": "own", "email_verified": True}, False),
            ({"email_verified": True}, {"email": "theirs", "email_verified": False}, False),
            ({"email": "theirs", "email_verified": False}, {"email_verified": True}, False),
            ({"email": "theirs", "email_verified": True}, {"email": "own", "email_verified": False}, True),
            ({}, {"email": "theirs", "email_verified": True}, True),
        ],
        further=[
            ({"email": "own", "email_verified": True}, {"email": "theirs"}, False),
            ({"email_verified": True}, {"email": "theirs"}, False),
        ],
    ),
)
def test_an_address_of_one_source_is_not_verified_by_another(
    issuer: str,
    officer: Officer,
    monkeypatch: Any,
    of_token: dict[str, Any],
    of_endpoint: dict[str, Any],
    links: bool,
) -> None:
    addresses = {"theirs": officer.email, "own": "attacker@elsewhere.example"}

    def stated_with(claims: dict[str, Any]) -> dict[str, Any]:
        return claims | ({"email": addresses[claims["email"]]} if "email" in claims else {})

    client = Client()
    _to, params = begun(client)
    now = int(time.time())
    claims = {"iss": issuer, "aud": CLIENT, "sub": "s", "nonce": params["nonce"], "iat": now, "exp": now + 60}
    token = jwt.encode(claims | stated_with(of_token), KEY, "RS256", headers={"kid": "k"})
    monkeypatch.setattr(provider.ProviderBackend, "get_token", lambda *_: {"id_token": token, "access_token": "a"})
    monkeypatch.setattr(provider.ProviderBackend, "get_userinfo", lambda *_: {"sub": "s", **stated_with(of_endpoint)})
    monkeypatch.setattr(provider.ProviderBackend, "retrieve_matching_jwk", lambda *_: KEY.public_key())
    client.get(CALLBACK, {"state": params["state"], "code": "c"})
    assert ProviderAccount.objects.filter(officer=officer).exists() == links


def test_a_provider_that_is_away_or_publishes_another_issuer_is_said_to_be(settings: Any, issuer: str) -> None:
    for address in ("http://127.0.0.1:9", f"{issuer}/"):
        settings.CABOCHON_OIDC_ISSUER = address
        answer = Client().get(BEGIN)
        assert answer.status_code == 403
        assert "did not answer" in answer.content.decode()
