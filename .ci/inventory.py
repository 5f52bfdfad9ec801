"""What a deployment installs beside Cabochon: ``make inventory`` writes two files after each change of the lock.

    requirements-runtime.lock ─► an environment that has nothing else ─► sbom.cdx.json             CycloneDX 1.6
                                                                      └► THIRD_PARTY_LICENSES.txt  every licence's text

Both are carried by the wheel (``sboms/`` and ``licenses/`` of its dist-info) and by the image. ``tests/packages`` holds
them against the lock and the version of the project. The same lock gives the same bytes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements-runtime.lock"
SBOM = ROOT / "sbom.cdx.json"
LICENCES = ROOT / "THIRD_PARTY_LICENSES.txt"

LICENCE_FILE = re.compile(r"(licen[cs]e|copying|notice|authors)", re.IGNORECASE)
"""The beginning of the name of a file that a package's ``dist-info`` has for its licence."""

RULE = "=" * 120


def main() -> int:
    tools = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as folder:
        environment = Path(folder) / "environment"
        run(tools / "uv", "venv", "--quiet", "--python", sys.executable, environment)
        python = environment / "bin" / "python"
        run(tools / "uv", "pip", "sync", "--quiet", "--python", python, "--require-hashes", LOCK)
        command = [tools / "cyclonedx-py", "environment", "--output-reproducible", "--spec-version", "1.6"]
        written = run(*command, "--pyproject", ROOT / "pyproject.toml", "--output-file", "-", python)
        SBOM.write_text(json.dumps(without_addresses(json.loads(written)), indent=1, sort_keys=True) + "\n")
        installed = distributions(path=[str(next(environment.glob("lib/python*/site-packages")))])
        LICENCES.write_text(licences_of(sorted(installed, key=name_of)))
    return 0


def run(*command: str | Path) -> str:
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout


def without_addresses(node: Any) -> Any:
    """Return a part of an SBOM without its external references: a purl names each package."""
    if isinstance(node, dict):
        return {key: without_addresses(value) for key, value in node.items() if key != "externalReferences"}
    return [without_addresses(value) for value in node] if isinstance(node, list) else node


def name_of(package: Distribution) -> str:
    return str(package.metadata["Name"]).lower()


def licences_of(packages: list[Distribution]) -> str:
    """Return the table of the packages and, once each, the texts of their licences with the packages that have them."""
    owners: dict[str, list[str]] = defaultdict(list)
    table = []
    for package in packages:
        texts = texts_of(package)
        table.append(f"{name_of(package)} {package.version}: {licence_of(package)}{'' if texts else ' (no text)'}")
        for text in texts:
            owners[text].append(name_of(package))
    blocks = [f"{RULE}\n{', '.join(dict.fromkeys(names))}\n{RULE}\n\n{text}" for text, names in owners.items()]
    head = (
        f"The {len(table)} packages that Cabochon runs with (requirements-runtime.lock), and the licences that their "
        'wheels carry.\n"No text": the wheel names its licence and carries no text of it.\n'
    )
    return "\n\n".join([head + "\n" + "\n".join(table), *blocks]) + "\n"


def licence_of(package: Distribution) -> str:
    """Return the name of a package's licence, as its metadata say it."""
    named = package.metadata.get("License-Expression")
    classified = [
        each.rpartition(" :: ")[2]
        for each in package.metadata.get_all("Classifier") or []
        if each.startswith("License :: ")
    ]
    written = (package.metadata.get("License") or "").strip().splitlines()
    return named or ", ".join(classified) or (written[0] if written else "not stated")


def texts_of(package: Distribution) -> list[str]:
    """Return the texts of the licence files of a package's ``dist-info``, without spaces at the ends of lines."""
    files = [
        file
        for file in package.files or []
        if ".dist-info/" in str(file) and ("/licenses/" in str(file) or LICENCE_FILE.match(file.name))
    ]
    texts = [Path(str(file.locate())).read_text(errors="replace") for file in sorted(files, key=str)]
    return ["\n".join(line.rstrip() for line in text.strip().splitlines()) for text in texts]


if __name__ == "__main__":
    sys.exit(main())
