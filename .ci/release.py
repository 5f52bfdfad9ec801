"""What a release publishes: ``make release`` builds the four packages twice, compares, and writes ``dist/SHA256SUMS``.

    the commit ─┬─► a folder ─► source distributions, wheels ─┐
                └─► another, of another owner's habits ───────┴─► the same bytes? ─► dist/

Only what is committed is built. The date of the commit is the date of every file. The second build has another folder,
another umask, another time zone, another locale and another seed of hashes, so that none of these can be in a package.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"

PACKAGES = {
    "cabochon": ".",
    "cabochon-settlement": "packages/settlement",
    "cabochon-client": "client",
    "cabochon-witness": "packages/witness",
}
"""The packages, and the folder of each one's ``pyproject.toml``."""

HABITS = (
    ("022", {"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1"}),
    ("077", {"TZ": "Pacific/Auckland", "LC_ALL": "C", "PYTHONHASHSEED": "2"}),
)
"""The umask and the variables of each build."""


def main() -> int:
    if git("status", "--porcelain"):
        print("Something is not committed, and is not in what is built.", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        builds = [build(Path(folder) / f"build-{number}", *habits) for number, habits in enumerate(HABITS)]
        first, second = map(hashes_of, builds)
        if first != second:
            for name in sorted({*first, *second}):
                if first.get(name) != second.get(name):
                    print(f"{name}: {first.get(name)} and {second.get(name)}", file=sys.stderr)
            return 1
        shutil.rmtree(DIST, ignore_errors=True)
        DIST.mkdir()
        for file in builds[0].iterdir():
            shutil.copyfile(file, DIST / file.name)
        shutil.copyfile(builds[0].parent / "source" / "sbom.cdx.json", DIST / "sbom.cdx.json")
    sums = "".join(f"{digest}  {name}\n" for name, digest in hashes_of(DIST).items())
    (DIST / "SHA256SUMS").write_text(sums)
    print(f"{sums}{len(first)} files of {len(PACKAGES)} packages, built twice: the same bytes.")
    return 0


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def build(folder: Path, umask: str, variables: dict[str, str]) -> Path:
    """Build every package from the commit in ``folder``; return the folder of what was built."""
    source, built = folder / "source", folder / "built"
    source.mkdir(parents=True)
    environment = {**os.environ, **variables, "SOURCE_DATE_EPOCH": git("log", "-1", "--format=%ct")}

    def run(*command: str) -> None:
        within = ["sh", "-c", f'umask {umask} && exec "$@"', "sh", *command]
        subprocess.run(within, cwd=source, env=environment, check=True, stdout=subprocess.DEVNULL)

    run("git", "-C", str(ROOT), "archive", "--output", f"{folder}/source.tar", "HEAD")
    run("tar", "-x", "-f", f"{folder}/source.tar")
    for path in PACKAGES.values():
        run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(built), path)
    return built


def hashes_of(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a folder, in hexadecimal, by name."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


if __name__ == "__main__":
    sys.exit(main())
