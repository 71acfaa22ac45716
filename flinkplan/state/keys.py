"""The key that a user names, compared with the keys of states."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from ..plan.errors import PlanError
from ..plan.printable import json_text
from ..plan.record import Record


class KeyValues(Record):
    """The values of the first columns of a key, as texts; ``None`` stands for NULL."""

    values: tuple[str | None, ...]

    @classmethod
    def parse(cls, text: str) -> KeyValues:
        """A key as the command line takes it: values separated by commas, or a JSON list as keys are shown."""
        if text.startswith("["):
            try:
                values = json.loads(text)
            except (ValueError, RecursionError):
                values = None
            if isinstance(values, list):
                return cls(tuple(None if value is None else key_text(value) for value in values))
        return cls(tuple(text.split(",")))

    def fits(self, columns: int) -> bool:
        """Whether a key of so many columns can have these values."""
        return len(self.values) <= columns

    def begins(self, key: Iterable[object]) -> bool:
        """Whether a key, its values as JSON has them, begins with these values."""
        return all(
            wanted is None if value is None else wanted == key_text(value)
            for wanted, value in zip(self.values, key, strict=False)
        )

    def check(self, columns_by_state: Mapping[str, int]) -> None:
        """Raise :class:`PlanError` if no state has a key of so many columns; the number of columns by state."""
        if columns_by_state and not any(map(self.fits, columns_by_state.values())):
            state, columns = max(columns_by_state.items(), key=lambda item: item[1])
            raise PlanError(
                f"the key of {state} has {columns} column{'' if columns == 1 else 's'}, not {len(self.values)}",
                hint="write a key whose values contain commas as a JSON list: '[\"a,b\"]'",
            )


def key_text(value: object) -> str:
    """A value of a key as it is compared: a text as it is, other values as JSON shows them."""
    return value if isinstance(value, str) else json_text(value, default=str)
