"""Settings in a project's ``pyproject.toml``: its pipelines, its environments, and those of ``diff``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..plan.document import read_text
from ..plan.errors import Location, PlanError
from ..plan.findings import nearest
from ..plan.record import Record, field, replace
from .rules import RULES

SETTINGS_FILE = "pyproject.toml"

_CHOICES = {
    "fail-on": ("compatible", "partial", "incompatible", "corrupting"),
    "for": ("flink", "spark"),
    "runtime": ("apache", "vvr"),
}
_LISTS = ("ignore", "allow", "py-files", "pipelines", "catalog-tables", "jars")
_FUNCTIONS = "functions"
_ALLOW_MIGRATED = "allow-migrated"
_KEYS = (*_LISTS, _ALLOW_MIGRATED, _FUNCTIONS, "environments", *_CHOICES)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Settings(Record):
    """``[tool.flinkplan]``; most keys have the name and meaning of an option of ``diff`` or ``compile``."""

    ignore: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    fail_on: str | None = None
    engine: str | None = None
    """The key ``for``: the engine whose state counts; ``None`` for both."""
    runtime: str | None = None
    """The distribution of Flink: ``apache``, or ``vvr`` for Ververica's, which restores each aggregate by itself."""
    py_files: tuple[str, ...] = ()
    """Files, folders and archives of Python functions; relative paths begin at the folder of ``pyproject.toml``."""
    pipelines: tuple[str, ...] = ()
    """Patterns of the pipelines and plans of the project, relative to ``folder``: ``pipelines/**/*.sql``."""
    catalog_tables: tuple[str, ...] = ()
    """Scripts that define the tables of external catalogs; relative paths begin at ``folder``."""
    environments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The variables of table options in each environment, by its name."""
    jars: tuple[str, ...] = ()
    """Jars of Java functions, relative like ``py_files``."""
    functions: str | None = None
    """The file in which ``flinkplan functions`` has written what is known of those, relative like ``py_files``."""
    folder: str = "."
    """The folder of the file with the settings; the working directory where there is none."""
    allow_migrated: bool = False
    """Whether findings are accepted over which ``migrate`` carries the state."""

    @property
    def code(self) -> tuple[str, ...]:
        """All files and folders of code."""
        return (*self.py_files, *self.jars, *([self.functions] if self.functions else []))

    def variables(self, environment: str | None) -> Mapping[str, str]:
        """The variables of an environment; none for ``None``.  Raises :class:`PlanError` for an unknown one."""
        if environment is None:
            return {}
        if environment not in self.environments:
            known = ", ".join(self.environments)
            hint = nearest(environment, self.environments) or (
                f"known are {known}" if known else f"add [tool.flinkplan.environments.{environment}]"
            )
            where = f"{Path(self.folder) / SETTINGS_FILE}, [tool.flinkplan.environments]"
            raise PlanError(f"there is no environment '{environment}'", where=where, hint=hint)
        return self.environments[environment]


def read_settings(directory: Path) -> Settings:
    """The settings of the project that contains ``directory``, from the nearest ``pyproject.toml`` that has some.

    Directories above a git repository are ignored.  Raises :class:`PlanError` for invalid settings.
    """
    for folder in (directory, *directory.absolute().parents):
        path = folder / SETTINGS_FILE
        settings = settings_in(_read(path), str(path), str(folder))
        if settings is not None:
            return replace(
                settings,
                py_files=tuple(str(folder / name) for name in settings.py_files),
                jars=tuple(str(folder / name) for name in settings.jars),
                functions=str(folder / settings.functions) if settings.functions else None,
            )
        if (folder / ".git").exists():
            break
    return Settings()


def settings_in(text: str | None, path: str, folder: str = ".") -> Settings | None:
    """The settings in the text of a ``pyproject.toml``, ``None`` where it has none; ``py_files`` as they are written.

    Raises :class:`PlanError` for invalid settings.
    """
    try:
        tool = tomllib.loads(text or "").get("tool", {})
    except tomllib.TOMLDecodeError as e:
        raise PlanError(f"not valid TOML: {e}", where=Location(path)) from None
    if not isinstance(tool, Mapping) or "flinkplan" not in tool:
        return None
    return replace(_settings(tool["flinkplan"], f"{path}, [tool.flinkplan]"), folder=folder)


def catalog_scripts(settings: Settings, more: Sequence[str] = ()) -> Mapping[str, str]:
    """The texts of the scripts that define the tables of external catalogs, by their paths; ``more``: further paths.

    Raises :class:`PlanError` where one cannot be read.
    """
    paths = [*(str(Path(settings.folder) / path) for path in settings.catalog_tables), *more]
    return {path: read_text(path) for path in {Path(path).resolve(): path for path in paths}.values()}


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as e:
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
    ignore, allow, py_files, pipelines, catalog_tables, jars = (_texts(table, key, where) for key in _LISTS)
    for entry in (*ignore, *allow):
        check_rule(entry, where)
    fail_on, engine, runtime = (table.get(key) for key in _CHOICES)
    environments = _environments(table.get("environments", {}), where)
    functions = table.get(_FUNCTIONS)
    if functions is not None and not isinstance(functions, str):
        raise PlanError(f"'{_FUNCTIONS}' is the path of a file", where=where, hint="flinkplan functions writes it")
    allow_migrated = table.get(_ALLOW_MIGRATED, False)
    if not isinstance(allow_migrated, bool):
        raise PlanError(f"'{_ALLOW_MIGRATED}' is true or false, not {allow_migrated!r}", where=where)
    return Settings(
        ignore,
        allow,
        fail_on,
        engine,
        runtime,
        py_files,
        pipelines,
        catalog_tables,
        environments,
        jars,
        functions,
        allow_migrated=allow_migrated,
    )


def _texts(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise PlanError(f"'{key}' is a list of texts", where=where)
    return tuple(value)


def _environments(value: Any, where: str) -> Mapping[str, Mapping[str, str]]:
    environments: Mapping[str, Any] = value if isinstance(value, Mapping) else {"": None}
    for name, variables in environments.items():
        if not isinstance(variables, Mapping) or not all(isinstance(v, str) for v in variables.values()):
            hint = "write [tool.flinkplan.environments.NAME], then lines VARIABLE = 'value'"
            raise PlanError("each environment is a table of texts", where=where, hint=hint)
        if wrong := [variable for variable in variables if not _VARIABLE.fullmatch(variable)]:
            raise PlanError(f"'{wrong[0]}' of the environment '{name}' is not the name of a variable", where=where)
    return environments


def check_rule(entry: str, where: str | None = None) -> None:
    """Raise :class:`PlanError` where ``RULE`` or ``RULE@NODE`` names no rule.  A pattern must match one."""
    from fnmatch import fnmatchcase

    rule = entry.partition("@")[0]
    if not any(fnmatchcase(known, rule) for known in RULES):
        hint = nearest(rule, RULES) or "'flinkplan rule' lists them"
        raise PlanError(f"there is no rule '{rule}'", where=where, hint=hint)
