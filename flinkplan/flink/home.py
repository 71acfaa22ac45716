"""Where the user's Flink is: the jars that read and write savepoints, and that functions in Java run on."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from ..state.form import StateError

PYTHON, HOME = "FLINK_PYTHON", "FLINK_HOME"
_HINT = (
    f"name one with {PYTHON}: a Python that has the package apache-flink (pip install apache-flink, or "
    "apache-flink-libraries, which has the jars alone), "
    f"or with {HOME}: the folder of a distribution of Flink; some commands have --flink"
)
_NEEDED = "flink-dist"
_PLANNER = "flink-table-planner"
"""The planner's jar, which holds its classes in a jar of its own; it is needed to run plans alone."""
_LIB_OF_PYTHON = (
    "import importlib.util as u; s = u.find_spec('pyflink'); print(s.submodule_search_locations[0] if s else '')"
)
_SECONDS = 60


def flink_jars(
    flink: str | None = None,
    *,
    planner: bool = False,
    needed_for: str = "savepoints are read with the classes of Flink",
) -> tuple[Path, ...]:
    """The jars of Flink, sorted by name: of ``flink``, a Python or a folder, else of what the environment names.

    ``planner``: with those that turn plans into jobs.  ``needed_for`` begins the error where Flink is not named.

    Raises :class:`StateError` where there is no Flink.
    """
    named = [flink] if flink else [os.environ.get(PYTHON), os.environ.get(HOME)]
    place = next((text for text in named if text), None)
    if place is None:
        raise StateError(f"{needed_for}, and none is named", hint=_HINT)
    path = Path(place).expanduser()
    lib = path / "lib" if path.is_dir() else _lib_of_python(place)
    jars = sorted(jar for jar in lib.glob("*.jar") if planner or not jar.name.startswith(_PLANNER))
    if not any(jar.name.startswith(_NEEDED) for jar in jars):
        raise StateError(f"there is no Flink in {lib}", hint=_HINT)
    return tuple(jars)


def _lib_of_python(python: str) -> Path:
    try:
        result = subprocess.run([python, "-c", _LIB_OF_PYTHON], capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as e:
        reason = getattr(e, "strerror", None) or "it does not answer"
        raise StateError(f"{python} cannot be run: {reason}", hint=_HINT) from None
    folder = result.stdout.strip()
    if result.returncode or not folder:
        raise StateError(f"{python} has no package apache-flink", hint=_HINT)
    return Path(folder) / "lib"
