"""Tables of lakes as libraries read them that nobody here wrote: delta-rs, PyIceberg, and DuckDB beside each."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable
from pyiceberg.catalog import Catalog, load_catalog

EXTENSIONS = ("avro", "delta", "iceberg")


def has_duckdb() -> bool:
    """Whether DuckDB is installed with what it reads tables of lakes by."""
    return all(find_spec(f"duckdb_extension_{name}") for name in EXTENSIONS)


def delta_table(path: Path | str, version: int | None = None) -> pa.Table:
    """A Delta table as delta-rs reads it.  DuckDB must read the same rows of the newest version, if it is local."""
    table = DeltaTable(str(path), version=version).to_pyarrow_table()
    if version is None and not _is_in_store(path):
        _agree(table, f"delta_scan('{path}')")
    return table


def iceberg_table(database: Path, warehouse: Path | str, name: str, catalog: str = "default") -> pa.Table:
    """A table of a catalog in SQLite as PyIceberg reads it.  DuckDB must read the same rows, if it is local."""
    opened = iceberg_catalog(database, warehouse, catalog).load_table(name)
    table = opened.scan().to_arrow()
    if not _is_in_store(warehouse):
        _agree(table, f"iceberg_scan('{opened.metadata_location}')")
    return table


def iceberg_catalog(database: Path, warehouse: Path | str, name: str = "default") -> Catalog:
    """A catalog in SQLite.  A store is named here, since PyIceberg looks at its variables once."""
    properties = {"type": "sql", "uri": f"sqlite:///{database}", "warehouse": f"file://{warehouse}"}
    if _is_in_store(warehouse):
        properties |= {"warehouse": str(warehouse), "s3.endpoint": os.environ["AWS_ENDPOINT_URL"]}
    return load_catalog(name, **properties)


def _is_in_store(place: Path | str) -> bool:
    return "://" in str(place)


def _agree(table: pa.Table, scan: str) -> None:
    if not has_duckdb():
        return
    read = _duckdb().sql(f"SELECT * FROM {scan}").to_arrow_table()
    assert sorted(read.column_names) == sorted(table.column_names)
    assert _rows(read.select(table.column_names).cast(table.schema)) == _rows(table)


def _rows(table: pa.Table) -> list[str]:
    return sorted(repr(row) for row in table.to_pylist())


@cache
def _duckdb() -> Any:
    import duckdb

    connection = duckdb.connect()
    for name in EXTENSIONS:
        folder = find_spec(f"duckdb_extension_{name}").submodule_search_locations[0]  # type: ignore[union-attr,index]
        (extension,) = Path(folder).rglob("*.duckdb_extension")
        connection.execute(f"LOAD '{extension}'")
    return connection
