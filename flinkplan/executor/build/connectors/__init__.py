"""How tables are read and written, found by the option ``connector``: one module each, which registers its own."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from ...connectors.tables import Table
from .base import TableBuilder, registered

__all__ = ["TableBuilder", "builder_of"]


@cache
def _builders() -> Mapping[str, TableBuilder]:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return registered()


def builder_of(table: Table) -> TableBuilder:
    """What reads and writes a table whose connector is executed."""
    return _builders()[table.options["connector"]]
