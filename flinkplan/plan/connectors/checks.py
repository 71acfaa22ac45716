"""What is wrong with a table's options: told once, for the planner, for ``validate`` and for the executor."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..errors import FlinkplanError
from ..findings import did_you_mean
from ..options import Option, is_true, named, option_of
from ..printable import shortened
from ..secrets import holds_secret
from ..specs import ResolvedSchema
from ..types import LogicalType
from . import CHANGELOG, CONNECTORS, FORMATS, parse_kinds
from .jdbc import JDBC
from .jdbc_urls import folder_of, is_named_by_user
from .kinds import option_prefix
from .model import Connector, Options, Problem


def problems(name: str, options: Options, schema: ResolvedSchema, as_sink: bool) -> Iterator[Problem]:
    """What Flink refuses in the options of the table ``name``, which is read, or written to, and has this schema."""
    connector = options.get("connector")
    if connector is None:
        yield Problem("connector", f"the table '{name}' has no option 'connector'", _add("connector"))
        return
    if CHANGELOG in options:
        try:
            parse_kinds(options[CHANGELOG])
        except FlinkplanError as error:
            yield Problem(CHANGELOG, error.message, error.hint)
    known = CONNECTORS.get(connector)
    if known is None:
        like = did_you_mean(connector, CONNECTORS)
        if like is not None and CHANGELOG not in options:
            hint = f"{like} If it is one of your own, say which changes it has: '{CHANGELOG}' = 'I'"
            yield Problem("connector", f"there is no connector '{connector}'", hint)
        return
    if (known.sink if as_sink else known.source) is None:
        able, unable = ("read", "written to") if as_sink else ("written to", "read")
        yield Problem("", f"'{name}' cannot be {unable}: a table of '{connector}' is only {able}")
    if known.options is not None:
        yield from _of_options(name, options, schema, known, known.options)
        for key in known.formats:
            if key in options:
                yield from _of_format(key, options, as_sink)
        if known.problems is not None:
            yield from known.problems(options, schema, as_sink)
        for part, own in _single(known, options):
            yield from (_within(part, problem) for problem in problems(f"{name}, {part}", own, schema, as_sink))


def _parts(connector: Connector | None, options: Options) -> Mapping[str, Options]:
    """The tables that one is made of."""
    return connector.parts(options) if connector is not None and connector.parts is not None else {}


def _single(connector: Connector | None, options: Options) -> Iterator[tuple[str, Options]]:
    """Those of them that are not made of others again."""
    own = options.get("connector")
    yield from ((name, part) for name, part in _parts(connector, options).items() if part.get("connector") != own)


def _within(part: str, problem: Problem) -> Problem:
    return Problem(problem.key and f"{part}.{problem.key}", f"source '{part}': {problem.message}", problem.hint)


def exposed(options: Options) -> Iterator[Problem]:
    """The secrets that stand in the options of a table, variables unreplaced, for everybody to read."""
    connector = CONNECTORS.get(options.get("connector", ""))
    for key in connector.secrets if connector else ():
        if key in options and "${" not in options[key]:
            hint = f"write a variable, '{key}' = '${{NAME}}', and say what it is when the plan is executed"
            yield Problem(key, f"'{key}' is a secret, and a plan is no place for it", hint)
    for part, own in _single(connector, options):
        yield from (_within(part, problem) for problem in exposed(own))
    for key, value in options.items() if connector and connector.secrets else ():
        if holds_secret(value):
            hint = "give it by an option of its own, or as a variable"
            yield Problem(key, f"a password stands in '{key}', and a plan is no place for it", hint)


def unlisted(options: Options, written: Options) -> Iterator[Problem]:
    """The options of a table with which Flink executes a plan, but nobody does here; ``written``: with variables.

    What they say would reach Spark, Hadoop or the client of a broker, which load classes, run commands and delete
    files by such options; a plan may come from anywhere.
    """
    connector = CONNECTORS.get(options.get("connector", ""))
    if connector is None or not connector.executed:
        return
    for part, own in _single(connector, options):
        yield from (_within(part, problem) for problem in unlisted(own, _parts(connector, written).get(part, {})))
    for key in options:
        option, known = _declared(key, options, connector)
        if option is None:
            continue
        if option.refused is not None:
            like = did_you_mean(key, known) if option.key.endswith("*") else None
            hint = like or "leave it out; docs/connectors.md lists the options that are executed"
            yield Problem(key, f"'{shortened(key)}' is not executed here: {option.refused}", hint)
        elif option.by_user and not _VARIABLE.fullmatch(written.get(key, "")):
            hint = f"write a variable, '{key}' = '${{NAME}}', and say what it is when the plan is executed"
            yield Problem(key, f"'{key}' is for the user to say, not for a plan", hint)


def unnamed_databases(options: Options, written: Options, folders: Sequence[str]) -> Iterator[Problem]:
    """The databases that a table opens in folders which the user has not named, as :func:`.is_named_by_user` says."""
    connector = CONNECTORS.get(options.get("connector", ""))
    for part, own in _single(connector, options):
        found = unnamed_databases(own, _parts(connector, written).get(part, {}), folders)
        yield from (_within(part, problem) for problem in found)
    if connector is not JDBC or is_named_by_user(options, written, folders):
        return
    folder = folder_of(options["url"])
    yield Problem(
        "url",
        f"the plan opens the database in {folder}, and a database runs code that is stored in it",
        f"if you know where it comes from, pass --allow-database {folder}; "
        "or write its folder as a variable alone, 'jdbc:derby:${NAME}'",
    )


_VARIABLE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")


def _declared(key: str, options: Options, connector: Connector) -> tuple[Option | None, list[str]]:
    """The option that a key of a table is of, the connector's or a format's, and the keys that are executed there."""
    for named_by in connector.formats:
        format_ = FORMATS.get(options.get(named_by, ""))
        prefix = option_prefix(named_by, format_.name) if format_ else ""
        if format_ is not None and format_.options is not None and key.startswith(prefix):
            found = option_of(key.removeprefix(prefix), format_.options)
            return found, [f"{prefix}{option.key}" for option in format_.options if option.is_executed]
    declared = connector.options or ()
    every = (*declared, *(option for each in declared for option in each.listed))
    return option_of(key, declared), [option.key for option in every if option.is_executed]


def _of_columns(key: str, schema: ResolvedSchema) -> Iterator[str]:
    """The options that one stands for whose ``#`` is a column, or what it holds."""
    for column in schema.columns:
        if column.is_physical:
            yield from (key.replace("#", path) for path in _paths(column.name, column.data_type))


