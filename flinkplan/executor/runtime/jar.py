"""The jar of the Java sources beside this module, under a name made of the sources and the Spark version.

A released wheel ships it; elsewhere, and with another Spark, ``javac`` makes it on first use, into the user's cache.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...jars import JarError as RuntimeJarError
from ...jars import cache, check_owner, is_whole, pack, remove_stale, written_by_others
from ..processes import run
from .collectors import SERIAL, is_collector_chosen
from .jdk import LEAST, how_to_install
from .locale import utf8_names

_VERSION = re.compile(r'(?:version "|javac )(?:1\.)?(\d+)')
SOURCES = Path(__file__).parent / "src"
_UNFINISHED = "unfinished-jar-"

__all__ = [
    "RuntimeJarError",
    "build",
    "cache",
    "configuration",
    "jars",
    "java",
    "java_version",
    "remove_stale",
    "runtime_jar",
    "ship",
    "spark_home",
    "written_by_others",
]


def runtime_jar() -> Path:
    """The path of the jar, compiled if need be.

    Raises :class:`RuntimeJarError` without a JDK, where the cache cannot be written, and for a jar in it that somebody
    else may have put there.
    """
    name = _name()
    shipped = SOURCES.parent / name
    if shipped.exists():
        return shipped
    cached = cache() / name
    if not cached.exists():
        build(cached)
    check_owner(cached)
    if not is_whole(cached):
        build(cached)
    return cached


def ship() -> Path:
    """Make the jar where a wheel takes it from; its path.  Raises :class:`RuntimeJarError` without a JDK."""
    jar = SOURCES.parent / _name()
    build(jar)
    return jar


def build(jar: Path) -> None:
    """Compile the sources into ``jar``, which appears whole or not at all."""
    javac = _javac()
    try:
        jar.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        remove_stale(jar.parent, _UNFINISHED)
        work = tempfile.mkdtemp(prefix=_UNFINISHED, dir=jar.parent)
    except OSError as e:
        raise RuntimeJarError(
            f"nothing can be written into {jar.parent}: {e.strerror or e}",
            hint="let FLINKPLAN_CACHE name a folder that can be written to",
        ) from None
    try:
        classes = Path(work, "classes")
        options = ["--release", "17", "-proc:none", "-nowarn", "-cp", f"{jars()}/*", "-d", str(classes)]
        command = [javac, *_brief(), *options, *map(str, _sources())]
        with utf8_names():
            compiled = run(command)
        if compiled.returncode:
            raise _not_compiled(javac, compiled.stderr.strip())
        made = Path(work, jar.name)
        pack(classes, made)
        made.replace(jar)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _javac() -> str:
    home = os.environ.get("JAVA_HOME")
    javac = (shutil.which("javac", path=f"{home}/bin") if home else None) or shutil.which("javac")
    if javac is None:
        hint = f"{how_to_install()}; a JRE is not enough"
        raise RuntimeJarError("there is no Java compiler (javac)", hint=hint)
    return javac


def _not_compiled(javac: str, errors: str) -> RuntimeJarError:
    version = java_version(javac)
    if version is not None and version < LEAST:
        return RuntimeJarError(f"{javac} is of Java {version}, which is too old", hint=how_to_install())
    return RuntimeJarError(f"the Java sources do not compile:\n{errors}")


def java_version(program: str) -> int | None:
    """Of which version of Java ``java`` or ``javac`` is; ``None`` where that is not known."""
    try:
        printed = run([program, "-version"])
    except OSError:
        return None
    match = _VERSION.search(printed.stderr + printed.stdout)
    return int(match[1]) if match else None


def java() -> str | None:
    """The path of the JVM that Spark starts; ``None`` where there is none."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=f"{home}/bin" if home else None)


def _brief() -> list[str]:
    """What halves the time of a compiler that lives for seconds."""
    return ["-J-XX:TieredStopAtLevel=1", *([] if is_collector_chosen() else [f"-J{SERIAL}"])]


def _sources() -> list[Path]:
    return sorted(SOURCES.rglob("*.java"))


def _pyspark() -> tuple[Path, Any]:
    """PySpark's folder, and what reads its files: below spark-submit it is imported from an archive."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise RuntimeJarError("PySpark is not installed", hint="pip install 'pyspark>=4.3,<4.4'")
    return Path(spec.origin).parent, spec.loader


def jars() -> Path:
    """The folder of the jars that PySpark starts Spark with."""
    return spark_home() / "jars"


def configuration() -> Path:
    """The folder of Spark's configuration, which need not be there."""
    return Path(os.environ.get("SPARK_CONF_DIR") or spark_home() / "conf")


def spark_home() -> Path:
    """The folder of Spark, as PySpark finds it: what ``SPARK_HOME`` names goes before its own."""
    home = os.environ.get("SPARK_HOME")
    return Path(home) if home else _pyspark()[0]


def _name() -> str:
    folder, loader = _pyspark()
    return _name_of(loader.get_data(str(folder / "version.py")), SOURCES)


@lru_cache(maxsize=1)  # a session asks for it, and a process may begin hundreds of them
def _name_of(version: bytes, sources: Path) -> str:
    digest = hashlib.sha256(version)
    for path in _sources():
        digest.update(path.relative_to(sources).as_posix().encode() + b"\0" + path.read_bytes())
    return f"flinkplan-runtime-{digest.hexdigest()[:16]}.jar"
