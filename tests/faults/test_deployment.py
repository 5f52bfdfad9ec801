"""A deployment by the documentation alone, in front of it nginx with TLS, to a finding that an officer sees through it.

    officers, table systems ──TLS──► nginx ──► web ─► PostgreSQL, RabbitMQ ─► worker, sequencer, beat

The servers are this machine's PostgreSQL and RabbitMQ, and an nginx of the test's own, by the file of ``deploy/nginx``.
Each process has the command of its systemd unit, the variables of ``deploy/systemd``, an account of the database that
is a member of its role alone, and, if the test is run by root, the number of a user that the machine has no name for.
"""

from __future__ import annotations

import datetime as dt
import http.client
import json
import os
import re
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from ipaddress import ip_address
from itertools import cycle
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.casino.processes import ENVIRONMENT, nothing_left_on, runs, until
from tests.casino.test_monitoring_files import exported
from tests.casino.test_systemd import PROCESSES, UNITS, section
from tests.faults.test_brokers import Stream, nights

pytestmark = pytest.mark.faults

ROOT = Path(__file__).parents[2]
NAME = "desk.example"
PASSWORD = "long-enough-for-an-officer-1"
ROLES = {"web": "web", "worker": "worker", "beat": "beat", "sequencer": "sequencer", "operator": "operator"}
NAMELESS = {"web": 61_001, "worker": 61_002, "beat": 61_003, "sequencer": 61_004, "operator": 61_005}
STARTS_WITHIN_S = 180


def free_ports() -> list[int]:
    """Return three ports that are free, and not the same."""
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    ports: list[int] = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


