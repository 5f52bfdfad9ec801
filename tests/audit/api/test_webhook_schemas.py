"""The section ``webhooks`` of the OpenAPI document: what is sent is what it says, and it names every type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from drf_spectacular.generators import SchemaGenerator

from audit.event_store.audit_trail import COMMAND
from audit.models import AlertMessage
from audit.notifications import alert_messages, feed, webhook_delivery, webhooks
from tests.audit.notifications.receivers import Receiver, receiving
from tests.audit.notifications.test_alert_messages import fall_silent, hooked
from tests.audit.notifications.test_alerts import Floor
from tests.audit.notifications.test_webhook_delivery import found
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return found


@pytest.fixture(autouse=True)
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.CABOCHON_WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    with receiving() as receiver:
        yield receiver


def validate(document: dict[str, Any], webhook: str, message: Any) -> None:
    body = document["webhooks"][webhook]["post"]["requestBody"]["content"]["application/json"]["schema"]
    name = body["description"].split("`")[1]
    jsonschema.validate(message, {"$ref": f"#/components/schemas/{name}", "components": document["components"]})


def types(document: dict[str, Any], schema: str) -> set[str]:
    return set(document["components"]["schemas"][schema]["properties"]["type"]["enum"])


def test_every_type_that_is_sent_is_named(document: dict[str, Any]) -> None:
    assert types(document, "FindingMessage") == set(feed.TYPES.values())
    assert types(document, "AlertMessage") == {"alert.opened", "alert.ended"}
    assert document["openapi"].startswith("3.1")


@pytest.mark.parametrize("is_sandbox", [False, True])
def test_a_message_about_a_finding_is_as_it_says(
    document: dict[str, Any], receiver: Receiver, is_sandbox: bool
) -> None:
    tenant = Tenant(tables=("C1",), is_sandbox=is_sandbox)
    webhook, _secret = webhooks.create(
        COMMAND, casino=tenant.casino, name="n", url=receiver.url, severities=["critical"]
    )
    found(tenant, 1)
    assert webhook_delivery.deliver(webhook.pk) == 1
    [message] = receiver.taken
    validate(document, "finding", message.content)
    with pytest.raises(jsonschema.ValidationError):
        validate(document, "alert", message.content)
    sent = {each["name"] for each in document["webhooks"]["finding"]["post"]["parameters"]}
    assert sent <= message.headers.keys()


def test_a_message_about_an_alert_is_as_it_says(document: dict[str, Any], receiver: Receiver) -> None:
    floor = Floor()
    webhook, _secret = hooked(floor, receiver)
    fall_silent(floor)
    assert alert_messages.send(webhook.pk) == 1
    [message] = receiver.taken
    validate(document, "alert", message.content)
    assert AlertMessage.objects.get().sent_at is not None


def test_a_test_message_is_as_it_says(document: dict[str, Any], receiver: Receiver, tenant: Tenant) -> None:
    webhook, _secret = webhooks.create(
        COMMAND, casino=tenant.casino, name="n", url=receiver.url, severities=["critical"]
    )
    webhooks.request_test(COMMAND, webhook)
    webhook_delivery.test(webhook.pk)
    [message] = receiver.taken
    validate(document, "test", message.content)
