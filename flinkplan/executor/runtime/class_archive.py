"""An archive of the classes that Spark loads as it starts: half of what a small job costs goes into loading them.

The second small job of a user leaves the archive in the cache; later ones start from it.  The first does not, since it
may well be the only one, in a container that is thrown away.  The JVM passes over an archive that is not of its own
build or not of the same jars.  Source: JEP 350.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from subprocess import Popen, TimeoutExpired

from ...plan.record import Record
from .jar import RuntimeJarError, cache, configuration, jars, remove_stale, written_by_others

_CLASS_PATHS = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH", "CLASSPATH")
"""Variables by which folders come into Spark's class path, of which the JVM makes no archive."""
_NAME, _UNFINISHED = "spark-classes-", "unfinished-classes-"
_QUIETLY = "-Xshare:auto -Xlog:cds*=off"
_SECONDS = 120
_KEPT = 3
"""So many archives stay: of environments, of versions of Spark or Java.  Each takes some 160 MB."""


class ClassArchive(Record):
    """Where the archive is, or the new file that a JVM is to leave it in as it ends."""

    path: Path
    made: Path | None = None

    @property
    def java_options(self) -> str:
        """What tells the JVM to start from the archive, or to make it."""
        which = f"SharedArchiveFile={self.path}" if self.made is None else f"ArchiveClassesAtExit={self.made}"
        return f"{_QUIETLY} -XX:{which}"

    def keep_at_exit(self, jvm: Popen[bytes]) -> None:
        """Have this process, before it ends, end the JVM and keep what that leaves."""
        if self.made is not None:
            atexit.register(_keep, jvm, self.made, self.path)


def class_archive(*, record: bool) -> ClassArchive | None:
    """The archive for a JVM that is about to start, if there is one; ``record``: or if that JVM can make it."""
    try:
        path = _path()
        if path is None or " " in str(path):
            return None
        _clean(path.parent)
        if path.exists():
            return None if written_by_others(path) else ClassArchive(path)
        return _begin(path) if record else None
    except (OSError, RuntimeJarError):
        return None


def _path() -> Path | None:
    """Its name tells the JVM and the jars that it is of; ``None`` where there can be none."""
    java = shutil.which("java", path=f"{os.environ['JAVA_HOME']}/bin" if "JAVA_HOME" in os.environ else None)
    folder, conf = jars(), configuration()
    if java is None or any(os.environ.get(name) for name in _CLASS_PATHS) or (conf.is_dir() and any(conf.iterdir())):
        return None
    binary = Path(java).resolve()
    digest = hashlib.sha256(f"{binary} {binary.stat().st_mtime_ns}".encode())
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        status = entry.stat()
        digest.update(f"\0{entry.path} {status.st_size} {status.st_mtime_ns}".encode())
    return cache() / f"{_NAME}{digest.hexdigest()[:16]}.jsa"


def _begin(path: Path) -> ClassArchive | None:
    seen = path.with_suffix(".wanted")
    if not seen.exists():
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        seen.touch()
        return None
    return ClassArchive(path, Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=path.parent), path.name))


def _clean(folder: Path) -> None:
    """Remove what jobs left that were killed, and the oldest archives."""
    remove_stale(folder, _UNFINISHED)
    for old in sorted(folder.glob(f"{_NAME}*.jsa"), key=lambda p: p.stat().st_mtime)[:-_KEPT]:
        old.unlink(missing_ok=True)


def _keep(jvm: Popen[bytes], made: Path, path: Path) -> None:
    if sys.stderr.isatty():
        print("keeping Spark's classes, so that jobs start in half the time: half a minute, once", file=sys.stderr)
    try:
        if jvm.stdin is not None:
            jvm.stdin.close()  # by which PySpark's JVM knows that it is to end
        if jvm.wait(_SECONDS) == 0 and made.exists():
            made.replace(path)
    except (KeyboardInterrupt, TimeoutExpired, OSError):
        jvm.kill()
    finally:
        shutil.rmtree(made.parent, ignore_errors=True)
