"""Settings in a project's ``pyproject.toml``: of ``diff``, and the files of Python functions."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..plan.errors import Location, PlanError
from ..plan.findings import nearest
from ..plan.record import Record, replace
from .rules import RULES

_CHOICES = {
    "fail-on": ("compatible", "partial", "incompatible", "corrupting"),
    "for": ("flink", "spark"),
    "runtime": ("apache", "vvr"),
}
_KEYS = ("ignore", "allow", "py-files", *_CHOICES)


class Settings(Record):
    """``[tool.flinkplan]``; each key has the name and meaning of an option of ``diff``, or of ``compile``."""

    ignore: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    fail_on: str | None = None
    engine: str | None = None
    """The key ``for``: the engine whose state counts; ``None`` for both."""
    runtime: str | None = None
    """The distribution of Flink: ``apache``, or ``vvr`` for Ververica's, which restores each aggregate by itself."""
    py_files: tuple[str, ...] = ()
    """Files, folders and archives of Python functions; relative paths begin at the folder of ``pyproject.toml``."""


def read_settings(directory: Path) -> Settings:
    """The settings of the project that contains ``directory``, from the nearest ``pyproject.toml`` that has some.

    Directories above a git repository are ignored.  Raises :class:`PlanError` for invalid settings.
    """
    for folder in (directory, *directory.absolute().parents):
        path = folder / "pyproject.toml"
        tool = _read(path).get("tool", {})
        if isinstance(tool, Mapping) and "flinkplan" in tool:
            settings = _settings(tool["flinkplan"], f"{path}, [tool.flinkplan]")
            return replace(settings, py_files=tuple(str(folder / name) for name in settings.py_files))
        if (folder / ".git").exists():
            break
    return Settings()


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise PlanError(f"not valid TOML: {e}", where=Location(str(path))) from None
    except OSError as e:
        raise PlanError(e.strerror or str(e), where=Location(str(path))) from None


def _settings(table: Any, where: str) -> Settings:
    if not isinstance(table, Mapping):
        raise PlanError("[tool.flinkplan] is a table", where=where)
    if unknown := sorted(table.keys() - set(_KEYS)):
        hint = nearest(unknown[0], _KEYS) or f"known are {', '.join(_KEYS)}"
        raise PlanError(f"unknown setting '{unknown[0]}'", where=where, hint=hint)
    for key, choices in _CHOICES.items():
        if (value := table.get(key)) is not None and value not in choices:
            raise PlanError(f"'{key}' is one of {', '.join(choices)}, not {value!r}", where=where)
    ignore, allow, py_files = (_texts(table, key, where) for key in ("ignore", "allow", "py-files"))
    for entry in (*ignore, *allow):
        check_rule(entry, where)
    fail_on, engine, runtime = (table.get(key) for key in _CHOICES)
    return Settings(ignore, allow, fail_on, engine, runtime, py_files)


def _texts(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise PlanError(f"'{key}' is a list of texts", where=where)
    return tuple(value)


def check_rule(entry: str, where: str | None = None) -> None:
    """Raise :class:`PlanError` where ``RULE`` or ``RULE@NODE`` names no rule.  A pattern must match one."""
    from fnmatch import fnmatchcase

    rule = entry.partition("@")[0]
    if not any(fnmatchcase(known, rule) for known in RULES):
        hint = nearest(rule, RULES) or "'flinkplan rule' lists them"
        raise PlanError(f"there is no rule '{rule}'", where=where, hint=hint)
