"""What the user says of the tables of a plan: ``--var``, ``--var-file`` and ``--allow-database``.

What stands on a command line is seen by everybody on the machine, so that a variable's value can also come from the
environment or from a file.
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
    """``--var`` and ``--var-file``; the command is given both as ``variables``, values by name."""

    @wraps(command)
    def called(*args: Any, var: tuple[tuple[str, str], ...], var_file: tuple[str, ...], **options: Any) -> Any:
        in_files = {name: value for path in var_file for name, value in read_variables(path).items()}
        return command(*args, variables={**in_files, **dict(var)}, **options)

    file = click.option(
        "--var-file", multiple=True, metavar="FILE", help="Lines NAME=VALUE of variables; --var goes before them."
    )
    single = click.option(
        "--var",
        multiple=True,
        type=variable,
        metavar="NAME=VALUE",
        help="Replace ${NAME} in table options. NAME@env[=OTHER] takes the value from the environment, "
        "NAME@file=PATH from a file: other users see what stands on a command line.",
    )
    return single(file(called))


allow_database = click.option(
    "--allow-database",
    "databases",
    multiple=True,
    metavar="FOLDER",
    help="A folder whose embedded databases a plan may open; such a database runs code that is stored in it.",
)
"""``--allow-database`` of the commands that execute plans, or look at what is executed."""


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
        return name, _of_environment(name, right if equals else name)
    if not right:
        raise click.BadParameter(f"'{left}' names no file: it is {name}@file=PATH")
    return name, _of_file(name, right)


def _of_environment(name: str, other: str) -> str:
    if other not in os.environ:
        raise click.BadParameter(f"the environment has no variable '{other}' for '{name}'")
    value = os.environ[other]
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise click.BadParameter(f"the environment variable '{other}' is not UTF-8 text")
    return value


def _of_file(name: str, path: str) -> str:
    """The text of a file without the line feed at its end, which editors put there."""
    return _read(path, f"for '{name}'").removesuffix("\n").removesuffix("\r")


def _read(path: str, what: str) -> str:
    try:
        return Path(path).read_bytes().decode("utf-8")
    except OSError as e:
        raise click.BadParameter(f"the file '{path}' {what} cannot be read: {e.strerror}") from None
    except ValueError:
        raise click.BadParameter(f"the file '{path}' {what} is not UTF-8 text") from None


def read_variables(path: str) -> Mapping[str, str]:
    """The variables in a file: lines ``NAME=VALUE``, comments behind ``#``, values perhaps between quotation marks.

    As ``.env`` files have it: between ``'`` all stands as it is, between ``"`` there are the escapes ``\\n``, ``\\t``,
    ``\\"`` and ``\\\\``; without, a value ends with the line or before `` #``.  Nothing in a value is replaced.

    Raises :class:`click.UsageError`, without the value, for a line that is none of these.
    """
    try:
        text = _read(path, "of variables")
    except click.BadParameter as e:
        raise click.UsageError(e.message) from None
    return dict(_variables(text, path))


def _variables(text: str, path: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        written = line.strip()
        if not written or written.startswith("#"):
            continue
        found = _LINE.fullmatch(written)
        if found is None:
            raise click.UsageError(f"{path}:{number} is not of the form NAME=VALUE")
        yield found["name"], _value(found["value"], path, number)


def _value(written: str, path: str, number: int) -> str:
    if written[:1] not in ("'", '"'):
        return re.split(r"\s+#|^#", written, maxsplit=1)[0].rstrip()
    quoted = _QUOTED.fullmatch(written)
    if quoted is None:
        raise click.UsageError(f"{path}:{number} has a quotation mark that is not closed, or text behind it")
    if quoted["escaped"] is None:
        return quoted["plain"]
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), quoted["escaped"], flags=re.DOTALL)