def certificate(folder: Path) -> None:
    """Write a certificate for NAME and localhost, which signs itself, as certbot lays one out."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = dt.datetime.now(dt.UTC)
    names = [x509.DNSName(NAME), x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
    signed = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "fullchain.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    (folder / "privkey.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )


@dataclass
class Deployment:
    folder: Path
    database: str  # a superuser's address
    broker: str
    accounts: dict[str, str]  # of the database, by the name of the environment file
    ports: list[int] = field(default_factory=free_ports)
    more_web_ports: list[int] = field(default_factory=list)  # of further web servers, beside the one of the unit
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def web_port(self) -> int:
        return self.ports[0]

    @property
    def tls_port(self) -> int:
        return self.ports[1]

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def url(self) -> str:
        return f"https://localhost:{self.tls_port}"

    def environment(self, account: str) -> dict[str, str]:
        """Return what an account's processes have: common.env and its own file, with this machine's values."""
        lines = (UNITS / "common.env.example").read_text() + (UNITS / f"{account}.env.example").read_text()
        values = dict(line.split("=", 1) for line in lines.splitlines() if line and not line.startswith("#"))
        login = self.accounts[account]
        server = urllib.parse.urlsplit(self.database)
        address = f"{login}:{login}@{server.hostname}:{server.port or 5432}"
        ours = {
            "DATABASE_URL": server._replace(netloc=address).geturl(),
            "CELERY_BROKER_URL": self.broker,
            "CABOCHON_SECRET_KEY": "of-the-web-servers" if account == "web" else "signs-nothing-in-this-process",
            "CABOCHON_TLS_ADDRESS": f"localhost:{self.tls_port}",
            "CABOCHON_BIND": f"127.0.0.1:{self.web_port}",
            "CABOCHON_TRUSTED_ORIGINS": self.url,
            "CABOCHON_ALLOWED_HOSTS": NAME,
            "CABOCHON_TRUSTED_PROXIES": "127.0.0.2",
            "CABOCHON_METRICS_TOKEN": "token",
            "CABOCHON_EMAIL_URL": "consolemail://",
        }
        values |= {name: value for name, value in ours.items() if name in values or name == "CABOCHON_SECRET_KEY"}
        values = {name: text.replace("/var/lib/cabochon", str(self.data)) for name, text in values.items()}
        # Nights are sent faster than they are played, and nothing twice: no budget of work ends them.
        no_budget = {"CABOCHON_PROCESSOR_BURST_S": "1e9"}
        return {**ENVIRONMENT, "HOME": "/nonexistent", "CABOCHON_DATA": str(self.data), **no_budget, **values}

    def as_nobody(self, account: str) -> list[str]:
        """Return what a command begins with, to be run as a number without a name; nothing unless root runs this."""
        if os.getuid() or not shutil.which("setpriv"):
            return []
        number = str(NAMELESS[account])
        return ["setpriv", "--reuid", number, "--regid", number, "--clear-groups", "--no-new-privs", "--inh-caps=-all"]

    def manage(self, account: str, *arguments: str, **more: str) -> str:
        """Run a command as an account; ``superuser`` is who may migrate."""
        is_root = account in ("superuser", "root")
        environment = self.environment("operator" if is_root else account) | more
        if account == "superuser":
            environment["DATABASE_URL"] = self.database
        done = subprocess.run(
            [*([] if is_root else self.as_nobody(account)), sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def give(self, folder: str, account: str) -> None:
        """Do for a folder what ``cabochon.tmpfiles.conf`` does."""
        path = self.data / folder
        path.mkdir(exist_ok=True)
        for each in [path, *path.rglob("*")] if not os.getuid() else []:
            os.chown(each, NAMELESS[account], NAMELESS[account])

    def start(self, process: str, *, port: int | None = None) -> None:
        """Start a process by its unit; a further web server with a port of its own."""
        name = f"{process}-{port}" if port else process
        account = PROCESSES[process]
        unit = section(process)["ExecStart"].replace("%%", "%").replace("${CABOCHON_CONCURRENCY}", "1")
        program, *arguments = shlex.split(unit.replace("/opt/cabochon/.venv/bin", str(Path(sys.executable).parent)))
        kind = re.search(r"CABOCHON_PROCESS=(\w+)", (UNITS / f"cabochon-{process}.service").read_text())
        own = {"CABOCHON_BIND": f"127.0.0.1:{port}"} if port else {}
        self.running[name] = subprocess.Popen(
            [*self.as_nobody(account), program, *arguments],
            cwd=ROOT,
            env=self.environment(account) | own | ({"CABOCHON_PROCESS": kind[1]} if kind else {}),
            stdout=(self.folder / f"{name}.log").open("ab"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def start_nginx(self) -> None:
        """Start nginx with the file of ``deploy/nginx``. It connects from 127.0.0.2, as from a host of its own."""
        values = {
            "CABOCHON_NAME": f"{NAME} localhost",
            "CABOCHON_UPSTREAM": f"127.0.0.1:{self.web_port}",
            "CABOCHON_TLS": str(self.folder),
            "CABOCHON_LISTEN": "127.0.0.1:",
        }
        text = (ROOT / "deploy" / "nginx" / "cabochon.conf.template").read_text()
        [server] = re.findall(r"^ +server \$\{CABOCHON_UPSTREAM\}.*;\n", text, re.MULTILINE)
        others = [server.replace("${CABOCHON_UPSTREAM}", f"127.0.0.1:{port}") for port in self.more_web_ports]
        text = text.replace(server, server + "".join(others))
        for name, value in values.items():
            text = text.replace(f"${{{name}}}", value)
        assert "${" not in "".join(line for line in text.splitlines() if not line.startswith("#"))
        text = text.replace(":443 ", f":{self.tls_port} ").replace(":80;", f":{self.ports[2]};")
        (self.folder / "cabochon.conf").write_text(text)
        temporary = " ".join(
            f"{each}_temp_path {self.folder / each};" for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (self.folder / "nginx.conf").write_text(
            f"daemon off; pid {self.folder / 'nginx.pid'}; error_log {self.folder / 'nginx.log'};"
            + ("" if os.getuid() else " user root;")
            + f" events {{}} http {{ access_log off; {temporary} proxy_bind 127.0.0.2;"
            f" include {self.folder / 'cabochon.conf'}; }}"
        )
        command = ["nginx", "-c", str(self.folder / "nginx.conf"), "-e", str(self.folder / "nginx.log")]
        self.running["nginx"] = subprocess.Popen(command, start_new_session=True)

    def stop(self) -> None:
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            process.wait(60)

    def browser(self) -> urllib.request.OpenerDirector:
        tls = ssl.create_default_context(cafile=str(self.folder / "fullchain.pem"))
        opener = urllib.request.build_opener(
            urllib.request.HTTPSHandler(context=tls), urllib.request.HTTPCookieProcessor(CookieJar())
        )
        opener.addheaders = [("Accept-Language", "en"), ("X-Forwarded-For", "203.0.113.7")]
        return opener

    def signed_in(self, password: str) -> tuple[urllib.request.OpenerDirector, str]:
        """Sign in at the desk through nginx; return the browser and the page it has then."""
        browser, page = self.browser(), f"{self.url}/admin/login/?next=/admin/audit/finding/"
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', browser.open(page).read().decode())
        assert token
        form = {"csrfmiddlewaretoken": token[1], "username": "dora", "password": password}
        request = urllib.request.Request(page, urllib.parse.urlencode(form).encode(), {"Referer": page})
        return browser, browser.open(request).read().decode()

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        """Ask the web server itself, past nginx."""
        connection = http.client.HTTPConnection("127.0.0.1", self.web_port, timeout=20)
        connection.request("GET", path, headers={"Host": "localhost", **headers})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.database) as connection:
            return connection.execute(statement).fetchall()  # type: ignore[call-overload,no-any-return]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every account may enter: pytest's are their owner's alone."""
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        folder.chmod(0o755)
        yield folder


