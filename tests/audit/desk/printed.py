"""What somebody reads on paper: the words of a PDF."""

from __future__ import annotations

import shutil
import subprocess

import pytest


def words_of(pdf: bytes) -> str:
    """Return the words of a PDF, in their order on the page, apart by single spaces. Without poppler, skip the test."""
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext, of poppler, is not installed: papers are not read")
    command = ["pdftotext", "-layout", "-", "-"]
    text = subprocess.run(command, input=pdf, check=True, capture_output=True).stdout.decode()
    return " ".join(text.split())