def _paths(name: str, t: LogicalType | None) -> Iterator[str]:
    """A column's name, and those of what it holds."""
    yield name
    if t is None:
        return
    parts = {"ARRAY": ("element",), "MULTISET": ("element",), "MAP": ("key", "value")}.get(t.root, ())
    inner = [*zip(parts, t.children, strict=False), *((f.name, f.type) for f in t.fields)]
    for part, of in inner:
        yield from _paths(f"{name}.{part}", of)


def _add(key: str) -> str:
    return f"add it to WITH: '{key}' = '…'"


def _of_options(
    name: str, options: Options, schema: ResolvedSchema, connector: Connector, declared: Sequence[Option]
) -> Iterator[Problem]:
    known = {
        key: option
        for option in declared
        for key in (_of_columns(option.key, schema) if "#" in option.key else (option.key,))
    }
    known |= {option.key: option for each in declared for option in each.listed}
    prefixes = (
        *_format_prefixes(options, connector),
        *(o.key.removesuffix("*") for o in declared if o.key.endswith(".*")),
        *(f"{part}." for part in _parts(connector, options)),
    )
    names_no_parts = connector.parts is not None and not connector.parts(options)
    for key in options:
        if key not in known and key != CHANGELOG and not key.startswith(prefixes) and not names_no_parts:
            message = f"the connector '{connector.name}' has no option '{key}'"
            yield Problem(key, message, did_you_mean(key, known))
    yield from _of_values(options, known)
    for option in declared:
        if option.required and option.key not in options:
            yield Problem("", f"the table '{name}' has no option '{option.key}'", _add(option.key))


def _of_values(options: Options, known: Mapping[str, Option]) -> Iterator[Problem]:
    for key, value in options.items():
        if key in known and "${" not in value:  # what a variable will be, only the run knows
            try:
                named(known[key], key).check(value)
            except FlinkplanError as error:
                yield Problem(key, error.message, error.hint)


def _format_prefixes(options: Options, connector: Connector) -> Iterator[str]:
    """What the options of formats begin with that a table may have."""
    return (option_prefix(key, name) for key in connector.formats if key in options for name in FORMATS)


def _of_format(named_by: str, options: Options, as_sink: bool) -> Iterator[Problem]:
    name = options[named_by]
    if name not in FORMATS:
        if "${" not in name:
            yield Problem(named_by, f"there is no format '{name}'", did_you_mean(name, FORMATS))
        return
    declared = FORMATS[name].options
    if declared is None:
        return
    prefix = option_prefix(named_by, name)
    known = {f"{prefix}{option.key}": option for option in declared}
    for key in options:
        if key.startswith(prefix) and key not in known and f"{prefix}*" not in known:
            yield Problem(key, f"the format '{name}' has no option '{key}'", did_you_mean(key, known))
    yield from _of_values(options, known)
    yield from _together(prefix, options, as_sink)


def _together(prefix: str, options: Options, as_sink: bool) -> Iterator[Problem]:
    def is_on(option: str) -> bool:
        return is_true(options.get(f"{prefix}{option}"))

    if is_on("ignore-parse-errors") and is_on("fail-on-missing-field") and not as_sink:
        yield _apart(f"{prefix}fail-on-missing-field", f"{prefix}ignore-parse-errors")
    if is_on("disable-quote-character") and f"{prefix}quote-character" in options:
        yield _apart(f"{prefix}quote-character", f"{prefix}disable-quote-character")
    if is_on("schema-include") and as_sink:
        key = f"{prefix}schema-include"
        yield Problem(key, f"'{key}' is for reading: no schema can be written", "leave it out")


def _apart(option: str, other: str) -> Problem:
    return Problem(option, f"'{option}' and '{other}' do not go together", "leave one of them out")
