"""The word list of ``tests/words.md`` and where the old words stand: one ``Hit`` for each place.

The table "Words we do not use" says what is looked for, and where:

    names         a part of an identifier: of Python, a template, a URL's name, CSS or JavaScript
    variables     a variable or parameter that is this word and no more; a function may bear it, as a verb
    text          docs, docstrings, comments, sentences in code, strings on screen; names of tests, which are sentences
    files         a module or a package

The table "Where an old word stays" lists the exceptions, each with its reason.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import NamedTuple

import polib

from tests.trees import nodes_of, statements_of

ROOT = Path(__file__).parent.parent
GLOSSARY = ROOT / "docs" / "glossary.md"
LIST = ROOT / "tests" / "words.md"
NOT_CHECKED = {ROOT / "tests" / "test_words.py"}
CODE = ("audit", "casino", "settlement", "cabochon_witness", "client", "benchmarks", "tests")
CATALOGUE = "locale/fr/LC_MESSAGES/django.po"
PLACES = {"names", "variables", "text", "files"}

_BACKQUOTED = re.compile(r"`([^`]+)`")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_COMMENT = re.compile(r"(?:^|\s)#\s(.*)$")
_TAG = re.compile(r"\{\{(.*?)\}\}|\{%(.*?)%\}", re.DOTALL)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ATTRIBUTE = re.compile(r"\b(?:class|id)=\"([^\"]*)\"|\s(data-[\w-]+)")
_URL_FUNCTIONS = {"path", "re_path"}


@dataclass(frozen=True)
class OldWord:
    """A row of the list: what is not written, what is written instead, and where that is checked."""

    words: tuple[str, ...]
    use: str
    places: frozenset[str]


class Hit(NamedTuple):
    """An old word where it stands. ``seen`` is the identifier, or the words as they are written."""

    file: str
    line: int
    word: str
    seen: str
    use: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.seen} → {self.use}"


class Allowance(NamedTuple):
    """A row of the exceptions: files, by a pattern, and the old words, or whole identifiers, that stay there."""

    files: str
    words: tuple[str, ...]
    reason: str


def rows(heading: str, markdown: str) -> list[list[str]]:
    """Return the cells of the table under ``heading``, without its head. Raise ``LookupError`` if there is none."""
    _before, found, after = markdown.partition(f"\n## {heading}\n")
    if not found:
        raise LookupError(heading)
    lines = [line for line in after.split("\n## ")[0].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@cache
def old_words() -> tuple[OldWord, ...]:
    return tuple(
        OldWord(tuple(_BACKQUOTED.findall(words)), use.replace("`", ""), frozenset(places.split(", ")))
        for words, use, places in rows("Words we do not use", LIST.read_text())
    )


@cache
def exceptions() -> tuple[Allowance, ...]:
    return tuple(
        Allowance(files.strip("`"), tuple(_BACKQUOTED.findall(words)), reason)
        for files, words, reason in rows("Where an old word stays", LIST.read_text())
    )


@cache
def _name_rules() -> tuple[tuple[tuple[str, ...], str, str], ...]:
    return tuple(
        (tuple(word.split("_")), word, old.use) for old in old_words() if "names" in old.places for word in old.words
    )


@cache
def _variables() -> dict[str, str]:
    return {word: old.use for old in old_words() if "variables" in old.places for word in old.words}


@cache
def _text_rules() -> tuple[tuple[re.Pattern[str], str, str], ...]:
    return tuple(
        (re.compile(r"(?<![\w`./-])" + re.escape(word).replace(r"\ ", r"\s+") + r"(?![\w`/-])", re.I), word, old.use)
        for old in old_words()
        if "text" in old.places
        for word in old.words
    )


@cache
def in_name(name: str, *, is_variable: bool = True) -> tuple[tuple[str, str], ...]:
    """Return each old word in an identifier, and what is written instead."""
    found = [(name, _variables()[name])] if is_variable and name in _variables() else []
    parts = tuple(part.lower() for part in _PARTS.findall(name))
    for words, word, use in _name_rules():
        if any(parts[start : start + len(words)] == words for start in range(len(parts))):
            found.append((word, use))
    return tuple(found)


@cache
def _any_text_rule() -> re.Pattern[str]:
    """A pattern that every text with an old word has. Most texts have none, and need no search for each."""
    words = [
        re.escape(word).replace(r"\ ", r"\s+") for old in old_words() if "text" in old.places for word in old.words
    ]
    return re.compile(rf"(?<![\w`./-])(?:{'|'.join(words)})(?![\w`/-])", re.I)


def in_text(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Yield, for each old word in ``text``: lines before it, the word, how it is written there, what to write."""
    for pattern, word, use in _text_rules() if _any_text_rule().search(text) else ():
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start()), word, " ".join(match[0].split()), use


