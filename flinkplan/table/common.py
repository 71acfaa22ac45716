"""Names of ``pyflink.common``."""

from __future__ import annotations

from .rows import Row, RowKind

__all__ = ["Configuration", "Row", "RowKind"]


class Configuration(dict[str, str]):
    """Options by their keys."""

    def set_string(self, key: str, value: str) -> Configuration:
        """Set an option."""
        self[key] = value
        return self

    def set_integer(self, key: str, value: int) -> Configuration:
        """Set an option that is a number."""
        return self.set_string(key, str(value))

    def set_float(self, key: str, value: float) -> Configuration:
        """Set an option that is a number."""
        return self.set_string(key, str(value))

    def set_boolean(self, key: str, value: bool) -> Configuration:
        """Set an option that is true or false."""
        return self.set_string(key, str(value).lower())

    def get_string(self, key: str, default_value: str) -> str:
        """An option's value, or the default."""
        return self.get(key, default_value)

    def to_dict(self) -> dict[str, str]:
        """All options."""
        return dict(self)