@pytest.fixture
def deployment(folder: Path, postgres_url: str, rabbitmq_url: str) -> Iterator[Deployment]:
    if not shutil.which("nginx"):
        pytest.skip("there is no nginx")
    suffix = uuid4().hex[:8]
    accounts = {name: f"cabochon_{name}_{suffix}" for name in ROLES}  # of names that no other deployment here has
    deployment = Deployment(folder, postgres_url, rabbitmq_url, accounts)
    deployment.data.mkdir()
    certificate(folder)
    with nothing_left_on(deployment.data):
        try:
            yield deployment
        finally:
            deployment.stop()
            with psycopg.connect(postgres_url, autocommit=True) as server:
                for account in accounts.values():
                    server.execute(f"drop owned by {account}; drop role {account}")  # type: ignore[call-overload]


def install(deployment: Deployment) -> str:
    """Do what the documentation says; return the key of a table system."""
    deployment.manage("superuser", "migrate", "--verbosity", "0")
    with psycopg.connect(deployment.database, autocommit=True) as server:
        for name, account in deployment.accounts.items():
            server.execute(f"create role {account} login password '{account}'")  # type: ignore[call-overload]
            server.execute(f"grant cabochon_{ROLES[name]} to {account}")  # type: ignore[call-overload]
    deployment.manage("root", "logkey", "--make")
    deployment.manage("root", "collectstatic", "--noinput", "--verbosity", "0")
    deployment.give("keys", "web")
    deployment.give("checkpoint-keys", "sequencer")
    deployment.give("checkpoints", "sequencer")
    deployment.manage("operator", "check", "--deploy", "--database", "default")
    for process in PROCESSES:
        deployment.start(process)
    for port in deployment.more_web_ports:
        deployment.start("web", port=port)
    deployment.start_nginx()
    deployment.manage(
        *("operator", "createsuperuser", "--noinput", "--username", "dora", "--email", "dora@desk.example"),
        DJANGO_SUPERUSER_PASSWORD=PASSWORD,
    )
    registered = [word for stream, _ in nights("deauville") for word in ("--register", stream.split(".")[1])]
    key = deployment.manage("operator", "createkey", "--casino", "deauville", "--backfill", *registered).strip()
    is_up = f"{deployment.url}/health/accepts"
    until(lambda: _answers(deployment.browser(), is_up), "the desk through nginx", timeout_s=STARTS_WITHIN_S)
    return key


def _answers(browser: urllib.request.OpenerDirector, url: str) -> bool:
    try:
        return bool(browser.open(url, timeout=10).status == 200)
    except OSError:
        return False


