"""The options for the tables of a plan: ``--var``, ``--var-file`` and ``--allow-database``.

A variable's value can also come from the environment or from a file, because every user of the machine can see the
command line of a process.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import click

_LINE = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.*)", re.DOTALL)
_QUOTED = re.compile(r"""(?:'(?P<plain>[^']*)'|"(?P<escaped>(?:[^"\\]|\\.)*)")\s*(?:\#.*)?""", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def variable_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds ``--var``, ``--var-file`` and ``--env``; the command gets all of them as ``variables``, by their names."""

    @wraps(command)
    def called(
        *args: Any, var: tuple[tuple[str, str], ...], var_file: tuple[str, ...], env: str | None, **options: Any
    ) -> Any:
        from_files = {name: value for path in var_file for name, value in read_variables(path).items()}
        return command(*args, variables={**project_variables(env), **from_files, **dict(var)}, **options)

    file = click.option(
        "--var-file", multiple=True, metavar="FILE", help="Read variables from lines NAME=VALUE; --var overrides them."
    )
    single = click.option(
        "--var",
        multiple=True,
        type=variable,
        metavar="NAME=VALUE",
        help="Replace ${NAME} in table options. NAME@env[=OTHER] takes the value from the environment, "
        "NAME@file=PATH from a file: use these for secrets, because other users can see command lines.",
    )
    return single(file(environment_option(called)))


environment_option = click.option(
    "--env", metavar="NAME", help="Take the variables of this environment of the project from pyproject.toml."
)
"""``--env`` of the commands that need variables."""


def project_variables(environment: str | None) -> Mapping[str, str]:
    """The variables of an environment of the project; none for ``None``.

    Raises :class:`PlanError` for an unknown environment.
    """
    if environment is None:
        return {}
    from ..compat.settings import read_settings

    return read_settings(Path()).variables(environment)


allow_database = click.option(
    "--allow-database",
    "databases",
    multiple=True,
    metavar="FOLDER",
    help="Allow plans to open embedded databases in this directory, which may run code stored in them.",
)
"""``--allow-database`` of the commands that execute or check plans."""


def variable(text: str) -> tuple[str, str]:
    """The parameter type of ``NAME=VALUE``, ``NAME@env``, ``NAME@env=OTHER`` and ``NAME@file=PATH``."""
    from .options import assignment

    left, equals, right = text.partition("=")
    name, at, source = left.strip().partition("@")
    if not at:
        return assignment(text)
    if source not in ("env", "file") or not name:
        raise click.BadParameter(f"'{left}' is not of the form NAME@env or NAME@file")
    if source == "env":
        return name, _from_environment(name, right if equals else name)
    if not right:
        raise click.BadParameter(f"'{left}' names no file: write {name}@file=PATH")
    return name, _from_file(name, right)


def _from_environment(name: str, environment_name: str) -> str:
    if environment_name not in os.environ:
        raise click.BadParameter(f"the environment has no variable '{environment_name}' for '{name}'")
    value = os.environ[environment_name]
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise click.BadParameter(f"the environment variable '{environment_name}' is not UTF-8 text")
    return value


def _from_file(name: str, path: str) -> str:
    """The text of a file without the newline at its end, which editors add."""
    return _read(path, f"for '{name}'").removesuffix("\n").removesuffix("\r")


def _read(path: str, purpose: str) -> str:
    try:
        return Path(path).read_bytes().decode("utf-8")
    except OSError as e:
        raise click.BadParameter(f"the file '{path}' {purpose} cannot be read: {e.strerror}") from None
    except ValueError:
        raise click.BadParameter(f"the file '{path}' {purpose} is not UTF-8 text") from None


def read_variables(path: str) -> Mapping[str, str]:
    """The variables in a file of lines ``NAME=VALUE``, with comments after ``#`` and values with or without quotes.

    The format is that of ``.env`` files: text between ``'`` is literal; between ``"`` there are the escapes ``\\n``,
    ``\\t``, ``\\"`` and ``\\\\``; a value without quotes ends at the end of the line or before `` #``.  References to
    variables in a value are not replaced.

    Raises :class:`click.UsageError`, whose message does not contain the value, for any other line.
    """
    try:
        text = _read(path, "of --var-file")
    except click.BadParameter as e:
        raise click.UsageError(e.message) from None
    return dict(_variables(text, path))


def _variables(text: str, path: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        assignment = line.strip()
        if not assignment or assignment.startswith("#"):
            continue
        match = _LINE.fullmatch(assignment)
        if match is None:
            raise click.UsageError(f"{path}:{number} is not of the form NAME=VALUE")
        yield match["name"], _value(match["value"], path, number)


def _value(text: str, path: str, number: int) -> str:
    if text[:1] not in ("'", '"'):
        return re.split(r"\s+#|^#", text, maxsplit=1)[0].rstrip()
    quoted = _QUOTED.fullmatch(text)
    if quoted is None:
        raise click.UsageError(f"{path}:{number} has an unclosed quotation mark, or text after the closing one")
    if quoted["escaped"] is None:
        return quoted["plain"]
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), quoted["escaped"], flags=re.DOTALL)
