"""The directories of lake tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...plan.files import Place
from ..connectors.tables import Table


def directory_of(table: Table, option: str) -> Place:
    """The directory of a table, by the option that names it: its absolute path, or a URI without the last slash."""
    place = Place.of(table.options[option])
    return Place(place.name.rstrip("/") if place.local is None else str(place.local.absolute()))


def root_of(table: Table, option: str) -> Path:
    """The directory of a table, by the option that names it: local, which was checked."""
    local = directory_of(table, option).local
    assert local is not None, "it was checked"
    return local


def columns_text(types: Mapping[str, str]) -> str:
    """Columns with their types, for people."""
    return ", ".join(f"{name} {t}" for name, t in types.items())
