"""The systemd units: valid, hardened, a process and an account each, with the commands of the compose file."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
import yaml

from audit import monitoring
from audit.desk.record import state_page
from casino import metrics, up
from tests.test_docs import documented

ROOT = Path(__file__).parent.parent.parent
UNITS = ROOT / "deploy" / "systemd"
MOST_EXPOSED = 1.1
"""What ``systemd-analyze security`` may say, from 0 to 10: 1.1 is what a process with a network has left."""


def section(process: str, name: str = "Service") -> configparser.SectionProxy:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(UNITS / f"cabochon-{process}.service")
    return parser[name]


WANTED = re.findall(r"^Wants=cabochon-(\w+)\.service$", (UNITS / "cabochon.target").read_text(), re.M)
"""The processes of a deployment, by the one list of them."""

PROCESSES = {name: section(name)["User"].removeprefix("cabochon-") for name in WANTED}
"""Each process, and whose account and environment it has."""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A root folder with the units and the programs that they start."""
    units = tmp_path / "etc" / "systemd" / "system"
    units.mkdir(parents=True)
    for path in [*UNITS.glob("*.service"), *UNITS.glob("*.target")]:
        shutil.copy(path, units)
    shutil.copytree(UNITS / "cabochon-.service.d", units / "cabochon-.service.d")
    of_the_machine = Path("/usr/lib/systemd/system")
    if not shutil.which("systemd-analyze") or not of_the_machine.exists():
        pytest.skip("there is no systemd-analyze")
    shutil.copytree(of_the_machine, tmp_path / "usr/lib/systemd/system", symlinks=True)
    for program in (
        "opt/cabochon/.venv/bin/celery",
        "opt/cabochon/.venv/bin/python",
    ):
        path = tmp_path / program
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "kill").touch(mode=0o755)
    return tmp_path


@pytest.mark.parametrize("unit", [*(f"cabochon-{name}.service" for name in PROCESSES), "cabochon.target"])
def test_systemd_has_nothing_to_say_about_a_unit(installed: Path, unit: str) -> None:
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", f"--root={installed}", str(installed / "etc/systemd/system" / unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert [line for line in checked.stderr.splitlines() if "cabochon" in line] == []
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("process", PROCESSES)
def test_a_process_is_exposed_no_more_than_the_documentation_states(installed: Path, process: str) -> None:
    printed = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", f"--root={installed}", f"cabochon-{process}.service"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    match = re.search(r"Overall exposure level for .*: ([\d.]+)", printed)
    assert match, printed
    assert float(match[1]) <= MOST_EXPOSED
    assert f"{MOST_EXPOSED} of 10" in (ROOT / "docs" / "deployment.md").read_text()


@pytest.mark.parametrize(("process", "account"), PROCESSES.items())
def test_each_process_has_its_own_account_and_its_own_environment(process: str, account: str) -> None:
    service = section(process)
    assert service["User"] == f"cabochon-{account}"
    assert service["EnvironmentFile"] == f"/etc/cabochon/{account}.env"
    example = (UNITS / f"{account}.env.example").read_text()
    assert f"DATABASE_URL=postgres://cabochon_{account}_login:" in example
    assert f"u cabochon-{account} " in (UNITS / "cabochon.sysusers.conf").read_text()


