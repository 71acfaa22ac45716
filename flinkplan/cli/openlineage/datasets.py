"""The names of tables as datasets of OpenLineage, by which its readers know that two jobs use the same data.

Source: OpenLineage's page "Naming conventions".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlparse

from ...plan.secrets import without_secrets
from ...plan.specs import ContextResolvedTable
from ...plan.tables import replace_variables


class DatasetName(NamedTuple):
    """Where a dataset is, and its name there."""

    namespace: str
    name: str


def dataset_name(table: ContextResolvedTable, variables: Mapping[str, str], default_namespace: str) -> DatasetName:
    """The dataset that a table is connected to; by the table's own name where its connector has no place of its own.

    Variables without a value stay in the name.
    """
    options = replace_variables(table.options, variables)
    place = _place(table.connector or "", options)
    namespace, name = place or (default_namespace, ".".join(_parts(table.identifier)))
    return DatasetName(without_secrets(namespace), without_secrets(name))


def _parts(identifier: str) -> list[str]:
    return re.findall(r"`((?:[^`]|``)*)`", identifier) or [identifier]


def _place(connector: str, options: Mapping[str, str]) -> tuple[str, str] | None:
    if connector in ("kafka", "upsert-kafka"):
        servers, topic = (
            options.get("properties.bootstrap.servers"),
            options.get("topic") or options.get("topic-pattern"),
        )
        return (f"kafka://{servers.split(',')[0].strip()}", topic) if servers and topic else None
    if connector == "filesystem":
        return _file(options["path"]) if options.get("path") else None
    if connector == "jdbc":
        return _database(options.get("url", ""), options.get("table-name", ""))
    if connector in _CDC and options.get("hostname"):
        scheme, port = _CDC[connector]
        place = f"{scheme}://{options['hostname']}:{options.get('port', port)}"
        parts = (options.get("database-name"), options.get("schema-name"), options.get("table-name"))
        return place, ".".join(filter(None, parts))
    return None


_CDC = {"mysql-cdc": ("mysql", "3306"), "postgres-cdc": ("postgres", "5432")}


def _file(path: str) -> tuple[str, str]:
    uri = urlparse(path)
    if uri.scheme in ("", "file") or path.startswith("$"):
        local = uri.path if uri.scheme else path
        return "file", local if local.startswith("$") else str(Path(local).absolute())
    scheme = {"s3a": "s3", "s3n": "s3"}.get(uri.scheme, uri.scheme)
    return f"{scheme}://{uri.netloc}", uri.path.strip("/") or "/"


_SCHEMES = {"postgresql": "postgres"}
_DEFAULT_PORTS = {"postgres": 5432, "mysql": 3306}


def _database(url: str, table: str) -> tuple[str, str] | None:
    match = re.fullmatch(r"jdbc:(\w+):(?://(?:[^@/]*@)?([^/?;]+)/([^?;]*)|([^?;]*)).*", url)
    if match is None or not table:
        return None
    kind, authority, database, place = match.groups()
    scheme = _SCHEMES.get(kind, kind)
    if authority is None:
        return f"{scheme}:{place}", table
    port = _DEFAULT_PORTS.get(scheme)
    host = authority if ":" in authority or port is None else f"{authority}:{port}"
    qualified = f"public.{table}" if scheme == "postgres" and "." not in table else table
    return f"{scheme}://{host}", f"{database}.{qualified}"
