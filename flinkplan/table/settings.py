"""How an environment is set up and configured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

from ..plan.errors import FlinkplanError, UnsupportedError
from ..plan.record import Record, field
from ..plan.settings import STATE_TTL


class EnvironmentSettings(Record):
    """The settings that an environment is created with; only streaming mode is there."""

    options: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def in_streaming_mode() -> EnvironmentSettings:
        """Settings of a streaming environment."""
        return EnvironmentSettings()

    @staticmethod
    def in_batch_mode() -> EnvironmentSettings:
        """Raises :class:`UnsupportedError`."""
        raise UnsupportedError(
            "batch mode is not supported", hint="streaming mode also runs bounded input to its end, and stops"
        )

    @staticmethod
    def new_instance() -> Builder:
        """A builder, as PyFlink has it."""
        return EnvironmentSettings.Builder()

    def is_streaming_mode(self) -> bool:
        """Always."""
        return True

    class Builder:
        """Collects settings."""

        def __init__(self) -> None:
            self._options: dict[str, str] = {}

        def with_configuration(self, options: Mapping[str, str]) -> EnvironmentSettings.Builder:
            """Options to start with."""
            self._options.update(options)
            return self

        def in_streaming_mode(self) -> EnvironmentSettings.Builder:
            """The only mode."""
            return self

        def build(self) -> EnvironmentSettings:
            """The settings."""
            return EnvironmentSettings(dict(self._options))


Builder = EnvironmentSettings.Builder


class TableConfig:
    """The options of an environment, the same that ``SET`` and ``RESET`` change."""

    def __init__(self, options: Callable[[], Mapping[str, str]], set_option: Callable[[str, str], None]) -> None:
        self._options = options
        self._set_option = set_option

    def get(self, key: str, default_value: str) -> str:
        """An option's value, or the default."""
        return self._options().get(key, default_value)

    def set(self, key: str, value: str) -> TableConfig:
        """Set an option.  Raises :class:`FlinkplanError` for a value that it cannot have, as ``SET`` does."""
        self._set_option(key, value)
        return self

    def get_local_timezone(self) -> str:
        """The session's time zone."""
        return self.get("table.local-time-zone", "default")

    def set_local_timezone(self, timezone_id: str) -> None:
        """Set the session's time zone, such as ``Europe/Berlin``."""
        self.set("table.local-time-zone", timezone_id)

    def set_idle_state_retention(self, duration: timedelta) -> None:
        """How long state keeps what is not written again; zero: for ever.  It is ``table.exec.state.ttl``."""
        self.set(STATE_TTL, f"{duration // timedelta(milliseconds=1)} ms")

    def set_idle_state_retention_time(self, min_time: timedelta, max_time: timedelta) -> None:
        """The same as older documents have it: kept at least so long, gone after at most that.

        Raises :class:`FlinkplanError` unless they are five minutes apart, as Flink does.
        """
        apart = timedelta(minutes=5)
        if (max_time != min_time and max_time - min_time < apart) or max_time == min_time != timedelta():
            raise FlinkplanError(
                f"the longest time is to be {apart} above the shortest one",
                hint="set_idle_state_retention takes one time",
            )
        self.set_idle_state_retention(min_time)

    def to_map(self) -> dict[str, str]:
        """All options that are set."""
        return dict(self._options())
