"""The modules of a session: where its built-in functions come from.

Source: Flink's ``ModuleManager``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...plan.record import Struct, field
from .errors import CatalogError

CORE = "core"
"""The module of Flink's own functions, the only one that is there."""


class Modules(Struct):
    """The loaded modules; ``used`` are those in whose functions names are looked up, in this order."""

    loaded: list[str] = field(default_factory=lambda: [CORE])
    used: list[str] = field(default_factory=lambda: [CORE])

    def load(self, name: str, options: Mapping[str, str]) -> None:
        """Load a module.  Raises :class:`CatalogError` where it is loaded already, or there is none of the name."""
        if "type" in options:
            kind = options["type"]
            raise CatalogError(
                f"a module is chosen by its name, not by the option 'type' = '{kind}'",
                hint=f"LOAD MODULE {kind}",
                in_flink=f"Option 'type' = '{kind}' is not supported since module name is used to find module",
            )
        if name in self.loaded:
            message = f"A module with name '{name}' already exists"
            raise CatalogError(f"the module '{name}' is loaded already", in_flink=message)
        if name != CORE:
            raise CatalogError(
                f"there is no module '{name}'",
                hint=f"there is '{CORE}'",
                in_flink=f"Could not find any factory for identifier '{name}' that implements "
                "'org.apache.flink.table.factories.ModuleFactory' in the classpath.\n\nAvailable factory identifiers "
                f"are:\n\n{CORE}",
            )
        self.loaded.append(name)
        self.used.append(name)

    def unload(self, name: str) -> None:
        """Unload a module.  Raises :class:`CatalogError` where it is not loaded."""
        if name not in self.loaded:
            message = f"No module with name '{name}' exists"
            raise CatalogError(f"the module '{name}' is not loaded", in_flink=message)
        self.loaded.remove(name)
        if name in self.used:
            self.used.remove(name)

    def use(self, names: Sequence[str]) -> None:
        """Use some of the loaded modules.  Raises :class:`CatalogError` for one that is not loaded, or named twice."""
        for name in names:
            if names.count(name) > 1:
                message = f"Module '{name}' appears more than once"
                raise CatalogError(f"the module '{name}' is named more than once", in_flink=message)
            if name not in self.loaded:
                message = f"No module with name '{name}' exists"
                raise CatalogError(f"the module '{name}' is not loaded", in_flink=message)
        self.used = list(names)

    def rows(self) -> list[tuple[str, bool]]:
        """All modules and whether they are used, those that are first."""
        return [
            *((name, True) for name in self.used),
            *((name, False) for name in self.loaded if name not in self.used),
        ]
