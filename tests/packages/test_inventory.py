"""The SBOM and the licences that the wheel and the image carry: they are those of the lock."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from packaging.markers import Marker
from packaging.utils import canonicalize_name

from tests.packages.distributions import ROOT

SBOM = json.loads((ROOT / "sbom.cdx.json").read_text())
LICENCES = (ROOT / "THIRD_PARTY_LICENSES.txt").read_text()
LINUX = {"sys_platform": "linux", "implementation_name": "cpython", "platform_python_implementation": "CPython"}


def installed_by(lock: Path) -> dict[str, str]:
    """Return what a lock installs on Linux, of CPython 3.13: versions by name."""
    lines = re.findall(r"^([a-z][^ =\[]*)(?:\[.*\])?==([^ ;]+)(?: ; ([^\\]+))?", lock.read_text(), re.M)
    of_image = {**LINUX, "python_version": "3.13", "python_full_version": "3.13.0"}
    return {name: version for name, version, marker in lines if not marker or Marker(marker).evaluate(of_image)}


def test_the_sbom_has_every_package_of_the_lock_and_the_project_s_version() -> None:
    locked = installed_by(ROOT / "requirements-runtime.lock")
    assert len(locked) > 60
    assert {canonicalize_name(each["name"]): each["version"] for each in SBOM["components"]} == locked
    root = SBOM["metadata"]["component"]
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert (root["name"], root["version"]) == ("cabochon", version), "make inventory"
    assert SBOM["specVersion"] == "1.6"


def test_the_licences_are_those_of_the_lock_each_with_its_text() -> None:
    table = re.findall(r"^(\w\S*) (\d\S*): (.+)$", LICENCES.split("=" * 120)[0], re.M)
    assert {canonicalize_name(name): version for name, version, _ in table} == installed_by(
        ROOT / "requirements-runtime.lock"
    )
    assert "not stated" not in {licence for *_, licence in table}
    titles = re.findall(rf"^{'=' * 120}\n(.+)\n{'=' * 120}\n\n\S", LICENCES, re.M)
    with_text = {name for title in titles for name in title.split(", ")}
    assert with_text == {name for name, _, licence in table if "(no text)" not in licence}
