"""What MkDocs needs beyond the files of ``docs/``: pages made by the build, and links that leave the folder."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection
from pathlib import Path

import django
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / ".ci")]
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
django.setup()  # the desk's catalogue and felt are Django's; no database is read

import rule_pages  # noqa: E402  (it needs Django)

OF_THE_CHECKOUT = {
    "README.md": "project.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "client/README.md": "client.md",
    "tests/audit/access/matrix.md": "access-matrix.md",
    "tests/mutants.md": "mutants.md",
    "benchmarks/results/2026-11-29.md": "measurements.md",
    "benchmarks/results/ledger.md": "ledger-measurements.md",
}
"""Pages from elsewhere in the checkout, and where they are in the site."""

STYLES = ("felt.css",)
FONTS = ("inter-latin-wght-normal.woff2", "jetbrains-mono-latin-wght-normal.woff2")
STATIC = ROOT / "audit" / "static" / "audit"

DESK_PICTURES = "images/desk/"

_PICTURE = re.compile(re.escape(DESK_PICTURES) + r"(?!fr-)([\w-]+\.png)")
_LINK = re.compile(r"(!?\[[^\]]*\])\(([^)#\s]+)(#[^)\s]*)?\)")
_STATES = re.compile(r"```mermaid\nstateDiagram-v2\n(.*?)```", re.S)
_TRANSITION = re.compile(r"\s*(\S+) --> (\S+): (.*)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is not in ``docs/``: the catalogue, pages of the checkout, styles and fonts (a hook of MkDocs)."""
    for path, content in rule_pages.pages().items():
        files.append(File.generated(config, path, content=content))
    for source, path in OF_THE_CHECKOUT.items():
        files.append(File.generated(config, path, content=(ROOT / source).read_text(encoding="utf-8")))
    for name in STYLES:
        files.append(File.generated(config, f"assets/{name}", content=(STATIC / name).read_text(encoding="utf-8")))
    for name in FONTS:
        files.append(File.generated(config, f"assets/{name}", content=(STATIC / "font" / name).read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to pages of the site, name files of the checkout, draw states as a table (a hook of MkDocs)."""
    sources = {path: source for source, path in OF_THE_CHECKOUT.items()}
    folder = Path(sources[page.file.src_uri]).parent if page.file.src_uri in sources else Path("docs")
    if page.file.src_uri.startswith("rules/"):
        return markdown
    if ".fr." in page.file.src_uri:
        markdown = in_french(markdown, {file.src_uri for file in files})
    return _LINK.sub(lambda link: _led(link, folder), _STATES.sub(_as_table, markdown))


def in_french(markdown: str, files: Collection[str]) -> str:
    """Show the French picture of a page of the desk where there is one: ``fr-queue.png`` for ``queue.png``."""

    def picture(link: re.Match[str]) -> str:
        french = f"{DESK_PICTURES}fr-{link[1]}"
        return french if french in files else link[0]

    return _PICTURE.sub(picture, markdown)


def _led(link: re.Match[str], folder: Path) -> str:
    text, target, anchor = link[1], link[2], link[3] or ""
    if ":" in target:
        return link[0]
    path = Path(os.path.normpath(folder / target)).as_posix()
    if path in OF_THE_CHECKOUT:
        return f"{text}({OF_THE_CHECKOUT[path]}{anchor})"
    if path.startswith("docs/"):
        return f"{text}({path.removeprefix('docs/')}{anchor})"
    words = text.strip("![]")
    return words if "`" in words else f"{words} (`{path}`)"


def _as_table(diagram: re.Match[str]) -> str:
    # Mermaid is drawn by a script from another host; a table is read by everybody.
    found = [_TRANSITION.fullmatch(line) for line in diagram[1].rstrip().splitlines()]
    rows = [f"| {_state(each[1])} | {_state(each[2])} | {each[3]} |" for each in found if each]
    assert len(rows) == len(found), f"not a transition: {diagram[1]}"
    return "\n".join(["| from | to | by |", "|---|---|---|", *rows])


def _state(name: str) -> str:
    return "–" if name == "[*]" else f"*{name}*"


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Say the language of a French page (a hook of MkDocs)."""
    return output.replace('<html lang="en"', '<html lang="fr"', 1) if ".fr." in page.file.src_uri else output
