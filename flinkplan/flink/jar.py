"""The Java half: compiled on first use against the user's Flink, into a jar of its own in the user's cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..jars import cache, check_owner, is_whole, pack, remove_stale
from ..plan.record import Record
from ..state.form import StateError

SOURCES = Path(__file__).parent / "src"
_JDK = "install a JDK, version 17 or later, and let JAVA_HOME, if it is set, point to it"
_SERVICES = "META-INF"
"""The folder that says which connector the jar has."""
_UNFINISHED = "unfinished-flink-jar-"


def savepoint_jar(flink: Sequence[Path]) -> Path:
    """The path of the jar that reads and writes savepoints with these jars of Flink, compiled if need be.

    Raises as :func:`compiled_jar`.
    """
    return compiled_jar("savepoint", (SOURCES,), flink, _SERVICES)


def compiled_jar(name: str, folders: Sequence[Path], flink: Sequence[Path], services: str | None = None) -> Path:
    """The path of a jar of the Java sources in ``folders`` that fits these jars, compiled if need be.

    ``services`` is the folder of the first one that is put into the jar as it is.

    Raises :class:`StateError` without a JDK, or where the cache cannot be written, and :class:`.jars.JarError` for a
    jar in it that somebody else may have put there.
    """
    sources = Sources(tuple(folders), services)
    jar = cache() / sources.jar_name(name, flink)
    if not jar.exists():
        _build(jar, sources, flink)
    check_owner(jar)
    if not is_whole(jar):
        _build(jar, sources, flink)
    return jar


def program(name: str) -> str:
    """The path of ``java`` or ``javac``.  Raises :class:`StateError` where there is none."""
    home = os.environ.get("JAVA_HOME")
    path = (shutil.which(name, path=f"{home}/bin") if home else None) or shutil.which(name)
    if path is None:
        raise StateError(f"there is no {name}", hint=_JDK)
    return path


class Sources(Record):
    """The Java sources of a jar: those in ``folders``, and the folder ``services`` of the first one."""

    folders: tuple[Path, ...]
    services: str | None = None

    def jar_name(self, name: str, flink: Sequence[Path]) -> str:
        """The name of the jar, with a hash of the sources and of the names of what they are compiled with."""
        digest = hashlib.sha256("\0".join(jar.name for jar in flink).encode())
        for folder in self.folders:
            for path in self._files(folder):
                digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
        return f"flinkplan-{name}-{digest.hexdigest()[:16]}.jar"

    @property
    def java(self) -> list[Path]:
        """The files to compile."""
        return [path for folder in self.folders for path in sorted(folder.rglob("*.java"))]

    def _files(self, folder: Path) -> list[Path]:
        services = sorted((folder / self.services / "services").iterdir()) if self.services else []
        return [*sorted(folder.rglob("*.java")), *services]


def _build(jar: Path, sources: Sources, flink: Sequence[Path]) -> None:
    javac = program("javac")
    try:
        jar.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        remove_stale(jar.parent, _UNFINISHED)
        work = tempfile.mkdtemp(prefix=_UNFINISHED, dir=jar.parent)
    except OSError as e:
        hint = "let FLINKPLAN_CACHE name a folder that can be written to"
        raise StateError(f"nothing can be written into {jar.parent}: {e.strerror or e}", hint=hint) from None
    try:
        classes = Path(work, "classes")
        path = os.pathsep.join(map(str, flink))
        options = ["-J-XX:TieredStopAtLevel=1", "--release", "17", "-proc:none", "-nowarn", "-encoding", "UTF-8"]
        command = [javac, *options, "-cp", path, "-d", str(classes), *map(str, sources.java)]
        compiled = subprocess.run(command, capture_output=True, text=True)
        if compiled.returncode:
            raise StateError(
                f"the Java sources do not compile with this Flink:\n{compiled.stderr.strip()}",
                hint=f"it must be Flink 2.0 or later; {_JDK}",
            )
        if sources.services:
            shutil.copytree(sources.folders[0] / sources.services, classes / sources.services)
        made = Path(work, jar.name)
        pack(classes, made)
        made.replace(jar)
    finally:
        shutil.rmtree(work, ignore_errors=True)
