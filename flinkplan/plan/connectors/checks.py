"""Checks of a table's options, for the planner, ``validate`` and the executor."""

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
    """What Flink refuses in the options of a table with this name and schema, which is read or (as a sink) written."""
    connector = options.get("connector")
    if connector is None:
        yield Problem("connector", f"the table '{name}' has no option 'connector'", _add("connector"))
        return
    if CHANGELOG in options:
        try:
            parse_kinds(options[CHANGELOG])
        except FlinkplanError as error:
            yield Problem(CHANGELOG, error.message, error.hint)
    declared = CONNECTORS.get(connector)
    if declared is None:
        like = did_you_mean(connector, CONNECTORS)
        if like is not None and CHANGELOG not in options:
            hint = f"{like} If it is one of your own, say which changes it has: '{CHANGELOG}' = 'I'"
            yield Problem("connector", f"there is no connector '{connector}'", hint)
        return
    if (declared.sink if as_sink else declared.source) is None:
        able, unable = ("read", "written to") if as_sink else ("written to", "read")
        yield Problem("", f"'{name}' cannot be {unable}: a table of '{connector}' is only {able}")
    if declared.options is not None:
        yield from _option_problems(name, options, schema, declared, declared.options)
        for key in declared.formats:
            if key in options:
                yield from _format_problems(key, options, as_sink)
        if declared.problems is not None:
            yield from declared.problems(options, schema, as_sink)
        for part, part_options in _single(declared, options):
            messages = problems(f"{name}, {part}", part_options, schema, as_sink)
            yield from (_within(part, problem) for problem in messages)


def _parts(connector: Connector | None, options: Options) -> Mapping[str, Options]:
    """The options of the tables that a table consists of, by name."""
    return connector.parts(options) if connector is not None and connector.parts is not None else {}


def _single(connector: Connector | None, options: Options) -> Iterator[tuple[str, Options]]:
    """The parts that do not consist of other tables themselves."""
    outer = options.get("connector")
    yield from ((name, part) for name, part in _parts(connector, options).items() if part.get("connector") != outer)


def _within(part: str, problem: Problem) -> Problem:
    return Problem(problem.key and f"{part}.{problem.key}", f"source '{part}': {problem.message}", problem.hint)


def exposed(options: Options) -> Iterator[Problem]:
    """The secrets in plain text in a table's options, whose variables have not been replaced."""
    connector = CONNECTORS.get(options.get("connector", ""))
    for key in _secret_keys(connector, options):
        if key in options and "${" not in options[key]:
            hint = f"write a variable, '{key}' = '${{NAME}}', and say what it is when the plan is executed"
            yield Problem(key, f"'{key}' is a secret, and a plan is no place for it", hint)
    for part, part_options in _single(connector, options):
        yield from (_within(part, problem) for problem in exposed(part_options))
    for key, value in options.items() if connector and connector.secrets else ():
        if holds_secret(value):
            hint = "give it by an option of its own, or as a variable"
            yield Problem(key, f"a password stands in '{key}', and a plan is no place for it", hint)


def _secret_keys(connector: Connector | None, options: Options) -> Iterator[str]:
    """The keys of a connector's secrets and of those of its formats."""
    if connector is None:
        return
    yield from connector.secrets
    for named_by in connector.formats:
        if (format_ := FORMATS.get(options.get(named_by, ""))) is not None:
            yield from (f"{option_prefix(named_by, format_.name)}{key}" for key in format_.secrets)


def unlisted(options: Options, written: Options) -> Iterator[Problem]:
    """The options that Flink accepts and flinkplan refuses to execute; ``written`` are the options with variables.

    They would be passed to Spark, Hadoop or the client of a broker, where such options can load classes, run commands
    and delete files; a plan is untrusted.
    """
    connector = CONNECTORS.get(options.get("connector", ""))
    if connector is None or not connector.executed:
        return
    yield from _chosen_servers(connector, options, written)
    for part, part_options in _single(connector, options):
        unlisted_options = unlisted(part_options, _parts(connector, written).get(part, {}))
        yield from (_within(part, problem) for problem in unlisted_options)
    for key in options:
        option, executed_keys = _declared(key, options, connector)
        if option is None:
            continue
        if option.refused is not None:
            suggestion = did_you_mean(key, executed_keys) if option.key.endswith("*") else None
            hint = suggestion or "leave it out; docs/connectors.md lists the options that are executed"
            yield Problem(key, f"'{shortened(key)}' is not executed here: {option.refused}", hint)
        elif option.by_user and not _VARIABLE.fullmatch(written.get(key, "")):
            hint = f"write a variable, '{key}' = '${{NAME}}', and say what it is when the plan is executed"
            yield Problem(key, f"'{key}' is for the user to say, not for a plan", hint)


def _chosen_servers(connector: Connector, options: Options, written: Options) -> Iterator[Problem]:
    """The servers, chosen by a plan, to which formats would send secrets of the user."""
    for named_by in connector.formats:
        format_ = FORMATS.get(options.get(named_by, ""))
        if format_ is None:
            continue
        prefix = option_prefix(named_by, format_.name)
        if any(f"{prefix}{key}" in options for key in format_.secrets):
            for key in (f"{prefix}{server}" for server in format_.servers):
                if key in options and not _VARIABLE.fullmatch(written.get(key, "")):
                    hint = f"write a variable, '{key}' = '${{NAME}}', and say what it is when the plan is executed"
                    yield Problem(key, f"'{key}', where secrets are sent, is for the user to say, not for a plan", hint)


