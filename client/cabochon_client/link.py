"""HTTP to the record: one kept connection, bounded times and sizes, and API keys of which one may be expiring."""

from __future__ import annotations

import http.client
import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

USER_AGENT = "cabochon-client/1.0.0"
TIMEOUT_S = 30.0
"""Seconds without a byte after which a request is given up; it is sent again."""

IDLE_S = 10.0
"""Seconds after which an unused connection is not used any more: the server ends one after 15."""

MAX_ANSWER = 8 * 2**20
SLOW_S = 2.0
"""An answer that took longer says nothing of the clock."""

Keys = str | Sequence[str] | Callable[[], Sequence[str]]
"""API keys, the newest first; or a function that returns them, and may return others after a rotation."""


class Unreachable(Exception):
    """No whole answer came: whether the record has stored the request is unknown, and it is to be sent again."""


@dataclass(frozen=True)
class Answer:
    """The answer to a request. ``clock_offset_s`` is how far this clock is ahead of the server's, None if unknown."""

    status: int
    content_type: str
    retry_after_s: float | None
    body: bytes
    clock_offset_s: float | None


class Link:
    """Requests to the record at ``url``, as ``https://record.example``; not for several threads at once."""

    def __init__(self, url: str, *, timeout_s: float = TIMEOUT_S, context: ssl.SSLContext | None = None) -> None:
        address = urlsplit(url.rstrip("/"))
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError(f"'{url}' is not an address like https://record.example")
        self.url = url.rstrip("/")
        self._is_https = address.scheme == "https"
        self._host, self._port, self._prefix = address.hostname, address.port, address.path
        self._timeout_s = timeout_s
        self._context = context
        self._connection: http.client.HTTPConnection | None = None
        self._used_at = 0.0

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def ask(
        self,
        method: str,
        path: str,
        *,
        key: str = "",
        body: bytes | None = None,
        content_type: str = "application/json",
    ) -> Answer:
        """Send a request and return the whole answer. Raise ``Unreachable``.

        A kept connection that the server has ended meanwhile is replaced once, at once.
        """
        headers = {"User-Agent": USER_AGENT, "Accept": "application/json, */*;q=0.5"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        if body is not None:
            headers["Content-Type"] = content_type
        if time.monotonic() - self._used_at > IDLE_S:
            self.close()
        for is_kept in (True, False) if self._connection is not None else (False,):
            try:
                return self._ask_once(method, f"{self._prefix}{path}", headers, body)
            except (http.client.HTTPException, OSError, ValueError) as error:
                self.close()
                if not is_kept:
                    raise Unreachable(_in_words(error)) from error
        raise AssertionError("the loop returns or raises")

    def _ask_once(self, method: str, path: str, headers: dict[str, str], body: bytes | None) -> Answer:
        if self._connection is None:
            self._connection = self._connect()
        began_at, began = time.time(), time.monotonic()
        self._connection.request(method, path, body=body, headers=headers)
        response = self._connection.getresponse()
        took_s = time.monotonic() - began
        content = response.read(MAX_ANSWER + 1)
        if len(content) > MAX_ANSWER:
            raise ValueError("the answer is larger than any of the record's")
        self._used_at = time.monotonic()
        if response.will_close:
            self.close()
        return Answer(
            response.status,
            response.headers.get_content_type(),
            _seconds(response.headers.get("Retry-After")),
            content,
            _clock_offset_s(response.headers.get("Date"), began_at + took_s / 2) if took_s <= SLOW_S else None,
        )

    def _connect(self) -> http.client.HTTPConnection:
        if self._is_https:
            context = self._context or ssl.create_default_context()
            return http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout_s, context=context)
        return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout_s)


class KeyRing:
    """API keys, of which the one that was accepted last is used first."""

    def __init__(self, keys: Keys) -> None:
        self._given = keys
        self._accepted = ""

    def keys(self) -> list[str]:
        """Return the keys in the order in which they are tried."""
        given = self._given if isinstance(self._given, str | Sequence) else self._given()
        keys = [given] if isinstance(given, str) else list(given)
        return sorted(dict.fromkeys(key.strip() for key in keys if key.strip()), key=lambda key: key != self._accepted)

    def ask(
        self, link: Link, method: str, path: str, *, body: bytes | None = None, content_type: str = "application/json"
    ) -> Answer:
        """Ask with each key until one is not answered 401; return the last answer. Raise ``Unreachable``."""
        answer = Answer(401, "", None, b"", None)
        for key in self.keys():
            answer = link.ask(method, path, key=key, body=body, content_type=content_type)
            if answer.status != 401:
                if answer.status < 400:
                    self._accepted = key
                break
        return answer


def _seconds(value: str | None) -> float | None:
    """Return the seconds of a ``Retry-After`` header, a number or a date; None if it is missing or neither."""
    if value is None:
        return None
    if value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _clock_offset_s(date: str | None, here: float) -> float | None:
    """Return how far ``here`` is ahead of a ``Date`` header, which tells whole seconds: taken as their middle."""
    try:
        return here - (parsedate_to_datetime(date).timestamp() + 0.5) if date else None
    except ValueError:
        return None


def _in_words(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not valid: {error.verify_message}"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return str(error) or type(error).__name__
