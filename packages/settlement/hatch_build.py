"""Takes the package from the top of the checkout; the source distribution has it beside this file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TakeSettlement(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the files of ``settlement`` into the distribution (a hook of hatchling)."""
        beside = Path(self.root) / "settlement"
        source = beside if beside.is_dir() else Path(self.root).parent.parent / "settlement"
        for file in sorted(source.rglob("*")):
            if file.is_file() and file.suffix != ".pyc":
                build_data["force_include"][str(file)] = f"settlement/{file.relative_to(source).as_posix()}"