def _names_of(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield each identifier of a node, and whether it is a variable or parameter."""
    match node:
        case ast.Name(id=name) | ast.arg(arg=name):
            yield name, True
        case ast.Attribute(attr=name) | ast.alias(asname=str(name)):
            yield name, False
        case ast.keyword(arg=str(name)) | ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name, True
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name, False
        case ast.Call(func=ast.Name(id=function), keywords=keywords) if function in _URL_FUNCTIONS:
            for word in keywords:
                if word.arg == "name" and isinstance(word.value, ast.Constant) and isinstance(word.value.value, str):
                    yield word.value.value, False


def _in_python(file: str, source: str, tree: ast.Module) -> Iterator[Hit]:
    nodes = nodes_of(tree)
    functions = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    for node in nodes:
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and re.search(r"\s", node.value):
                found = in_text(node.value)
                yield from (Hit(file, node.lineno + down, word, seen, use) for down, word, seen, use in found)
            continue
        for name, is_variable in _names_of(node):
            if name.startswith("test_"):
                sentence = name.replace("_", " ")
                yield from (Hit(file, node.lineno, word, seen, use) for _, word, seen, use in in_text(sentence))
                continue
            words = in_name(name, is_variable=is_variable and name not in functions)
            yield from (Hit(file, node.lineno, word, name, use) for word, use in words)
    for number, line in enumerate(source.splitlines(), 1):
        if comment := _COMMENT.search(line):
            yield from (Hit(file, number, word, seen, use) for _, word, seen, use in in_text(comment[1]))


@cache
def _module(root: Path, file: str) -> tuple[frozenset[Hit], tuple[tuple[int, str], ...]]:
    """Return the old words of a module, and its docstrings: to parse it takes longer than to look for both."""
    source = (root / file).read_text()
    tree = ast.parse(source)
    return frozenset(_in_python(file, source, tree)), tuple(_docstrings(tree))


@cache
def catalogue(root: Path, file: str = CATALOGUE) -> polib.POFile:
    return polib.pofile(str(root / file))


def _in_template(file: str, source: str) -> Iterator[Hit]:
    names = []
    for tag in _TAG.finditer(source):
        content = tag[1] or tag[2] or ""
        quoted = _QUOTED.findall(content) if content.split()[:1] == ["url"] else []
        names += [(tag.start(), name) for name in _IDENTIFIER.findall(_QUOTED.sub(" ", content) + " ".join(quoted))]
    for attribute in _ATTRIBUTE.finditer(_TAG.sub(" ", source)):
        names += [(0, name) for name in re.findall(r"[\w-]+", attribute[1] or attribute[2])]
    for start, name in names:
        line = source.count("\n", 0, start) + 1
        yield from (Hit(file, line, word, name, use) for word, use in in_name(name.replace("-", "_")))


def _in_lines(file: str, source: str) -> Iterator[Hit]:
    """Yield what stands in CSS or JavaScript: every word is a name, or of a comment."""
    for number, line in enumerate(source.splitlines(), 1):
        for name in re.findall(r"[A-Za-z_][\w-]*", line):
            yield from (Hit(file, number, word, name, use) for word, use in in_name(name.replace("-", "_")))


def _in_prose(file: str, source: str) -> Iterator[Hit]:
    yield from (Hit(file, down + 1, word, seen, use) for down, word, seen, use in in_text(source))


def _in_path(file: str) -> Iterator[Hit]:
    path = file.removesuffix(".py")
    for old in old_words():
        for word in old.words if "files" in old.places else ():
            if f"/{path}/".find(f"/{word}/") >= 0:
                yield Hit(file, 1, word, file, old.use)


def hits_in(file: str) -> list[Hit]:
    """Return the old words of a file, exceptions left out, in the order of their lines."""
    return sorted(hit for hit in all_hits_in(file) if not any(_is_excepted(hit, each) for each in exceptions()))


@cache
def all_hits_in(file: str) -> frozenset[Hit]:
    """Return the old words of a file, exceptions included."""
    hits: set[Hit] = set()
    if file.startswith(CODE):
        hits |= set(_in_path(file))
    match Path(file).suffix:
        case ".py":
            hits |= _module(ROOT, file)[0]
        case ".html":
            hits |= set(_in_template(file, (ROOT / file).read_text()))
        case ".css" | ".js":
            hits |= set(_in_lines(file, (ROOT / file).read_text()))
        case ".po":
            for entry in catalogue(ROOT, file):
                hits |= {Hit(file, entry.linenum, *rest) for _, *rest in in_text(entry.msgid)}
        case _:
            hits |= set(_in_prose(file, (ROOT / file).read_text()))
    return frozenset(hits)


def _is_excepted(hit: Hit, exception: Allowance) -> bool:
    return bool({hit.word, hit.seen} & set(exception.words)) and fnmatch(hit.file, exception.files)


@cache
def files() -> tuple[str, ...]:
    """Return every file that is checked: all but this check's own examples, and landed migrations."""
    found: list[Path] = [
        ROOT / name for name in ("README.md", "CHANGELOG.md", "Makefile", "client/README.md", CATALOGUE)
    ]
    found += [*(ROOT / "docs").glob("*.md"), *(ROOT / "docker").iterdir(), *(ROOT / "templates").rglob("*.html")]
    for folder in CODE:
        found += _sources(ROOT / folder)
    return tuple(sorted(str(path.relative_to(ROOT)) for path in found if path not in NOT_CHECKED))


def _sources(folder: Path) -> Iterable[Path]:
    return (
        path
        for path in folder.rglob("*")
        if path.suffix in {".py", ".css", ".js", ".html", ".typ"} and "migrations" not in path.parts
    )


# Wordings of the model that officers do not read: in messages of the desk, and in texts of rules and readings.


@cache
def unread_wordings() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return each pattern of the table, and what is written instead."""
    listed = rows("Wordings that officers do not read", LIST.read_text().replace(r"\|", "\0"))
    return tuple(
        (re.compile(pattern.replace("\0", "|"), re.I), use)
        for cell, use in listed
        for pattern in _BACKQUOTED.findall(cell)
    )


def texts_for_officers() -> Iterator[tuple[str, int, str]]:
    """Yield file, line and text: each message of the catalogue in both languages, each string of the rules' texts."""
    for entry in catalogue(ROOT):
        for text in (entry.msgid, entry.msgid_plural, entry.msgstr, *entry.msgstr_plural.values()):
            yield CATALOGUE, entry.linenum, text
    for path in [*(ROOT / "settlement" / "catalogue").glob("*.py"), ROOT / "settlement" / "readings.py"]:
        tree = ast.parse(path.read_text())
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                yield str(path.relative_to(ROOT)), node.lineno, node.value


def unread_wordings_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield what of a text officers do not read, as it is written there, and what is written instead."""
    for pattern, use in unread_wordings():
        if found := pattern.search(text):
            yield found[0], use


# Stoppers: constructions at which a reader stops, because the subject is a pronoun or the verb is none.

STOPPERS = (
    (
        "a sentence that begins with Who or What",
        r"{start}(?:Who|Whom|Whoever|Whomever|What(?!-if)|Whatever|That which)\b[^.!?|]*(?=\.)",
    ),
    ("is told, is said", r"\b(?:is|are|was|were|be|been|being)\s+(?:told|said)\b"),
    ("has it that", r"\bha(?:s|ve)\s+it\s+that\b"),
    ("that which", r"\b(?:that|those)\s+which\b"),
    ("is of", r"\b(?:is|are|was|were)\s+of\b(?!\s+course)"),
    ("of before", r"\bof\s+before\b"),
)
"""What stops a reader, and its pattern; ``{start}`` is where a sentence begins."""

_START = r"(?:\A\s*|\n\s*\n\s*|[.!?][\"”»)*]*\s+|(?:\A|\n)\s*(?:\*|\d+\.)\s+(?:\*\*)?|\|\s*)"
_STOPPER_RULES = tuple((name, re.compile(pattern.replace("{start}", _START))) for name, pattern in STOPPERS)
_NO_PROSE = re.compile(r"```.*?```|<!--.*?-->|^#.*?$|^ {4}[^\n]*$|``[^`]*``|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_PRODUCT = ("audit", "casino", "settlement", "cabochon_witness", "client", "benchmarks")


def stoppers_in(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield, for each stopper in a text: lines before it, its name, how it is written there."""
    for name, pattern in _STOPPER_RULES:
        for match in pattern.finditer(text):
            seen = match[0].lstrip(' \n.!?"”»)*|0123456789')
            yield text.count("\n", 0, match.end() - len(seen)), name, " ".join(seen.split())[:60]


def _prose_of(markdown: str) -> str:
    """Return a page without code, headings and comments, with its line breaks."""
    return _NO_PROSE.sub(lambda code: "X" + "\n" * code[0].count("\n"), markdown)


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring, without its first sentence: that is a heading."""
    for node in statements_of(tree):
        match node:
            case ast.Module(body=[first, *_]) | ast.ClassDef(body=[first, *_]) | ast.FunctionDef(body=[first, *_]):
                match first:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        heading = re.match(r".*?\.(?=\s|$)", text, re.DOTALL)
                        start = heading.end() if heading else len(text)
                        yield first.lineno, re.sub(r"[^\n]", "", text[:start]) + ". " + text[start:]


def stoppers_of(file: str) -> list[Hit]:
    """Return the stoppers of a page, of the docstrings of a module, or of the English messages of a catalogue."""
    match Path(file).suffix:
        case ".py":
            texts = [(line, _prose_of(text)) for line, text in _module(ROOT, file)[1]]
        case ".po":
            texts = [(entry.linenum, entry.msgid) for entry in catalogue(ROOT, file)]
        case _:
            texts = [(1, _prose_of((ROOT / file).read_text()))]
    return sorted(
        Hit(file, line + (down if not file.endswith(".po") else 0), name, seen, "subject, verb, object")
        for line, text in texts
        for down, name, seen in stoppers_in(text)
    )


@cache
def allowed_stoppers() -> dict[str, int]:
    """Return how many stoppers a file may have, by its name. A file that is not listed may have none."""
    return {file.strip("`"): int(most) for file, most in rows("Where a stopper still stands", LIST.read_text())}


def files_of_prose() -> tuple[str, ...]:
    """Return every English page, every module of the product, and the catalogue of messages."""
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "client/README.md", CATALOGUE)]
    pages += [page for page in (ROOT / "docs").glob("*.md") if not page.name.endswith(".fr.md")]
    for folder in _PRODUCT:
        pages += [path for path in (ROOT / folder).rglob("*.py") if "migrations" not in path.parts]
    return tuple(sorted(str(path.relative_to(ROOT)) for path in pages))
