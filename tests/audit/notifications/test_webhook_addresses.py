"""Where webhooks are sent: public addresses over https, no redirects, no endless answers, whatever a name leads to."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit.notifications import webhook_http
from audit.notifications.webhook_http import AddressRefused, NotTaken, Sender, is_public, resolved, target_of
from tests.audit.notifications.receivers import Handler, Message, receiving

HEADERS = {"Content-Type": "application/json"}


@pytest.fixture(autouse=True)
def short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_http, "TOTAL_S", 0.6)
    monkeypatch.setattr(webhook_http, "CONNECT_S", 0.5)


@pytest.fixture
def this_machine(settings: Any) -> None:
    settings.CABOCHON_WEBHOOK_NETWORKS = ["127.0.0.0/8", "::1/128"]


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
        *("100.64.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "240.0.0.1"),
        *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1"),
        *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "2002:7f00:1::", "2002:a9fe:a9fe::1", "64:ff9b::a9fe:a9fe"),
        *("64:ff9b::7f00:1", "nonsense", ""),
        *("fec0::1", "64:ff9b:1::a00:1", "::127.0.0.1", "::8.8.8.8", "::ffff:0:10.0.0.1", "5f00::1", "100::1"),
        *("2001:0:a00:1::1", "2001:2::1", "2002:808:808::1", "3fff::1", "4000::1", "192.0.0.8", "192.88.99.1"),
    ],
)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_a_public_address_is_not(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url, reason",
    [
        ("http://example.com/", "not-https"),
        ("ftp://example.com/", "not-https"),
        ("file:///etc/passwd", "malformed"),
        ("javascript:alert(1)", "malformed"),
        ("https://", "malformed"),
        ("https://example.com:99999/", "malformed"),
        ("https://example.com/#part", "malformed"),
        ("https://exa mple.com/", "malformed"),
        ("https://example.com/\r\nHost: other", "malformed"),
        ("https://exämple.com/", "malformed"),
        ("https://[::1/", "malformed"),
        ("https://user:pass@example.com/", "credentials"),
        ("https://example.com/" + "x" * 500, "malformed"),
        ("", "malformed"),
    ],
)
def test_an_address_that_is_not_one_is_refused_when_it_is_entered(url: str, reason: str) -> None:
    with pytest.raises(AddressRefused) as refused:
        target_of(url)
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "169.254.169.254", "2130706433", "0x7f.1", "0177.0.0.1", "127.1"]
)
def test_internal_hosts_are_refused_however_they_are_written(host: str) -> None:
    with pytest.raises(AddressRefused) as refused:
        resolved(target_of(f"https://{host}/"))
    assert refused.value.reason in ("internal", "unresolved")


def leads_to(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Have a name lead to each of ``answers`` in turn, the last from then on. Return the names that are looked up."""
    left, looked_up = list(answers), []

    def lookup(host: str, port: int, *args: Any, **kwargs: Any) -> list[Any]:
        looked_up.append(host)
        addresses = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(webhook_http.socket, "getaddrinfo", lookup)
    return looked_up


def test_a_name_of_which_one_address_is_internal_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    leads_to(monkeypatch, ["93.184.216.34", "10.0.0.7"])
    with pytest.raises(AddressRefused) as refused:
        Sender("https://hooks.example/").post(b"{}", HEADERS)
    assert refused.value.reason == "internal"


