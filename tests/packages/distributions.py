"""The four distributions, built as for publication, and environments that have nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = {
    "cabochon": ROOT,
    "cabochon-settlement": ROOT / "packages" / "settlement",
    "cabochon-client": ROOT / "client",
    "cabochon-witness": ROOT / "packages" / "witness",
}
"""The distributions, and the folder of each one's ``pyproject.toml``."""

NO_REGISTRY = ("Failed to fetch", "error sending request", "dns error")
"""What uv writes where the package registry cannot be reached."""


def build(name: str, folder: Path) -> Path:
    """Build the source distribution of ``name``, and from that the wheel, which is returned."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(SOURCES[name])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob(f"{name.replace('-', '_')}-[0-9]*.whl")
    return wheel


class Environment:
    """A virtual environment of its own, and a folder beside it in which its programs run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.elsewhere = folder / "elsewhere"
        self._uv("venv", "--python", sys.executable, str(folder / "venv"))
        self.elsewhere.mkdir()

    def program(self, name: str) -> str:
        return str(self.folder / "venv" / "bin" / name)

    def install(self, *requirements: str) -> None:
        """Install from wheels and the registry, in the versions of the lock. Skip where there is no registry."""
        done = self._uv(
            *("pip", "install", "--python", self.program("python"), "--constraint", str(ROOT / "requirements.lock")),
            *requirements,
        )
        if done.returncode and any(text in done.stderr for text in NO_REGISTRY):
            assert os.environ.get("CABOCHON_REQUIRE_SERVICES") != "1", done.stderr
            pytest.skip("the package registry does not answer")
        assert done.returncode == 0, done.stderr

    def run(self, name: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run an installed program to its end, far from the checkout."""
        return subprocess.run(
            [self.program(name), *arguments],
            cwd=self.elsewhere,
            env={"PATH": os.environ["PATH"], "HOME": str(self.elsewhere), **variables},
            capture_output=True,
            text=True,
            check=False,
        )

    @staticmethod
    def _uv(*words: str) -> subprocess.CompletedProcess[str]:
        uv = Path(sys.executable).with_name("uv")
        return subprocess.run([str(uv), *words], capture_output=True, text=True, check=False)
