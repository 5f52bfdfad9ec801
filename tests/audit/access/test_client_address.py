"""The address of a client: nothing that the client can write is believed, and what trusted proxies report is."""

from __future__ import annotations

from typing import Any

import pytest

from audit.access.client_address import UNKNOWN, client_address, network_of

PROXY, CLIENT, OTHER = "10.0.0.1", "192.0.2.7", "198.51.100.9"


def seen(connection: str, reported: str | None = None) -> str:
    headers = {} if reported is None else {"HTTP_X_FORWARDED_FOR": reported}
    return client_address({"REMOTE_ADDR": connection, **headers})


@pytest.mark.parametrize("reported", [None, "", CLIENT, f"{CLIENT}, {PROXY}", "127.0.0.1", "nonsense"])
def test_without_proxies_it_is_the_address_of_the_connection(reported: str | None) -> None:
    assert seen(OTHER, reported) == OTHER
    assert seen(PROXY, reported) == PROXY


@pytest.mark.parametrize(
    "connection, reported, address",
    [
        (PROXY, CLIENT, CLIENT),
        (PROXY, f"127.0.0.1, {OTHER}, {CLIENT}", CLIENT),  # what the client wrote comes first
        (PROXY, f"{CLIENT}, 10.9.9.9", CLIENT),  # two proxies
        (PROXY, f"{OTHER}, {CLIENT}, 10.9.9.9", CLIENT),
        (PROXY, f"10.1.1.1, {CLIENT}", CLIENT),  # a client that calls itself a proxy
        (PROXY, f"{CLIENT}, 10.1.1.1", CLIENT),
        (PROXY, "10.1.1.1", "10.1.1.1"),  # a proxy is the client
        (PROXY, None, PROXY),
        (PROXY, "", PROXY),
        (PROXY, f"{CLIENT},", PROXY),  # what the nearest proxy wrote is nothing
        (PROXY, f"{CLIENT}, nonsense", PROXY),
        (PROXY, f"{CLIENT}, unknown, 10.1.1.1", "10.1.1.1"),
        (PROXY, "1" * 10_000, PROXY),
        (PROXY, f"{CLIENT}\x00", PROXY),
        (PROXY, "192.0.2.007", PROXY),
        (PROXY, "３.３.３.３", PROXY),
        (OTHER, CLIENT, OTHER),  # not a proxy of ours
        (OTHER, PROXY, OTHER),
        (PROXY, f"{CLIENT}:4711", CLIENT),
        (PROXY, f"{CLIENT}:", PROXY),
        (PROXY, f"{CLIENT}:99999999", PROXY),
        (PROXY, f' "{CLIENT}" ', CLIENT),
        (PROXY, "2001:db8::1", "2001:db8::1"),
        (PROXY, "[2001:db8::1]", "2001:db8::1"),
        (PROXY, "[2001:db8::1]:443", "2001:db8::1"),
        (PROXY, "[2001:db8::1]443", PROXY),
        (PROXY, "[2001:db8::1", PROXY),
        (PROXY, f"::ffff:{CLIENT}", CLIENT),
        (f"::ffff:{PROXY}", CLIENT, CLIENT),
        ("fe80::1%eth0", CLIENT, CLIENT),
        ("", CLIENT, UNKNOWN),
        ("no address", CLIENT, UNKNOWN),
    ],
)
def test_proxies_are_believed_from_the_right(
    settings: Any, connection: str, reported: str | None, address: str
) -> None:
    settings.CABOCHON_TRUSTED_PROXIES = ["10.0.0.0/8", "fe80::/64"]
    assert seen(connection, reported) == address


def test_a_single_address_is_a_network_of_one_and_what_is_neither_is_refused(settings: Any) -> None:
    settings.CABOCHON_TRUSTED_PROXIES = [PROXY]
    assert seen(PROXY, f"{CLIENT}, 10.0.0.2") == "10.0.0.2"
    settings.CABOCHON_TRUSTED_PROXIES = ["the proxy"]
    with pytest.raises(ValueError, match="the proxy"):
        seen(PROXY, CLIENT)


def test_addresses_of_one_subscriber_count_together() -> None:
    assert network_of("2001:db8:1:2::7") == network_of("2001:db8:1:2:ffff::1") != network_of("2001:db8::")
    assert network_of("192.0.2.1") != network_of("192.0.2.2")
    assert network_of("::ffff:192.0.2.1") == network_of("192.0.2.1")
    assert network_of("") == network_of("no address") == UNKNOWN
