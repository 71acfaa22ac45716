"""Lake tables in local directories."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...plan.files import Place
from ..connectors.tables import Table


def root_of(table: Table, option: str) -> Path:
    """The directory of a table, by the option that names it: local, which was checked."""
    local = Place.of(table.options[option]).local
    assert local is not None, "it was checked"
    return local.absolute()


def columns_text(types: Mapping[str, str]) -> str:
    """Columns with their types, for people."""
    return ", ".join(f"{name} {t}" for name, t in types.items())
