"""The options of a CREATE CATALOG of a catalog in memory.

Source: Flink's ``GenericInMemoryCatalogFactory`` and ``FactoryUtil``.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.errors import VALIDATION, FlinkplanError, UnsupportedError
from ...plan.findings import did_you_mean
from ..sql.errors import snippet
from ..sql.source import Span
from .catalog import DEFAULT_DATABASE_OPTION
from .errors import CatalogError
from .external import EXTERNAL, IN_MEMORY, TYPE

_TYPES = (IN_MEMORY, *EXTERNAL)
_OPTIONS = (DEFAULT_DATABASE_OPTION, "property-version")


def check_catalog_options(options: Mapping[str, str], span: Span) -> None:
    """Raise :class:`FlinkplanError` for options that no catalog can be created with; ``span`` is the statement."""
    kind = options.get(TYPE)
    error: FlinkplanError
    if kind is None:
        message = "Catalog options do not contain an option key 'type' for discovering a catalog."
        raise CatalogError("the catalog has no 'type'", hint=f"WITH ('type' = '{IN_MEMORY}')", in_flink=message)
    if kind != IN_MEMORY:
        error = UnsupportedError(
            f"a catalog of the type '{kind}' is not supported",
            where=span.location,
            hint=did_you_mean(kind, _TYPES) or f"there are {', '.join(_TYPES)}",
            snippet=snippet(span),
        )
        error.in_flink = (
            VALIDATION,
            f"Could not find any factory for identifier '{kind}' that implements "
            f"'org.apache.flink.table.factories.CatalogFactory' in the classpath.\n\nAvailable factory identifiers "
            f"are:\n\n{IN_MEMORY}",
        )
        raise error
    unknown = sorted(options.keys() - {"type", *_OPTIONS})
    if unknown:
        listed = "\n".join(unknown)
        raise CatalogError(
            f"a catalog of the type '{IN_MEMORY}' has no option '{unknown[0]}'",
            hint=did_you_mean(unknown[0], _OPTIONS),
            in_flink=f"Unsupported options found for '{IN_MEMORY}'.\n\nUnsupported options:\n\n{listed}\n\n"
            "Supported options:\n\n" + "\n".join(_OPTIONS),
        )
