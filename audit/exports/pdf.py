"""Paper: PDF by typst, the same bytes for the same data.

Fonts are those that typst brings, so every machine prints the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typst


def printed(template: Path, data: Mapping[str, Any]) -> bytes:
    """Return what ``template`` makes of ``data``, which it reads as JSON."""
    made: bytes = typst.compile(
        template.read_bytes(),
        format="pdf",
        sys_inputs={"data": json.dumps(data, ensure_ascii=False)},
        ignore_system_fonts=True,
    )
    return made
