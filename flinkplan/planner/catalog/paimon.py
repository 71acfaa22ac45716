"""The tables of a Paimon catalog whose metastore is its warehouse, a local directory.

Sources: ``FileSystemCatalog``, ``SchemaManager`` and ``DataTypeJsonParser`` of Apache Paimon.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...plan.connectors.paimon import PAIMON, is_property
from ...plan.files import Place
from ...plan.options import option_of

WAREHOUSE, METASTORE = "warehouse", "metastore"
_DATABASE = ".db"
_SCHEMA = re.compile(r"schema-(\d+)")
_ATOMIC = re.compile(r"[A-Z_]+(\(\d+(, ?\d+)?\))?( WITH LOCAL TIME ZONE)?( NOT NULL)?")


def table_path(catalog: Mapping[str, str], database: str, table: str) -> str | None:
    """The directory of a table; ``None``: another metastore than the warehouse knows it."""
    if WAREHOUSE not in catalog or catalog.get(METASTORE, "filesystem") != "filesystem":
        return None
    return f"{catalog[WAREHOUSE].rstrip('/')}/{database}{_DATABASE}/{table}"


def definitions(name: str, catalog: Mapping[str, str]) -> str:
    """CREATE TABLE statements of the tables that there are in the warehouse of a catalog, as far as Flink has types."""
    local = Place.of(catalog[WAREHOUSE]).local if table_path(catalog, "", "") else None
    if local is None or not local.is_dir():
        return ""
    return "\n".join(_definitions(name, local))


def _definitions(name: str, warehouse: Path) -> Iterator[str]:
    for database in sorted(warehouse.glob(f"*{_DATABASE}")):
        for folder in sorted(database.iterdir()):
            schema = _latest_schema(folder)
            if schema is not None and (columns := _columns(schema)) is not None:
                table = ".".join(map(_quoted, (name, database.name.removesuffix(_DATABASE), folder.name)))
                yield f"CREATE TABLE {table} {_text(schema, columns)};"


def _latest_schema(folder: Path) -> Mapping[str, Any] | None:
    matches = (_SCHEMA.fullmatch(path.name) for path in (folder / "schema").glob("schema-*"))
    numbers = [int(match[1]) for match in matches if match]
    if not numbers:
        return None
    try:
        schema = json.loads((folder / "schema" / f"schema-{max(numbers)}").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return schema if isinstance(schema, dict) else None


def _columns(schema: Mapping[str, Any]) -> list[str] | None:
    """The columns as CREATE TABLE has them; ``None``: one of them has a type that Flink does not have."""
    columns = []
    for field in schema.get("fields", ()):
        type_ = _type(field["type"])
        if type_ is None:
            return None
        comment = f" COMMENT {_literal(field['description'])}" if field.get("description") else ""
        columns.append(f"{_quoted(field['name'])} {type_}{comment}")
    return columns or None


def _type(declared: Any) -> str | None:
    if isinstance(declared, str):
        known = _ATOMIC.fullmatch(declared) and not declared.startswith(("BLOB", "VECTOR"))
        return declared if known else None
    root, _, nullability = str(declared.get("type")).partition(" ")
    parts = {
        "ARRAY": ("element",),
        "MULTISET": ("element",),
        "MAP": ("key", "value"),
    }.get(root)
    if parts is not None:
        arguments = [_type(declared[part]) for part in parts]
    elif root == "ROW":
        types = [(field["name"], _type(field["type"])) for field in declared["fields"]]
        arguments = [type_ and f"{_quoted(name)} {type_}" for name, type_ in types]
    else:
        return None
    if None in arguments:
        return None
    return f"{root}<{', '.join(map(str, arguments))}>{' NOT NULL' if nullability == 'NOT NULL' else ''}"


def _text(schema: Mapping[str, Any], columns: list[str]) -> str:
    key = ", ".join(map(_quoted, schema.get("primaryKeys") or ()))
    partitions = ", ".join(map(_quoted, schema.get("partitionKeys") or ()))
    options = {key: value for key, value in (schema.get("options") or {}).items() if _is_known(key)}
    parts = [f"({', '.join([*columns, *([f'PRIMARY KEY ({key}) NOT ENFORCED'] if key else [])])})"]
    if schema.get("comment"):
        parts.append(f"COMMENT {_literal(schema['comment'])}")
    if partitions:
        parts.append(f"PARTITIONED BY ({partitions})")
    if options:
        parts.append(f"WITH ({', '.join(f'{_literal(k)} = {_literal(v)}' for k, v in options.items())})")
    return " ".join(parts)


def _is_known(key: str) -> bool:
    """Whether a property of a table is declared; Paimon itself knows the others."""
    option = option_of(key, PAIMON.options or ())
    return is_property(key) and option is not None and option.is_executed


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _literal(text: str) -> str:
    return "'" + str(text).replace("'", "''") + "'"
