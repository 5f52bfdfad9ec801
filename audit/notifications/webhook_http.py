"""One POST to an address that somebody else wrote down: no internal host, no redirect, no endless answer.

    address ─► https, a host, no password ─► resolved once ─► every address public? ─► connected to just that address

The name is resolved here, and the connection goes to an address that was looked at: a name that resolves to another
address a moment later (DNS rebinding) reaches nothing. The certificate is that of the name. An answer is read up to
``MAX_ANSWER`` bytes, and everything together takes at most ``TOTAL_S`` once the name is resolved: a receiver that sends
a byte now and then is cut off.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

CONNECT_S = 5.0
TOTAL_S = 10.0
MAX_ANSWER = 4 * 1024
MAX_URL = 500
MAX_ADDRESSES = 3
"""Addresses of a name that are tried."""


class AddressRefused(Exception):
    """The address is not one that is sent to. ``reason`` is a code: a key of ``REASONS``."""

    def __init__(self, reason: str) -> None:
        super().__init__(REASONS[reason])
        self.reason = reason


class NotTaken(Exception):
    """The receiver did not take the message. ``status`` is what it answered, 0 if it did not."""

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status

    @property
    def gone(self) -> bool:
        """Whether it says that it never will."""
        return self.status == HTTPStatus.GONE


REASONS: Mapping[str, str] = {
    "not-https": "the address is not https",
    "malformed": "the address is not a URL",
    "credentials": "the address has a user or password",
    "internal": "the name leads to an address that is not public",
    "unresolved": "the name leads nowhere",
}


@dataclass(frozen=True, slots=True)
class Target:
    """A URL taken apart: what is looked up, what is connected to, and what is asked for there."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def host_header(self) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == (443 if self.scheme == "https" else 80) else f"{name}:{self.port}"


def target_of(url: str) -> Target:
    """Return the parts of a webhook's address. Raise ``AddressRefused`` for one that can never be sent to."""
    try:
        parts: SplitResult = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host = host if ":" in host else host.encode("idna").decode("ascii")
    except (ValueError, UnicodeError):
        raise AddressRefused("malformed") from None
    if len(url) > MAX_URL or not host or parts.fragment or not url.isascii() or any(c.isspace() for c in url):
        raise AddressRefused("malformed")
    if parts.scheme != "https" and not (parts.scheme == "http" and settings.CABOCHON_WEBHOOK_NETWORKS):
        raise AddressRefused("not-https")
    if parts.username is not None or parts.password is not None:
        raise AddressRefused("credentials")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port or (443 if parts.scheme == "https" else 80), path)


def resolved(target: Target) -> list[str]:
    """Return the addresses of a target. Raise ``AddressRefused`` if any of them is not one that is sent to."""
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise AddressRefused("unresolved") from None
    addresses = list(dict.fromkeys(str(info[4][0]) for info in found))
    allowed = [ipaddress.ip_network(each, strict=False) for each in settings.CABOCHON_WEBHOOK_NETWORKS]
    for address in addresses:
        is_allowed = any(ipaddress.ip_address(address.partition("%")[0]) in network for network in allowed)
        if not is_allowed and (target.scheme == "http" or not is_public(address)):
            raise AddressRefused("internal")
    return addresses[:MAX_ADDRESSES]


def is_public(address: str) -> bool:
    """Return whether an IP address is globally reachable, also where IPv6 carries an IPv4 address.

    IANA's registries of special-purpose addresses say which are. ``is_global`` knows those that Python's version knew,
    and takes what IANA has not given to anybody for reachable: of IPv6 only 2000::/3 is given.
    """
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        carried = ip.ipv4_mapped
        if carried is None and ip in _NAT64:
            carried = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if carried is not None:
            return is_public(str(carried))
        if ip not in _GIVEN:
            return False
    return ip.is_global and not ip.is_multicast and not any(ip in network for network in _NOT_REACHABLE)


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")

_GIVEN = ipaddress.IPv6Network("2000::/3")

