"""Names of ``pyflink.common``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from .rows import Row, RowKind

__all__ = ["Configuration", "Duration", "Row", "RowKind", "Time"]


class Time:
    """Durations: ``Time.seconds(5)``."""

    @staticmethod
    def milliseconds(count: int) -> timedelta:
        """Some milliseconds."""
        return timedelta(milliseconds=count)

    @staticmethod
    def seconds(count: int) -> timedelta:
        """Some seconds."""
        return timedelta(seconds=count)

    @staticmethod
    def minutes(count: int) -> timedelta:
        """Some minutes."""
        return timedelta(minutes=count)

    @staticmethod
    def hours(count: int) -> timedelta:
        """Some hours."""
        return timedelta(hours=count)

    @staticmethod
    def days(count: int) -> timedelta:
        """Some days."""
        return timedelta(days=count)


class Duration:
    """Durations: ``Duration.of_seconds(5)``."""

    of_millis = staticmethod(Time.milliseconds)
    of_seconds = staticmethod(Time.seconds)
    of_minutes = staticmethod(Time.minutes)
    of_hours = staticmethod(Time.hours)
    of_days = staticmethod(Time.days)


class Configuration(dict[str, str]):
    """Options by their keys."""

    @classmethod
    def from_dict(cls, map: Mapping[str, str]) -> Configuration:
        """The options of a dict."""
        return cls(map)

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

    def get_integer(self, key: str, default_value: int) -> int:
        """The value of an option that is a number, or the default."""
        return int(self.get(key, default_value))

    def get_float(self, key: str, default_value: float) -> float:
        """The value of an option that is a number, or the default."""
        return float(self.get(key, default_value))

    def get_boolean(self, key: str, default_value: bool) -> bool:
        """The value of an option that is true or false, or the default."""
        return self[key].lower() == "true" if key in self else default_value

    def contains_key(self, key: str) -> bool:
        """Whether an option is set."""
        return key in self

    def key_set(self) -> set[str]:
        """The keys of the options that are set."""
        return set(self)

    def add_all(self, other: Mapping[str, str], prefix: str | None = None) -> Configuration:
        """Set the options of another configuration, with a prefix before their keys."""
        self.update({f"{prefix or ''}{key}": value for key, value in other.items()})
        return self

    def add_all_to_dict(self, target_dict: dict[str, str]) -> None:
        """Set the options in a dict."""
        target_dict.update(self)

    def remove_config(self, key: str) -> bool:
        """Remove an option; gives whether it was set."""
        return self.pop(key, None) is not None

    def to_dict(self) -> dict[str, str]:
        """All options."""
        return dict(self)
