"""The address of the client that sent a request: of its connection, or as trusted proxies report it.

    client ──► proxy ──► proxy ──► web server        X-Forwarded-For: whatever the client wrote, client, proxy
               trusted   trusted (the connection)    read from the right, as long as who reports is trusted

Each proxy appends the address that it was called from. So the last entry was written by the proxy that called us, and
is believed if that proxy is trusted (``CABOCHON_TRUSTED_PROXIES``); the entry before it if the address it names is a
trusted proxy too, and so on. The first address that is not trusted is the client's: it cannot be chosen by the client.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, TypeAlias

from django.conf import settings

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

UNKNOWN = "unknown"
"""What stands for the address of a connection that has none, as one over a Unix socket."""


def client_address(meta: Mapping[str, Any]) -> str:
    """Return the address of a request's client, given its WSGI environment (``request.META``); ``UNKNOWN`` if none.

    An IPv4 address that is mapped into IPv6 is returned as IPv4.
    """
    address = _parsed(str(meta.get("REMOTE_ADDR") or ""))
    if address is None:
        return UNKNOWN
    believed = _networks(tuple(map(str, settings.CABOCHON_TRUSTED_PROXIES)))
    if not believed:
        return str(address)
    reported = str(meta.get("HTTP_X_FORWARDED_FOR") or "").split(",")
    while reported and _is_believed(address, believed):
        before = _parsed(reported.pop())
        if before is None:  # nothing, or nonsense: who reported it is as far as we know
            break
        address = before
    return str(address)


def network_of(address: str) -> str:
    """Return what attempts are counted by: an IPv4 address, or the /64 network that an IPv6 subscriber has."""
    parsed = _parsed(address)
    if parsed is None:
        return UNKNOWN
    if isinstance(parsed, IPv6Address):
        return str(ip_network((parsed, 64), strict=False).network_address)
    return str(parsed)


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Address | None:
    """Return an address, which may have a port or a zone: ``192.0.2.1:80``, ``[2001:db8::1]:80``, ``fe80::1%eth0``."""
    host = text.strip().strip('"')
    if host.startswith("["):
        host, closing, port = host[1:].partition("]")
        if not closing or (port and not _is_port(port)):
            return None
    elif host.count(":") == 1:
        host, _, port = host.partition(":")
        if not _is_port(":" + port):
            return None
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _is_port(text: str) -> bool:
    return text[:1] == ":" and text[1:].isascii() and text[1:].isdigit() and len(text) <= 6


def _is_believed(address: Address, believed: tuple[Network, ...]) -> bool:
    return any(address in network for network in believed if network.version == address.version)


@lru_cache(maxsize=16)
def _networks(texts: tuple[str, ...]) -> tuple[Network, ...]:
    """Return networks; a single address is a network of one. Raise ``ValueError`` for what is neither."""
    return tuple(ip_network(text.strip(), strict=False) for text in texts if text.strip())


def network_address(request: Any) -> str:
    """Return what attempts at the desk are counted by: the client's IPv4 address or IPv6 network, "" if unknown."""
    network = network_of(client_address(request.META))
    return "" if network == UNKNOWN else network