def test_every_list_of_processes_is_that_of_the_target() -> None:
    """A process that one list lacks is not started by it, or goes on with the program of before an upgrade."""
    processes = set(WANTED)
    assert len(processes) == len(WANTED)
    assert {path.stem.removeprefix("cabochon-") for path in UNITS.glob("*.service")} == processes
    assert "PartOf=cabochon.target" in (UNITS / "cabochon-.service.d" / "shared.conf").read_text()

    compose = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())["services"]
    assert {
        name
        for name, service in compose.items()
        if service.get("image") == "cabochon" and service["restart"] != "no" and name != "ready"
    } == processes
    with socket.socket() as listener:
        assert {child.name for child in up.children(listener)} - {"welcome"} == processes
    assert {*monitoring.PROCESSES, "web"} == {*state_page.PROCESS_NAMES, "web"} == processes
    of_queues = {name for name in processes if f" -Q {name} " in section(name)["ExecStart"]}
    assert set(metrics.QUEUES) == of_queues

    [number] = re.findall(r"^There are (\w+) kinds of process:", (ROOT / "docs" / "deployment.md").read_text(), re.M)
    assert number == ["five", "six", "seven", "eight"][len(processes) - 5]
    for page in ("deployment.md", "upgrade.md"):
        named = set(re.findall(r"systemctl [^\n`]*?(cabochon[-.]\w+)", (ROOT / "docs" / page).read_text()))
        assert named <= {"cabochon.target", "cabochon-web"}, f"{page} has a list of its own"


@pytest.mark.parametrize("process", PROCESSES)
def test_a_process_is_started_as_compose_starts_it(process: str) -> None:
    command = shlex.split(section(process)["ExecStart"].replace("%%", "%"))
    of_compose = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())["services"][process]["command"]
    assert Path(command[0]).name == of_compose[0]
    ours = [word for word in command[1:] if "CONCURRENCY" not in word and word != "--pidfile="]
    theirs = [word for word in of_compose[1:] if not word.isdecimal() and word not in ("--pidfile", "")]
    assert ours == theirs


def test_nobody_but_the_sequencer_sees_the_keys_of_checkpoints_and_nobody_but_web_servers_those_of_receipts() -> None:
    for process in PROCESSES:
        hidden = section(process).get("InaccessiblePaths", "")
        if process == "web":  # another account owns the sequencer's folder
            assert "d /var/lib/cabochon/checkpoint-keys 0700 cabochon-sequencer" in tmpfiles()
            continue
        assert "-/var/lib/cabochon/keys" in hidden
        assert ("-/var/lib/cabochon/checkpoint-keys" in hidden) == (process != "sequencer")


def tmpfiles() -> str:
    return (UNITS / "cabochon.tmpfiles.conf").read_text()


def test_only_the_web_servers_have_the_secret_of_sessions() -> None:
    for process in PROCESSES:
        fixed = "CABOCHON_SECRET_KEY=" in (UNITS / f"cabochon-{process}.service").read_text()
        assert fixed == (process != "web")
    holders = [path.name for path in UNITS.glob("*.env.example") if "CABOCHON_SECRET_KEY" in path.read_text()]
    assert holders == ["web.env.example"]


def test_every_variable_of_an_example_is_documented() -> None:
    known = documented()
    for path in UNITS.glob("*.env.example"):
        names = re.findall(r"^([A-Z_]+)=", path.read_text(), re.M)
        assert names
        assert [name for name in names if name not in known] == []


def test_accounts_and_folders_are_what_systemd_takes(installed: Path) -> None:
    for folder, name in (("sysusers.d", "sysusers"), ("tmpfiles.d", "tmpfiles")):
        (installed / "usr/lib" / folder).mkdir(parents=True)
        shutil.copy(UNITS / f"cabochon.{name}.conf", installed / "usr/lib" / folder / "cabochon.conf")
    if not shutil.which("systemd-sysusers"):
        pytest.skip("there is no systemd-sysusers")
    printed = subprocess.run(
        ["systemd-sysusers", f"--root={installed}", "cabochon.conf"], capture_output=True, text=True, check=False
    )
    assert printed.returncode == 0, printed.stderr
    passwd = (installed / "etc" / "passwd").read_text()
    assert {f"cabochon-{name}" for name in PROCESSES.values()} == {
        line.split(":")[0] for line in passwd.splitlines() if line.startswith("cabochon")
    }
    printed = subprocess.run(
        ["systemd-tmpfiles", "--create", f"--root={installed}", "cabochon.conf"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert printed.returncode == 0, printed.stderr
    assert oct((installed / "var/lib/cabochon/checkpoint-keys").stat().st_mode)[-3:] == "700"
