"""The Java sources as text: which classes there are, and the components of their records."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from flinkplan.executor.runtime.jar import SOURCES

ROOT = "flinkplan.runtime"
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
_CLASS = re.compile(r"\b(?:class|record|interface|enum)\s+(\w+)")
_BRACKETS = {"(": 1, "<": 1, ")": -1, ">": -1}


def java_files() -> list[Path]:
    """All Java sources."""
    return sorted(SOURCES.rglob("*.java"))


@lru_cache
def code(path: Path) -> str:
    """A Java source without its comments and the content of its strings."""
    return _STRING.sub('""', _COMMENT.sub(" ", path.read_text("utf-8")))


def package(path: Path) -> str:
    """The package whose folder a Java source is in."""
    return ".".join(path.relative_to(SOURCES).parent.parts)


def java_source(name: str) -> Path:
    """The source of a class below :data:`ROOT`, of a nested one that of the class around it."""
    outer, _, _ = name.partition("$")
    return SOURCES.joinpath(*f"{ROOT}.{outer}".split(".")).with_suffix(".java")


def has_class(name: str) -> bool:
    """Whether there is a class of this name below :data:`ROOT`; nested ones stand behind a ``$``."""
    source = java_source(name)
    return source.is_file() and name.rpartition("$")[2].rpartition(".")[2] in _CLASS.findall(code(source))


def components(name: str) -> tuple[str, ...]:
    """The components of a record below :data:`ROOT`, in their order; ``LookupError`` where there is none."""
    source, simple = java_source(name), name.rpartition("$")[2].rpartition(".")[2]
    header = re.search(rf"\brecord\s+{simple}\s*\(", code(source)) if source.is_file() else None
    if header is None:
        raise LookupError(f"no record {name}")
    depth, found, start = 1, [], header.end()
    for at, character in enumerate(code(source)[start:], start):
        depth += _BRACKETS.get(character, 0)
        if depth == 0 or (depth == 1 and character == ","):
            found.append(code(source)[start:at].split())
            start = at + 1
        if depth == 0:
            break
    return tuple(words[-1] for words in found if words)
