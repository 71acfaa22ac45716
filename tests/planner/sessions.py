"""Sessions with what many statements have before them, applied once."""

from __future__ import annotations

from flinkplan.plan.record import replace
from flinkplan.planner.session import Session


def copied(before: Session) -> Session:
    """A session of its own that begins where another one is."""
    made = Session(before.config)
    catalog = before.catalog
    made.catalog = replace(
        catalog,
        objects=dict(catalog.objects),
        temporary=dict(catalog.temporary),
        databases=dict(catalog.databases),
        catalogs=dict(catalog.catalogs),
        faulty=set(),
        expansions={},
    )
    return made
