"""Errors of the catalog."""

from __future__ import annotations

from ...plan.errors import FlinkplanError


class CatalogError(FlinkplanError):
    """An object is missing, or exists already."""


class FaultyDefinition(CatalogError):
    """The definition of a name is wrong; statements that refer to it cannot be checked until it is fixed."""