# In the registries, but not, or not everywhere, globally reachable; versions of Python differ about them.
_NOT_REACHABLE = [
    ipaddress.ip_network(each)
    for each in (
        *("192.0.0.0/24", "192.88.99.0/24"),  # assignments of protocols; relays of 6to4, deprecated
        *("2001::/23", "2002::/16", "3fff::/20"),  # assignments of protocols with Teredo; 6to4; documentation
    )
]


class Sender:
    """Sends to one address, over one connection as long as that is kept. Not for several threads."""

    def __init__(self, url: str) -> None:
        self._target = target_of(url)
        self._connection: http.client.HTTPConnection | None = None
        self._handle: socket.socket | None = None  # the same connection, for the timer
        self._is_late = False

    def post(self, body: bytes, headers: Mapping[str, str]) -> int:
        """Send a message; return the status, which is 2xx. Raise ``AddressRefused`` or ``NotTaken``."""
        deadline = threading.Timer(TOTAL_S, self._cut_off)
        deadline.daemon = True
        addresses = resolved(self._target) if self._connection is None else []
        self._is_late = False
        deadline.start()
        try:
            if self._connection is None:
                self._connection = self._connected(addresses)
            status = self._exchange(self._connection, body, headers)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise NotTaken("no answer in time" if self._is_late else _what_failed(error)) from error
        finally:
            deadline.cancel()
        if self._is_late:  # what was read of the answer may be a part of it
            self.close()
            raise NotTaken("no answer in time")
        if not 200 <= status < 300:
            raise NotTaken(f"HTTP {status} {_phrase(status)}".strip(), status=status)
        return status

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._handle is not None:
            self._handle.close()
        self._connection = self._handle = None

    def _connected(self, addresses: list[str]) -> http.client.HTTPConnection:
        """Connect to the first of the addresses that accepts it. Raise its ``OSError`` if none does."""
        *others, last = addresses
        for address in others:
            try:
                return self._connected_to(address)
            except OSError:
                self.close()
        return self._connected_to(last)

    def _connected_to(self, address: str) -> http.client.HTTPConnection:
        target = self._target
        connection = http.client.HTTPConnection(target.host, target.port)
        connection.auto_open = 0  # or it would resolve the name by itself
        plain = socket.create_connection((address, target.port), timeout=CONNECT_S)
        try:
            self._handle = plain.dup()
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if target.scheme == "https":
                context = ssl.create_default_context()
                connection.sock = context.wrap_socket(plain, server_hostname=target.host)
            else:
                connection.sock = plain
        except BaseException:
            plain.close()
            raise
        connection.sock.settimeout(TOTAL_S)
        return connection

    def _exchange(self, connection: http.client.HTTPConnection, body: bytes, headers: Mapping[str, str]) -> int:
        """Send one request and read its answer. Redirects are answers as any other."""
        connection.putrequest("POST", self._target.path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": self._target.host_header, **headers, "Content-Length": str(len(body))}.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        rest = answer.read(MAX_ANSWER + 1)
        if len(rest) > MAX_ANSWER or answer.will_close or not answer.isclosed():
            self.close()
        return answer.status

    def _cut_off(self) -> None:
        """End an exchange that takes too long, from the timer's thread."""
        self._is_late, handle = True, self._handle
        if handle is not None:
            try:
                handle.shutdown(socket.SHUT_RDWR)
            except OSError:
                return


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _what_failed(error: Exception) -> str:
    """Return what happened, in a few words, without what the receiver sent."""
    match error:
        case TimeoutError():
            return "no answer in time"
        case ssl.SSLCertVerificationError():
            return f"its certificate is not valid: {error.verify_message}"
        case ssl.SSLError():
            return "no TLS connection"
        case ConnectionRefusedError():
            return "it does not accept connections"
        case http.client.HTTPException() | ValueError():
            return "its answer is not HTTP"
        case _:
            return f"the connection broke: {type(error).__name__}"