def unnamed_databases(options: Options, written: Options, folders: Sequence[str]) -> Iterator[Problem]:
    """The databases that a table opens in folders that the user has not named: see :func:`.is_named_by_user`."""
    connector = CONNECTORS.get(options.get("connector", ""))
    for part, part_options in _single(connector, options):
        unnamed = unnamed_databases(part_options, _parts(connector, written).get(part, {}), folders)
        yield from (_within(part, problem) for problem in unnamed)
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
    """The option of the connector or of a format that declares a key, and the executed keys beside it."""
    for named_by in connector.formats:
        format_ = FORMATS.get(options.get(named_by, ""))
        prefix = option_prefix(named_by, format_.name) if format_ else ""
        if format_ is not None and format_.options is not None and key.startswith(prefix):
            option = option_of(key.removeprefix(prefix), format_.options)
            return option, [f"{prefix}{other.key}" for other in format_.options if other.is_executed]
    declared = connector.options or ()
    all_options = (*declared, *(listed for option in declared for listed in option.listed))
    return option_of(key, declared), [option.key for option in all_options if option.is_executed]


def _column_keys(key: str, schema: ResolvedSchema) -> Iterator[str]:
    """The keys for which an option with ``#`` stands: one for each column and each value within a column."""
    for column in schema.columns:
        if column.is_physical:
            yield from (key.replace("#", path) for path in _paths(column.name, column.data_type))


def _paths(name: str, t: LogicalType | None) -> Iterator[str]:
    """The path of a column, and the paths of the values within it."""
    yield name
    if t is None:
        return
    parts = {"ARRAY": ("element",), "MULTISET": ("element",), "MAP": ("key", "value")}.get(t.root, ())
    inner = [*zip(parts, t.children, strict=False), *((f.name, f.type) for f in t.fields)]
    for part, part_type in inner:
        yield from _paths(f"{name}.{part}", part_type)


def _add(key: str) -> str:
    return f"add it to WITH: '{key}' = '…'"


def _option_problems(
    name: str, options: Options, schema: ResolvedSchema, connector: Connector, declared: Sequence[Option]
) -> Iterator[Problem]:
    known = {
        key: option
        for option in declared
        for key in (_column_keys(option.key, schema) if "#" in option.key else (option.key,))
    }
    known |= {listed.key: listed for option in declared for listed in option.listed}
    prefixes = (
        *_format_prefixes(options, connector),
        *(o.key.removesuffix("*") for o in declared if o.key.endswith("*")),
        *(f"{part}." for part in _parts(connector, options)),
    )
    lacks_parts = connector.parts is not None and not connector.parts(options)
    for key in options:
        if key not in known and key != CHANGELOG and not key.startswith(prefixes) and not lacks_parts:
            message = f"the connector '{connector.name}' has no option '{key}'"
            yield Problem(key, message, did_you_mean(key, known))
    yield from _value_problems(options, known)
    for option in declared:
        if option.required and option.key not in options:
            yield Problem("", f"the table '{name}' has no option '{option.key}'", _add(option.key))


def _value_problems(options: Options, known: Mapping[str, Option]) -> Iterator[Problem]:
    for key, value in options.items():
        if key in known and "${" not in value:  # the value of a variable is known only when the job runs
            try:
                named(known[key], key).check(value)
            except FlinkplanError as error:
                yield Problem(key, error.message, error.hint)


def _format_prefixes(options: Options, connector: Connector) -> Iterator[str]:
    """The prefixes of the format options that a table may have."""
    return (option_prefix(key, name) for key in connector.formats if key in options for name in FORMATS)


def _format_problems(named_by: str, options: Options, as_sink: bool) -> Iterator[Problem]:
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
    others = tuple(key.removesuffix("*") for key in known if key.endswith("*"))
    for key in options:
        if key.startswith(prefix) and key not in known and not (others and key.startswith(others)):
            yield Problem(key, f"the format '{name}' has no option '{key}'", did_you_mean(key, known))
    yield from _value_problems(options, known)
    for names in FORMATS[name].needs:
        if not any(f"{prefix}{key}" in options for key in names):
            yield Problem(named_by, f"the format '{name}' needs '{prefix}{names[0]}'", _add(f"{prefix}{names[0]}"))
    yield from _combination_problems(prefix, options, as_sink)


def _combination_problems(prefix: str, options: Options, as_sink: bool) -> Iterator[Problem]:
    def is_on(option: str) -> bool:
        return is_true(options.get(f"{prefix}{option}"))

    if is_on("ignore-parse-errors") and is_on("fail-on-missing-field") and not as_sink:
        yield _exclusive(f"{prefix}fail-on-missing-field", f"{prefix}ignore-parse-errors")
    if is_on("disable-quote-character") and f"{prefix}quote-character" in options:
        yield _exclusive(f"{prefix}quote-character", f"{prefix}disable-quote-character")
    if is_on("schema-include") and as_sink:
        key = f"{prefix}schema-include"
        yield Problem(key, f"'{key}' is for reading: no schema can be written", "leave it out")


def _exclusive(option: str, other: str) -> Problem:
    return Problem(option, f"'{option}' and '{other}' do not go together", "leave one of them out")
