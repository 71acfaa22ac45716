"""Parameter types and options that several commands share."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from ..compat.reports import FORMATS

if TYPE_CHECKING:
    from ..compat.diff import Source
    from ..state.keys import KeyValues

_STATEMENTS = frozenset(
    {"ALTER", "BEGIN", "COMPILE", "CREATE", "DROP", "EXECUTE", "EXPLAIN", "INSERT", "RESET", "SELECT", "SET"}
    | {"STATEMENT", "USE", "VERSION", "WITH"}
)
"""The words that a pipeline can begin with."""


def assignment(text: str) -> tuple[str, str]:
    """The parameter type of ``NAME=VALUE``."""
    if not text.isprintable() and any("\ud800" <= char <= "\udfff" for char in text):
        raise click.BadParameter("an argument is not UTF-8 text")
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise click.BadParameter(f"'{text}' is not of the form NAME=VALUE")
    return name.strip(), value


def key_values(text: str) -> KeyValues:
    """The parameter type of a key of a state: ``1,a`` or ``[1, "a"]``."""
    from ..state.keys import KeyValues

    return KeyValues.parse(text)


def duration(text: str) -> int:
    """The parameter type of a duration as Flink reads it, such as ``10s``; in milliseconds."""
    from ..plan.durations import DurationError, parse_duration

    try:
        return parse_duration(text)
    except DurationError as e:
        raise click.BadParameter(f"{e.message}; {e.hint}" if e.hint else e.message) from None


def check_session_option(key: str, value: str) -> None:
    """Raise :class:`click.UsageError` for an option of the session that has no effect when a plan is executed."""
    from ..plan.session import DEFAULTS
    from ..plan.settings import SETTINGS, check_setting, is_known, reason_without_effect, similar_key
    from ..plan.settings_of_flink import Effect

    check_setting(key, value)
    if key in DEFAULTS:
        return
    if not is_known(key):
        why = f"there is no option '{key}'"
    elif reason := reason_without_effect(key, value):
        why = f"'{key}' has no effect here: {reason}"
    elif SETTINGS[key].effect is Effect.SESSION:
        why = f"'{key}' has an effect only in 'flinkplan run' and 'flinkplan sql', which execute statements"
    else:
        why = f"'{key}' has no effect when a plan is executed: set it when the plan is compiled"
    similar = None if is_known(key) else similar_key(key)
    hint = f"{similar[0].upper()}{similar[1:]}" if similar else f"Options with an effect: {', '.join(DEFAULTS)}."
    raise click.UsageError(f"{why}. {hint}")


def session_options(
    options: Iterable[tuple[str, str]],
    master: str | None,
    conf: Iterable[tuple[str, str]],
    variables: Mapping[str, str],
    databases: Sequence[str],
) -> dict[str, str]:
    """The options of a session whose statements are executed, as the command line gives them."""
    settings = dict(options)
    if master is not None:
        settings["flinkplan.master"] = master
    settings |= {f"flinkplan.conf.{key}": value for key, value in conf}
    settings |= {f"flinkplan.var.{name}": value for name, value in variables.items()}
    if databases:
        settings["flinkplan.allow-databases"] = ",".join(databases)
    return settings


report_format = click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True)
"""``--format`` of the commands that report findings."""


def read_input(path: str) -> tuple[str, str]:
    """The text of a file, or of standard input for ``-``, and its name in messages."""
    from ..plan.document import SAVE_AS_UTF8, read_text
    from ..plan.errors import PlanError

    if path != "-":
        return read_text(path), path
    try:
        return sys.stdin.buffer.read().decode("utf-8"), "<stdin>"
    except UnicodeDecodeError as e:
        raise PlanError(f"not UTF-8 text (byte {e.start})", where="<stdin>", hint=SAVE_AS_UTF8) from None


force_option = click.option("--force", is_flag=True, help="Replace an existing file.")
"""``--force`` of the commands that write a file."""


py_files_option = click.option(
    "--py-files",
    "--jar",
    "py_files",
    multiple=True,
    metavar="PATH",
    help="Load functions from this: a file, folder or archive of Python, a jar, or the file of 'flinkplan functions'.",
)
"""``--py-files`` and ``--jar`` of the commands that compile."""

catalog_tables_option = click.option(
    "--catalog-tables",
    multiple=True,
    metavar="SCRIPT",
    help="Take the tables of external catalogs from the CREATE TABLE statements of this script.",
)
"""``--catalog-tables`` of the commands that compile."""

replace_pyflink_option = click.option(
    "--replace-pyflink",
    is_flag=True,
    help="In Python programs, 'pyflink' is flinkplan's where the real one is installed, too.",
)
"""``--replace-pyflink`` of the commands that take Python programs."""


def check_output(path: str | None, force: bool, *hints: str) -> None:
    """Raise :class:`PlanError` where a file would be replaced without ``--force``; ``hints`` are other ways out."""
    from ..plan.errors import PlanError
    from ..plan.files import Place

    if path is not None and path != "-" and not force and Place.of(path).would_be_replaced():
        raise PlanError("the file exists already", where=path, hint=", ".join(("--force replaces it", *hints)))


def write_output(text: str, path: str | None) -> None:
    """Write a text to a file, completely or not at all, or to standard output for ``-`` and ``None``."""
    from ..plan.files import Place

    if path is None or path == "-":
        click.echo(text, nl=False)
    else:
        Place.of(path).write(text)


def read_plan_text(path: str) -> tuple[str, str]:
    """The text and name of a plan.  Raises :class:`PlanError` for a pipeline."""
    text, name = read_input(path)
    check_is_plan(text, name)
    return text, name


def check_is_plan(text: str, name: str) -> None:
    """Raise :class:`PlanError`, with the commands for pipelines, for the text of a pipeline."""
    from ..plan.errors import PlanError

    if _is_pipeline(text, name):
        raise PlanError(
            "this is a pipeline, not a compiled plan",
            where=name,
            hint=f"'flinkplan run {name}' runs it, 'flinkplan compile {name} -o plan.json' compiles it to a plan",
        )


def read_pipeline_text(path: str) -> tuple[str, str]:
    """The text and name of a pipeline.  Raises :class:`PlanError`, with the commands for plans, for JSON."""
    from ..plan.errors import PlanError

    text, name = read_input(path)
    if is_json(text, name):
        raise PlanError(
            "this is JSON, as of a compiled plan, not a pipeline",
            where=name,
            hint=f"'flinkplan execute {name}' runs a plan, 'flinkplan validate {name}' checks it",
        )
    return text, name


def is_json(text: str, name: str) -> bool:
    """Whether a text is JSON, as plans are, and not SQL or YAML; a file's name or the first character says so."""
    from ..planner.spec import is_spec

    return not is_spec(name) and (name.lower().endswith(".json") or text.lstrip()[:1] in ("{", "["))


def _is_pipeline(text: str, name: str) -> bool:
    """Whether the name or the first word of a text says that it is SQL or YAML."""
    from ..planner.spec import is_spec

    if text.lstrip()[:1] in ("{", "["):
        return False
    first = re.match(r"(?:\s+|--[^\n]*\n|/\*.*?\*/)*+(\w+)", text, re.DOTALL)
    return is_spec(name) or name.lower().endswith(".sql") or (first is not None and first[1].upper() in _STATEMENTS)


def read_reference(reference: str) -> Source:
    """A plan's text: a file, ``REVISION:PATH`` in git, a checkpoint directory, or standard input for ``-``.

    Raises :class:`PlanError` for a pipeline.
    """
    if reference == "-":
        from ..compat.diff import Source

        text, name = read_plan_text(reference)
        return Source(name, text)
    from ..compat.references import read_plan

    source = read_plan(reference)
    check_is_plan(source.text, reference)
    return source
