"""Definitions that a plan leaves to the catalog: of temporary tables, and of others where an option says so.

Source: ``ContextResolvedTableJsonSerializer`` and ``ContextResolvedTableJsonDeserializer``.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.document import Plan
from ...plan.record import replace
from ...plan.specs import Column, ContextResolvedTable, ResolvedTable
from ...plan.tables import plan_tables, with_tables
from .catalog import Catalog, CatalogError, Table

COMPILED = "table.plan.compile.catalog-objects"
RESTORED = "table.plan.restore.catalog-objects"


def reference(table: Table, resolved: ResolvedTable, config: Mapping[str, str]) -> ContextResolvedTable:
    """A table as the plan holds it: a temporary one by its name alone, others as the session says."""
    if not table.identifier.catalog:
        return ContextResolvedTable(resolved_table=resolved)
    objects = config.get(COMPILED, "ALL").upper()
    if table.temporary or objects == "IDENTIFIER":
        return ContextResolvedTable(str(table.identifier))
    if objects == "SCHEMA":
        resolved = replace(resolved, comment=None, options=None)
    return ContextResolvedTable(str(table.identifier), resolved)


def restored(plan: Plan, catalog: Catalog, config: Mapping[str, str]) -> Plan:
    """The plan with the definitions that it leaves to the catalog; tables unknown to both stay names.

    Raises :class:`CatalogError` where the plan and the catalog have different columns or keys for a table.
    """
    tables = {str(table.identifier): table for table in catalog.tables()}
    if not tables:
        return plan
    objects = config.get(RESTORED, "ALL").upper()
    return with_tables(plan, lambda held: _restored(held, tables, objects))


def check_replaces(plan: Plan, catalog: Catalog, file: str) -> None:
    """Raise :class:`CatalogError` where a script of tables misses those of the plan that it is for.

    That is so where it defines a table that the plan does not have, as long as there is one in the plan that it does
    not define: the plan would be run with what a table of almost that name is connected to.
    """
    defined = {str(table.identifier) for table in catalog.tables()}
    held = {table.identifier for _, table in plan_tables(plan)}
    unknown, left = sorted(defined - held), sorted(held - defined)
    if unknown and left:
        verb = "it replaces" if len(unknown) == 1 else "they replace"
        raise CatalogError(
            f"the plan has no table {', '.join(unknown)}, so that {verb} nothing",
            where=file,
            hint=f"the plan keeps its own definition of {', '.join(left)}: name {'it' if len(left) == 1 else 'them'} "
            f"in {file}, or take {unknown[0]} out of it",
        )


def _restored(held: ContextResolvedTable, tables: Mapping[str, Table], objects: str) -> ContextResolvedTable:
    table = tables.get(held.identifier)
    if table is None:
        return held
    complete = held.resolved_table is not None and held.resolved_table.options is not None
    if objects == "ALL_ENFORCED" and not complete and not table.temporary:
        raise CatalogError(
            f"the plan does not hold the definition of {held.identifier}, and '{RESTORED}' = 'ALL_ENFORCED'",
            hint=f"SET '{RESTORED}' = 'ALL', or compile the plan with '{COMPILED}' = 'ALL'",
        )
    if held.resolved_table is not None and _identity(held.resolved_table) != _identity(table.resolved):
        raise CatalogError(
            f"the table {held.identifier} has other columns or another key in the plan than in the catalog",
            hint="let the catalog's table have those of the plan, or compile the plan again",
        )
    if complete and objects != "IDENTIFIER":
        return held
    return replace(held, resolved_table=table.resolved)


def _identity(table: ResolvedTable) -> tuple[object, ...]:
    """The parts of a table's definition that must equal those in the plan."""

    def of(column: Column) -> tuple[object, ...]:
        return column.name, column.kind, column.data_type and str(column.data_type)

    return tuple(map(of, table.schema.columns)), table.schema.primary_key
