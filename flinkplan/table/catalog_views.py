"""The rows of SHOW and DESCRIBE."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ..plan.errors import PARSE, TABLE, VALIDATION, PlanError, UnsupportedError
from ..plan.findings import did_you_mean, nearest
from ..plan.secrets import masked
from ..plan.specs import Column, ResolvedSchema
from ..plan.types import LogicalType

if TYPE_CHECKING:
    from ..plan.functions.user import UserFunction
    from ..planner.catalog.catalog import Catalog, Table, View
    from ..planner.sql.ast import Describe, Name, Show

T = TypeVar("T", "Table", "View")

BOOLEANS = frozenset(("null", "used"))
"""The columns that hold TRUE and FALSE; all others hold texts."""

Row = tuple[str | None, ...]
Rows = list[Row]
Content = tuple[tuple[str, ...], Rows]
"""The column names and the rows."""


def show(catalog: Catalog, statement: Show) -> Content:
    """The rows of a SHOW.  Raises :class:`UnsupportedError` for an unsupported object, an error for a missing name."""
    list_objects = _SHOW.get(statement.what)
    if list_objects is None:
        hint = nearest(statement.what, _SHOW) or f"supported are SHOW {', '.join(_SHOW)}"
        raise UnsupportedError(f"SHOW {statement.what} is not supported", where=statement.span.location, hint=hint)
    names, rows = list_objects(catalog, statement)
    return names, _matching(rows, statement)


def _matching(rows: Rows, statement: Show) -> Rows:
    """The rows whose first cell is LIKE the pattern, or ILIKE it."""
    if statement.pattern is None:
        return rows
    pattern = "".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in statement.pattern)
    like = re.compile(pattern, re.DOTALL | (re.IGNORECASE if statement.ignores_case else 0))
    return [row for row in rows if bool(like.fullmatch(row[0] or "")) != statement.negated]


def _objects(catalog: Catalog, statement: Show) -> list[Table | View]:
    return catalog.objects_of(*_database(catalog, statement))


def _database(catalog: Catalog, statement: Show) -> tuple[str, str]:
    """The database that a SHOW names, or the current one."""
    if statement.name is None:
        return catalog.current_catalog, catalog.current_database
    key = catalog.qualify_database(statement.name.names)
    catalog.check_catalog(key[0])
    if key not in catalog.databases and key[0] not in catalog.external:
        from ..planner.catalog.catalog import CatalogError

        known = [name for owner, name in catalog.databases if owner == key[0]]
        raise CatalogError(
            f"there is no database '{statement.name}'",
            hint=did_you_mean(key[1], known),
            in_flink=f"Database '{key[0]}'.'{key[1]}' doesn't exist.",
        )
    return key


def _tables(catalog: Catalog, statement: Show) -> Content:
    return ("table name",), [(item.identifier.name,) for item in _objects(catalog, statement)]


def _views(catalog: Catalog, statement: Show) -> Content:
    from ..planner.catalog.catalog import View

    views = [item for item in _objects(catalog, statement) if isinstance(item, View)]
    return ("view name",), [(view.identifier.name,) for view in views]


def _columns(catalog: Catalog, statement: Show) -> Content:
    return describe_object(_existing(catalog, _required_name(statement)))


def _create_table(catalog: Catalog, statement: Show) -> Content:
    from ..planner.catalog.catalog import Table
    from ..planner.ddl.text import create_table_text

    return ("result",), [(create_table_text(_shown(catalog, statement, Table)),)]


def _create_view(catalog: Catalog, statement: Show) -> Content:
    from ..planner.catalog.catalog import View
    from ..planner.ddl.text import create_view_text

    return ("result",), [(create_view_text(_shown(catalog, statement, View)),)]


def _shown(catalog: Catalog, statement: Show, kind: type[T]) -> T:
    """The table or view of a SHOW CREATE."""
    name = _required_name(statement)
    item = catalog.find(name.names)
    wanted, other = ("table", "view") if statement.what == "CREATE TABLE" else ("view", "table")
    if item is None:
        known = did_you_mean(name.names[-1], catalog.names())
        missing = f"Could not execute {statement.what.replace('CREATE', 'SHOW CREATE')}. "
        missing += f"{wanted.capitalize()} with identifier {catalog.qualify(name.names)} does not exist."
        error = PlanError(f"there is no {wanted} '{name}'", where=name.span.location, hint=known)
        error.in_flink = (VALIDATION, missing)
        raise error
    if not isinstance(item, kind):
        error = PlanError(f"'{name}' is a {other}, not a {wanted}", where=name.span.location)
        error.in_flink = (
            TABLE,
            f"SHOW CREATE {wanted.upper()} is only supported for {wanted}s, but {item.identifier} is a {other}. "
            f"Please use SHOW CREATE {other.upper()} instead.",
        )
        raise error
    return item


def _databases(catalog: Catalog, statement: Show) -> Content:
    owner = catalog.current_catalog
    if statement.name is not None:
        if len(statement.name.names) > 1:
            raise _syntax_error(
                statement.name,
                f"'{statement.name}' has too many parts; a catalog has one",
                f"Show databases from/in identifier [ {statement.name} ] format error, catalog must be a single part "
                "identifier.",
            )
        owner = statement.name.names[0]
        catalog.check_catalog(owner)
    return ("database name",), [(name,) for catalog_name, name in sorted(catalog.databases) if catalog_name == owner]


def _functions(catalog: Catalog, statement: Show) -> Content:
    from ..plan.functions.listing import listed_functions
    from ..planner.catalog.modules import CORE

    listed = listed_functions().values() if CORE in catalog.modules.used else ()
    return ("function name",), [(function.name,) for function in listed]


def _user_functions(catalog: Catalog, statement: Show) -> Content:
    """The functions of the session and those of a database."""
    names = statement.name.names if statement.name else (catalog.current_catalog, catalog.current_database)
    home = catalog.qualify_database(names)
    functions = catalog.functions
    registered = {**functions.permanent, **functions.temporary}
    own = [i.name for i in registered if (i.catalog, i.database) == home]
    return ("function name",), [(name,) for name in sorted([*functions.system, *own])]


def _create_catalog(catalog: Catalog, statement: Show) -> Content:
    from ..planner.ddl.text import create_catalog_text

    name = _required_name(statement).names[-1]
    return ("result",), [(create_catalog_text(name, catalog.created_catalog(name)),)]


def _full_modules(catalog: Catalog, statement: Show) -> Content:
    return ("module name", "used"), [(name, str(is_used).upper()) for name, is_used in catalog.modules.rows()]


def _syntax_error(name: Name, message: str, in_flink: str) -> PlanError:
    error = PlanError(message, where=name.span.location)
    error.in_flink = (PARSE, in_flink)
    return error


def _procedures(catalog: Catalog, statement: Show) -> Content:
    error = UnsupportedError("SHOW PROCEDURES is not supported", where=statement.span.location)
    error.in_flink = (
        "java.lang.UnsupportedOperationException",
        "listProcedures is not implemented for class org.apache.flink.table.catalog.GenericInMemoryCatalog.",
    )
    raise error


def _fixed(head: str, *rows: str) -> Callable[[Catalog, Show], Content]:
    return lambda catalog, statement: ((head,), [(row,) for row in rows])


def _partitions(catalog: Catalog, statement: Show) -> Content:
    from ..planner.catalog.catalog import Table
    from ..planner.catalog.partitions import partition_name
    from ..planner.ddl.partitions import partition_spec

    table = catalog.get(_required_name(statement).names, Table)
    keys = table.resolved.partition_keys or ()
    specs = catalog.partitions.within(table.identifier, keys, partition_spec(statement.partition))
    return ("partition name",), [(partition_name(keys, spec),) for spec in specs]


_SHOW: dict[str, Callable[[Catalog, Show], Content]] = {
    "TABLES": _tables,
    "VIEWS": _views,
    "COLUMNS": _columns,
    "CREATE TABLE": _create_table,
    "CREATE VIEW": _create_view,
    "DATABASES": _databases,
    "CATALOGS": lambda catalog, _: (("catalog name",), [(name,) for name in sorted(catalog.catalogs)]),
    "CURRENT DATABASE": lambda catalog, _: (("current database name",), [(catalog.current_database,)]),
    "CURRENT CATALOG": lambda catalog, _: (("current catalog name",), [(catalog.current_catalog,)]),
    "FUNCTIONS": _functions,
    "USER FUNCTIONS": _user_functions,
    "CREATE CATALOG": _create_catalog,
    "MODULES": lambda catalog, _: (("module name",), [(name,) for name in catalog.modules.used]),
    "FULL MODULES": _full_modules,
    "PARTITIONS": _partitions,
    "PROCEDURES": _procedures,
    "MODELS": _fixed("model name"),
    "JARS": _fixed("jars"),
}


def _required_name(statement: Show) -> Name:
    if statement.name is None:
        raise PlanError(f"SHOW {statement.what} needs a name", where=statement.span.location)
    return statement.name


def describe(catalog: Catalog, statement: Describe) -> Content:
    """The rows of a DESCRIBE, as Flink prints them.

    Raises :class:`PlanError` for an unknown table or view, :class:`UnsupportedError` for another kind of object.
    """
    if statement.kind == "CATALOG":
        return _describe_catalog(catalog, statement)
    if statement.kind == "FUNCTION":
        return _describe_function(catalog, statement)
    if statement.kind != "TABLE":
        raise UnsupportedError(f"DESCRIBE {statement.kind} is not supported", where=statement.span.location)
    return describe_object(_existing(catalog, statement.name))


_INFO = ("info name", "info value")


def _describe_catalog(catalog: Catalog, statement: Describe) -> Content:
    name = statement.name.names[-1]
    properties = catalog.created_catalog(name)
    options = dict(sorted(properties.options.items()))
    rows: Rows = [("name", name), ("type", options.pop("type", None)), ("comment", properties.comment)]
    if statement.extended:
        rows += [(f"option:{key}", masked(key, value)) for key, value in options.items()]
    return _INFO, rows


def _describe_function(catalog: Catalog, statement: Describe) -> Content:
    """A function: whose it is, and the class of one of a catalog."""
    from ..plan.functions.listing import listed_functions

    names = statement.name.names
    registered = catalog.functions.registered(names, catalog.qualify(names))
    rows: Rows
    if registered is None:
        listed = listed_functions().get(names[0].lower()) if len(names) == 1 else None
        if listed is None:
            hint = did_you_mean(names[-1].lower(), catalog.functions.names())
            error = PlanError(f"there is no function '{statement.name}'", where=statement.name.span.location, hint=hint)
            quoted = ".".join(f"`{name}`" for name in names)
            error.in_flink = (VALIDATION, f"Function with the identifier '{quoted}' doesn't exist.")
            raise error
        rows = [("is system function", "true"), ("is temporary", "false")]
        if statement.extended:
            rows += [
                ("kind", listed.kind),
                ("requirements", "[]"),
                ("is deterministic", str(listed.is_deterministic).lower()),
                ("supports constant folding", "true"),
                ("signature", "\n".join(f"{names[0]}{arguments}" for arguments in listed.arguments)),
            ]
        return _INFO, rows
    function, is_system = registered
    rows = [
        ("is system function", str(is_system).lower()),
        ("is temporary", str(not function.is_permanent).lower()),
    ]
    if not is_system:
        uris = ", ".join(f"ResourceUri{{resourceType=JAR, uri='{jar}'}}" for jar in function.resources)
        rows += [
            ("class name", function.path),
            ("function language", "JAVA" if function.is_java else "PYTHON"),
            ("resource uris", f"[{uris}]"),
        ]
    if statement.extended:
        name = names[0] if is_system else catalog.qualify(names).summary
        rows += _declared(catalog.find_function(names), name, statement)
    return _INFO, rows


def _declared(function: UserFunction | None, name: str, statement: Describe) -> Rows:
    """What the code of a function says of it."""
    from ..plan.functions.java import JavaDeclaration
    from ..plan.types.readable import readable

    declaration = getattr(function, "declaration", None)
    if not isinstance(declaration, JavaDeclaration) or declaration.signatures is None:
        message = "DESCRIBE FUNCTION EXTENDED is only supported for functions in Java that declare their types"
        raise UnsupportedError(message, where=statement.span.location)
    signatures = []
    for signature in declaration.signatures:
        types = ["ANY" if t is None else readable(t.nullable_().text) for t in signature.arguments]
        argument_names = signature.names or tuple(f"arg{i}" for i in range(len(types)))
        arguments = [f"{argument} => {t}" for argument, t in zip(argument_names, types, strict=True)]
        signatures.append(f"{name}({', '.join(arguments)})")
    return [
        ("kind", declaration.kind.value.upper()),
        ("requirements", f"[{', '.join(declaration.requirements)}]"),
        ("is deterministic", str(declaration.deterministic).lower()),
        ("supports constant folding", str(declaration.folds_constants).lower()),
        ("signature", "\n".join(signatures)),
    ]


def _existing(catalog: Catalog, name: Name) -> Table | View:
    item = catalog.find(name.names)
    if item is None:
        hint = did_you_mean(name.names[-1], catalog.names())
        error = PlanError(f"there is no table or view '{name}'", where=name.span.location, hint=hint)
        summary = catalog.qualify(name.names).summary
        error.in_flink = (VALIDATION, f"Tables or views with the identifier '{summary}' doesn't exist.")
        raise error
    return item


def describe_object(item: Table | View) -> Content:
    """The columns of a table or view; the column of comments is left out if there are none."""
    from ..planner.catalog.catalog import Table

    if isinstance(item, Table):
        schema = item.resolved.schema
        rows = [_described(column, schema) for column in schema.columns]
    else:
        rows = [_cells(f.name, f.type) for f in item.row_type.fields]
    names = ("name", "type", "null", "key", "extras", "watermark", "comment")
    width = len(names) if any(row[-1] for row in rows) else len(names) - 1
    return names[:width], [row[:width] for row in rows]


def _described(column: Column, schema: ResolvedSchema) -> Row:
    from ..planner.ddl.text import metadata_text

    key = schema.primary_key
    watermark = next((w for w in schema.watermark_specs or () if w.rowtime_attribute == column.name), None)
    extras: str | None = metadata_text(column).strip() or None
    column_type = column.data_type
    if column.expression is not None:
        extras = f"AS {column.expression.serializable_string}"
        column_type = column.expression.rex_node.type
    assert column_type is not None
    return _cells(
        column.name,
        column_type,
        f"PRI({', '.join(key.columns)})" if key and column.name in key.columns else None,
        extras,
        watermark.expression.serializable_string if watermark else None,
        column.comment,
    )


def _cells(
    name: str,
    column_type: LogicalType,
    key: str | None = None,
    extras: str | None = None,
    watermark: str | None = None,
    comment: str | None = None,
) -> Row:
    from ..plan.types.readable import readable

    nullable = str(column_type.nullable).upper()
    return name, readable(str(column_type.nullable_())), nullable, key, extras, watermark, comment
