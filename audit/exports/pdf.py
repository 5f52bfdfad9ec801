"""PDF by typst: the same bytes for the same data.

Only the fonts that typst ships are used, so every machine prints the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typst

PDF = "application/pdf"


def render_pdf(template: Path, data: Mapping[str, Any]) -> bytes:
    """Render a typst template, which reads ``data`` as JSON from ``sys.inputs.data``."""
    rendered: bytes = typst.compile(
        template.read_bytes(),
        format="pdf",
        sys_inputs={"data": json.dumps(data, ensure_ascii=False)},
        ignore_system_fonts=True,
    )
    return rendered