def test_a_deployment_by_the_documentation_shows_a_finding_through_nginx_and_reloads_without_a_pause(
    deployment: Deployment,
) -> None:
    key = install(deployment)
    streams = nights("deauville")

    # Table systems report through nginx, and an officer sees what was irregular.
    _report(deployment, key, streams[0], "https")
    until(lambda: deployment.rows("select 1 from audit_finding limit 1"), "a finding", timeout_s=STARTS_WITHIN_S)
    _, page = deployment.signed_in(PASSWORD)
    assert "<h1>Findings" in page
    assert re.search(r"/admin/audit/finding/\d+/change", page)
    until(lambda: deployment.get("/health/ready")[0] == 200, "every process at work", timeout_s=STARTS_WITHIN_S)

    # What is nobody's business out there is not there; Prometheus finds every metric of the dashboard.
    for path in ("/metrics", "/health/ready"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            deployment.browser().open(deployment.url + path)
    until(lambda: "cabochon_export_age_seconds" in _metrics(deployment), "an exported checkpoint", timeout_s=120)
    with psycopg.connect(deployment.database, autocommit=True) as server:
        server.execute("insert into audit_heartbeat (name, beat_at) values ('backup', clock_timestamp())")
    helped = set(re.findall(r"^# HELP (\w+?)(?:_total)? ", _metrics(deployment), re.MULTILINE))
    assert exported() - helped == set()

    # A client's address is the one that nginx saw, whatever the client says; who is no proxy is believed nothing.
    deployment.signed_in("wrong")
    assert deployment.rows("select ip_address::text from axes_accessattempt") == [("127.0.0.1/32",)]
    deployment.get("/admin/login/", **{"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"})
    _sign_in_past_nginx(deployment)
    seen = {address for (address,) in deployment.rows("select ip_address::text from axes_accessattempt")}
    assert seen == {"127.0.0.1/32"}

    _reload_under_load(deployment, key, streams[1:7])


def _metrics(deployment: Deployment) -> str:
    status, text = deployment.get("/metrics", Authorization="Bearer token")
    assert status == 200
    return text


def _sign_in_past_nginx(deployment: Deployment) -> None:
    """Fail to sign in at the web server itself, with an address that nobody who is believed has reported."""
    forged = {"Host": "localhost", "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"}
    connection = http.client.HTTPConnection("127.0.0.1", deployment.web_port, timeout=20)
    connection.request("GET", "/admin/login/", headers=forged)
    answer = connection.getresponse()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', answer.read().decode())
    cookie = (answer.getheader("Set-Cookie") or "").split(";")[0]
    assert token
    form = urllib.parse.urlencode({"csrfmiddlewaretoken": token[1], "username": "sam", "password": "wrong"})
    headers = {"Cookie": cookie, "Referer": "https://localhost/", "Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/admin/login/", form, {**forged, **headers})
    assert connection.getresponse().status == 200
    assert deployment.rows("select 1 from axes_accessattempt where username = 'sam'"), "it was tried"


class Link:
    """A table system's connection, which is kept open, to nginx or to the web server itself."""

    def __init__(self, deployment: Deployment, key: str, scheme: str) -> None:
        self.deployment, self.scheme = deployment, scheme
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json", "Host": "localhost"}
        self.connection: http.client.HTTPConnection | None = None

    def post(self, stream: str, lines: list[bytes]) -> int:
        """Send events once, on the open connection if there is one; return the status. Raise ``OSError`` if lost."""
        if self.connection is None:
            tls = ssl.create_default_context(cafile=str(self.deployment.folder / "fullchain.pem"))
            self.connection = (
                http.client.HTTPSConnection("localhost", self.deployment.tls_port, timeout=60, context=tls)
                if self.scheme == "https"
                else http.client.HTTPConnection("127.0.0.1", self.deployment.web_port, timeout=60)
            )
        forwarded = {} if self.scheme == "https" else {"X-Forwarded-Proto": "https"}
        path = f"/api/v1/streams/{stream}/events"
        self.connection.request("POST", path, b"[" + b",".join(lines) + b"]", {**self.headers, **forwarded})
        answer = self.connection.getresponse()
        answer.read()
        return answer.status


def _report(deployment: Deployment, key: str, stream: Stream, scheme: str) -> None:
    name, lines = stream
    link = Link(deployment, key, scheme)
    for low in range(0, len(lines), 25):
        assert link.post(name, lines[low : low + 25]) in (200, 201)


MOST_S = 3.0
"""What a request may take while processes load the program on the same cores."""


@dataclass
class Load:
    """What became of the requests of table systems that try nothing twice."""

    took: list[float] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def assert_nobody_noticed(self) -> None:
        assert self.lost == []
        assert len(self.took) > 100
        assert max(self.took) < MOST_S, json.dumps(sorted(self.took)[-10:])


@contextmanager
def under_load(deployment: Deployment, key: str, streams: list[Stream], schemes: Sequence[str]) -> Iterator[Load]:
    """Have a table system send each stream without a second try, each by one of ``schemes`` (http: past nginx)."""
    load, stop = Load(), threading.Event()

    def table(stream: Stream, scheme: str) -> None:
        link, (name, lines) = Link(deployment, key, scheme), stream
        low = 0
        while not stop.is_set():
            began = time.monotonic()
            try:
                status = link.post(name, lines[low : low + 1])  # the last again and again: it is stored once
            except (OSError, http.client.HTTPException) as error:
                load.lost.append(f"{link.scheme}: {error!r}")
                link.connection = None
                continue
            load.took.append(time.monotonic() - began)
            if status not in (200, 201):
                load.lost.append(f"{link.scheme}: {status}")
            low = min(low + 1, len(lines) - 1)
            time.sleep(0.02)

    tables = [threading.Thread(target=table, args=each) for each in zip(streams, cycle(schemes), strict=False)]
    for each in tables:
        each.start()
    try:
        yield load
    finally:
        stop.set()
        for each in tables:
            each.join()


def _reload_under_load(deployment: Deployment, key: str, streams: list[Stream]) -> None:
    """Six table systems send, half of them past nginx, while the web server is told to reload, twice."""
    with under_load(deployment, key, streams, ("http", "https")) as load:
        arbiter = psutil.Process(deployment.running["web"].pid)
        for _ in range(2):
            old = arbiter.children()
            assert len(old) == 2
            arbiter.send_signal(signal.SIGHUP)
            until(lambda old=old: not any(runs(each) for each in old), "new workers only", timeout_s=STARTS_WITHIN_S)  # type: ignore[misc]
            until(lambda: len(arbiter.children()) == 2, "as many as before")
    load.assert_nobody_noticed()
