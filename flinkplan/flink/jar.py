"""The Java half: compiled on first use against the user's Flink, into a jar of its own in the user's cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from ..state.form import StateError

SOURCES = Path(__file__).parent / "src"
_JDK = "install a JDK, version 17 or later, and let JAVA_HOME, if it is set, point to it"
_UNFINISHED = "unfinished-savepoint-jar-"


def savepoint_jar(flink: Sequence[Path]) -> Path:
    """The path of the jar that fits these jars of Flink, compiled if need be.

    Raises :class:`StateError` without a JDK, or where the cache cannot be written.
    """
    jar = _cache() / _name(flink)
    if not _is_whole(jar):
        _build(jar, flink)
    return jar


def program(name: str) -> str:
    """The path of ``java`` or ``javac``.  Raises :class:`StateError` where there is none."""
    home = os.environ.get("JAVA_HOME")
    path = (shutil.which(name, path=f"{home}/bin") if home else None) or shutil.which(name)
    if path is None:
        raise StateError(f"there is no {name}", hint=_JDK)
    return path


def _cache() -> Path:
    base = os.environ.get("FLINKPLAN_CACHE") or os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "flinkplan"
    except RuntimeError:
        raise StateError("there is no home directory", hint="set FLINKPLAN_CACHE to a folder") from None


def _sources() -> list[Path]:
    return sorted(SOURCES.rglob("*.java"))


def _name(flink: Sequence[Path]) -> str:
    digest = hashlib.sha256("\0".join(jar.name for jar in flink).encode())
    for path in _sources():
        digest.update(path.relative_to(SOURCES).as_posix().encode() + b"\0" + path.read_bytes())
    return f"flinkplan-savepoint-{digest.hexdigest()[:16]}.jar"


def _is_whole(jar: Path) -> bool:
    try:
        with zipfile.ZipFile(jar) as archive:
            return archive.testzip() is None
    except (OSError, zipfile.BadZipFile):
        return False


def _build(jar: Path, flink: Sequence[Path]) -> None:
    javac = program("javac")
    try:
        jar.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        work = tempfile.mkdtemp(prefix=_UNFINISHED, dir=jar.parent)
    except OSError as e:
        hint = "let FLINKPLAN_CACHE name a folder that can be written to"
        raise StateError(f"nothing can be written into {jar.parent}: {e.strerror or e}", hint=hint) from None
    try:
        classes = Path(work, "classes")
        path = os.pathsep.join(map(str, flink))
        options = ["-J-XX:TieredStopAtLevel=1", "--release", "17", "-proc:none", "-nowarn", "-encoding", "UTF-8"]
        command = [javac, *options, "-cp", path, "-d", str(classes), *map(str, _sources())]
        compiled = subprocess.run(command, capture_output=True, text=True)
        if compiled.returncode:
            raise StateError(
                f"the Java sources do not compile with this Flink:\n{compiled.stderr.strip()}",
                hint=f"it must be Flink 2.0 or later; {_JDK}",
            )
        made = Path(work, jar.name)
        with zipfile.ZipFile(made, "w") as archive:
            for file in sorted(classes.rglob("*.class")):
                archive.write(file, file.relative_to(classes))
        made.replace(jar)
    finally:
        shutil.rmtree(work, ignore_errors=True)