@pytest.mark.usefixtures("this_machine")
def test_a_name_is_looked_up_once_and_what_was_looked_at_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS rebinding: the second answer would lead elsewhere, and nobody asks for it."""
    with receiving() as receiver:
        port = receiver.url.split(":")[2].split("/")[0]
        connected: list[str] = []
        connect = socket.create_connection
        lookups = leads_to(monkeypatch, ["127.0.0.1"], ["169.254.169.254"])

        def noted(address: tuple[str, int], *args: Any, **kwargs: Any) -> socket.socket:
            connected.append(address[0])
            plain = socket.socket()
            plain.settimeout(kwargs["timeout"])
            plain.connect(address)
            return plain

        monkeypatch.setattr(webhook_http.socket, "create_connection", noted)
        assert connect is not noted
        sender = Sender(f"http://rebinding.example:{port}/hook")
        assert sender.post(b"{}", HEADERS) == 204
        assert sender.post(b"{}", HEADERS) == 204
        sender.close()
    assert (lookups, connected) == (["rebinding.example"], ["127.0.0.1"])
    assert receiver.taken[0].headers["host"] == f"rebinding.example:{port}"


@pytest.mark.usefixtures("this_machine")
def test_http_goes_to_the_networks_of_the_setting_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    leads_to(monkeypatch, ["93.184.216.34"])
    with pytest.raises(AddressRefused):
        Sender("http://hooks.example/").post(b"{}", HEADERS)


@pytest.mark.usefixtures("this_machine")
def test_a_redirect_is_not_followed() -> None:
    with receiving() as inner:

        def redirects(handler: Handler, message: Message) -> int:
            handler.send_response(307)
            handler.send_header("Location", inner.url)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return 0

        with receiving(redirects) as receiver, pytest.raises(NotTaken, match="HTTP 307"):
            Sender(receiver.url).post(b"{}", HEADERS)
    assert (len(receiver.came), inner.came) == (1, [])


SLOW_S = 20.0
"""How long a slow receiver takes; a sender that is cut off in time is long done by then, on a busy machine as well."""


def hangs(handler: Handler, message: Message) -> int:
    time.sleep(SLOW_S)
    return 200


def drips_head(handler: Handler, message: Message) -> int:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for _ in range(int(SLOW_S * 10)):
        handler.wfile.write(b"x-a: b\r\n")
        time.sleep(0.1)
    return 0


def drips_body(handler: Handler, message: Message) -> int:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(int(SLOW_S * 10)):
        handler.wfile.write(b"x")
        time.sleep(0.1)
    return 0


@pytest.mark.usefixtures("this_machine")
@pytest.mark.parametrize("behaviour", [hangs, drips_head, drips_body])
def test_a_receiver_that_is_slow_is_cut_off(behaviour: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_http, "TOTAL_S", 0.2)
    with receiving(behaviour) as receiver:
        began = time.monotonic()
        with pytest.raises(NotTaken):
            Sender(receiver.url).post(b"{}", HEADERS)
        assert time.monotonic() - began < SLOW_S / 2


@pytest.mark.usefixtures("this_machine")
def test_a_receiver_that_never_ends_its_answer_is_read_no_further() -> None:
    sent, is_cut_off = 0, threading.Event()

    def endless(handler: Handler, message: Message) -> int:
        nonlocal sent
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
        try:
            while True:
                sent += handler.connection.send(b"x" * 65_536)
        except OSError:
            is_cut_off.set()
            return 0

    with receiving(endless) as receiver:
        assert Sender(receiver.url).post(b"{}", HEADERS) == 200
        assert is_cut_off.wait(60)
    assert sent < 30_000_000


@pytest.mark.usefixtures("this_machine")
@pytest.mark.parametrize("answer", [b"nonsense\r\n\r\n", b"", b"HTTP/1.1 abc\r\n\r\n", b"\x00" * 100, b"H" * 100_000])
def test_an_answer_that_is_not_http_is_a_failure(answer: bytes) -> None:
    def says(handler: Handler, message: Message) -> int:
        handler.wfile.write(answer)
        handler.close_connection = True
        return 0

    with receiving(says) as receiver, pytest.raises(NotTaken) as failed:
        Sender(receiver.url).post(b"{}", HEADERS)
    assert "HHHH" not in str(failed.value)


@pytest.mark.usefixtures("this_machine")
def test_nothing_that_listens_is_a_failure() -> None:
    with receiving() as receiver:
        pass
    with pytest.raises(NotTaken, match="does not accept connections"):
        Sender(receiver.url).post(b"{}", HEADERS)


@pytest.fixture
def handshake_that_hangs() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.usefixtures("this_machine")
def test_a_tls_handshake_that_hangs_is_cut_off(handshake_that_hangs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_http, "CONNECT_S", 0.1)
    began = time.monotonic()
    with pytest.raises(NotTaken):
        Sender(f"https://127.0.0.1:{handshake_that_hangs}/").post(b"{}", HEADERS)
    assert time.monotonic() - began < SLOW_S / 2


@pytest.mark.usefixtures("this_machine")
def test_a_certificate_of_nobody_is_refused(tmp_path: Path) -> None:
    pair = [str(tmp_path / name) for name in ("key.pem", "cert.pem")]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-days", "2"]
    subprocess.run([*command, "-keyout", pair[0], "-out", pair[1]], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair[1], pair[0])
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            plain, _address = server.accept()
            try:
                context.wrap_socket(plain, server_side=True).close()
            except (ssl.SSLError, OSError):
                plain.close()

        threading.Thread(target=accept, daemon=True).start()
        with pytest.raises(NotTaken, match="certificate is not valid"):
            Sender(f"https://127.0.0.1:{server.getsockname()[1]}/").post(b"{}", HEADERS)
