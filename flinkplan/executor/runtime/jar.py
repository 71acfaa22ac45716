"""The jar of the Java sources beside this module, under a name made of the sources and the Spark version.

A released wheel ships it; elsewhere, and with another Spark, ``javac`` makes it on first use, into the user's cache.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

from ...plan.errors import FlinkplanError

SOURCES = Path(__file__).parent / "src"

_BRIEF = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")
"""What halves the time of a compiler that lives for seconds."""


class RuntimeJarError(FlinkplanError):
    """The Java half of the executor cannot be made."""


def runtime_jar() -> Path:
    """The path of the jar, compiled if need be.  Raises :class:`RuntimeJarError` without a JDK."""
    name = _name()
    shipped, cached = SOURCES.parent / name, _cache() / name
    if shipped.exists():
        return shipped
    if not cached.exists():
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
    jar.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=jar.parent) as work:
        classes = Path(work, "classes")
        options = ["--release", "17", "-proc:none", "-nowarn", "-cp", f"{_spark() / 'jars'}/*", "-d", str(classes)]
        command = [javac, *_BRIEF, *options, *map(str, _sources())]
        compiled = subprocess.run(command, capture_output=True, text=True)
        if compiled.returncode:
            raise RuntimeJarError(f"the Java sources do not compile:\n{compiled.stderr.strip()}")
        made = Path(work, jar.name)
        with zipfile.ZipFile(made, "w") as archive:
            for path in sorted(classes.rglob("*.class")):
                archive.write(path, path.relative_to(classes))
        made.replace(jar)


def _javac() -> str:
    home = os.environ.get("JAVA_HOME")
    found = (shutil.which("javac", path=f"{home}/bin") if home else None) or shutil.which("javac")
    if found is None:
        raise RuntimeJarError(
            "there is no Java compiler (javac)",
            hint="install a JDK, version 17 or later, and set JAVA_HOME to it; a JRE is not enough",
        )
    return found


def _sources() -> list[Path]:
    return sorted(SOURCES.rglob("*.java"))


def _spark() -> Path:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise RuntimeJarError("PySpark is not installed", hint="pip install 'pyspark>=4.3,<4.4'")
    return Path(spec.origin).parent


def _name() -> str:
    digest = hashlib.sha256((_spark() / "version.py").read_bytes())
    for path in _sources():
        digest.update(path.relative_to(SOURCES).as_posix().encode() + b"\0" + path.read_bytes())
    return f"flinkplan-runtime-{digest.hexdigest()[:16]}.jar"


def _cache() -> Path:
    base = os.environ.get("FLINKPLAN_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "flinkplan"
