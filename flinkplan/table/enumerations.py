"""Small names of PyFlink's that its other modules speak of: modules, SQL dialects, kinds of changelogs."""

from __future__ import annotations

from ..plan.record import Record
from ..udf.changelog_mode import ChangelogMode

__all__ = ["ChangelogMode", "ModuleEntry", "SqlDialect"]


class ModuleEntry(Record):
    """A module, and whether it is used."""

    module_name: str
    is_used: bool

    def name(self) -> str:
        """The module's name."""
        return self.module_name

    def used(self) -> bool:
        """Whether names of functions are looked up in it."""
        return self.is_used


class SqlDialect:
    """The dialects of SQL; statements are in the default one."""

    DEFAULT = 0
    HIVE = 1
