"""The settings and options of an environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

from ..plan.durations import parse_duration
from ..plan.errors import FlinkplanError, UnsupportedError
from ..plan.record import Record, field
from ..plan.settings import STATE_TTL
from ..planner.catalog.catalog import DEFAULT_CATALOG, DEFAULT_DATABASE
from .common import Configuration
from .enumerations import SqlDialect

_CODE_LENGTH = "table.generated-code.max-length"


class EnvironmentSettings(Record):
    """The settings of a new environment; only streaming mode is supported."""

    options: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def in_streaming_mode() -> EnvironmentSettings:
        """Settings of a streaming environment."""
        return EnvironmentSettings()

    @staticmethod
    def in_batch_mode() -> EnvironmentSettings:
        """Raises :class:`UnsupportedError`."""
        raise _no_batch_mode()

    @staticmethod
    def new_instance() -> Builder:
        """A builder, as in PyFlink."""
        return EnvironmentSettings.Builder()

    def is_streaming_mode(self) -> bool:
        """Always true."""
        return True

    def get_built_in_catalog_name(self) -> str:
        """The name of the catalog that is there from the start."""
        return DEFAULT_CATALOG

    def get_built_in_database_name(self) -> str:
        """The name of the database that is there from the start."""
        return DEFAULT_DATABASE

    def get_configuration(self) -> Configuration:
        """The options."""
        return Configuration(self.options)

    class Builder:
        """Collects settings."""

        def __init__(self) -> None:
            self._options: dict[str, str] = {}

        def with_configuration(self, options: Mapping[str, str]) -> EnvironmentSettings.Builder:
            """Add options."""
            self._options.update(options)
            return self

        def in_streaming_mode(self) -> EnvironmentSettings.Builder:
            """Select streaming mode, the only one."""
            return self

        def in_batch_mode(self) -> EnvironmentSettings.Builder:
            """Raises :class:`UnsupportedError`."""
            raise _no_batch_mode()

        def with_built_in_catalog_name(self, built_in_catalog_name: str) -> EnvironmentSettings.Builder:
            """Take the name of the catalog that is there from the start.

            Raises :class:`UnsupportedError` for another name than the default one.
            """
            return self._named("catalog", built_in_catalog_name, DEFAULT_CATALOG)

        def with_built_in_database_name(self, built_in_database_name: str) -> EnvironmentSettings.Builder:
            """Take the name of the database that is there from the start.

            Raises :class:`UnsupportedError` for another name than the default one.
            """
            return self._named("database", built_in_database_name, DEFAULT_DATABASE)

        def _named(self, what: str, name: str, default: str) -> EnvironmentSettings.Builder:
            if name != default:
                raise UnsupportedError(
                    f"the built-in {what} cannot be called '{name}'", hint=f"it is '{default}': create another {what}"
                )
            return self

        def build(self) -> EnvironmentSettings:
            """The settings."""
            return EnvironmentSettings(dict(self._options))


Builder = EnvironmentSettings.Builder


def _no_batch_mode() -> UnsupportedError:
    return UnsupportedError(
        "batch mode is not supported", hint="streaming mode also runs bounded input to its end, and stops"
    )


class TableConfig:
    """The options of an environment, which ``SET`` and ``RESET`` change too."""

    def __init__(self, options: Callable[[], Mapping[str, str]], set_option: Callable[[str, str], None]) -> None:
        self._options = options
        self._set_option = set_option

    def get(self, key: str, default_value: str) -> str:
        """An option's value, or the default."""
        return self._options().get(key, default_value)

    def set(self, key: str, value: str) -> TableConfig:
        """Set an option.  Raises :class:`FlinkplanError` for an invalid value, as ``SET`` does."""
        self._set_option(key, value)
        return self

    @staticmethod
    def get_default() -> TableConfig:
        """Options that belong to no environment."""
        options: dict[str, str] = {}
        return TableConfig(lambda: options, options.__setitem__)

    def get_sql_dialect(self) -> int:
        """The dialect of SQL, always the default one."""
        return SqlDialect.DEFAULT

    def set_sql_dialect(self, sql_dialect: int) -> None:
        """Raises :class:`UnsupportedError` for another dialect than the default one."""
        if sql_dialect != SqlDialect.DEFAULT:
            raise UnsupportedError("the Hive dialect is not supported", hint="write the statements in Flink SQL")

    def get_max_generated_code_length(self) -> int:
        """The length of generated methods that is set; only Flink generates them."""
        return int(self.get(_CODE_LENGTH, "4000"))

    def set_max_generated_code_length(self, max_generated_code_length: int) -> None:
        """Set the option, which has no effect here."""
        self.set(_CODE_LENGTH, str(max_generated_code_length))

    def get_local_timezone(self) -> str:
        """The session's time zone."""
        return self.get("table.local-time-zone", "default")

    def set_local_timezone(self, timezone_id: str) -> None:
        """Set the session's time zone, such as ``Europe/Berlin``."""
        self.set("table.local-time-zone", timezone_id)

    def set_idle_state_retention(self, duration: timedelta) -> None:
        """Set the TTL of state (``table.exec.state.ttl``); zero means that state never expires."""
        self.set(STATE_TTL, f"{duration // timedelta(milliseconds=1)} ms")

    def set_idle_state_retention_time(self, min_time: timedelta, max_time: timedelta) -> None:
        """The older form with a minimum and a maximum time.

        Raises :class:`FlinkplanError` unless they are at least five minutes apart, as Flink does.
        """
        min_difference = timedelta(minutes=5)
        if (max_time != min_time and max_time - min_time < min_difference) or max_time == min_time != timedelta():
            raise FlinkplanError(
                f"the maximum time must be at least {min_difference} above the minimum time",
                hint="set_idle_state_retention takes one time",
            )
        self.set_idle_state_retention(min_time)

    def get_idle_state_retention(self) -> timedelta:
        """The TTL of state; zero where state never expires."""
        return timedelta(milliseconds=parse_duration(self.get(STATE_TTL, "0 ms")))

    def add_configuration(self, configuration: Mapping[str, str]) -> None:
        """Set several options."""
        for key, value in configuration.items():
            self.set(key, value)

    def get_configuration(self) -> dict[str, str]:
        """All options that are set."""
        return self.to_map()

    def set_python_executable(self, python_exec: str) -> None:
        """Set the interpreter of Python functions (``python.executable``)."""
        self.set("python.executable", python_exec)

    def get_python_executable(self) -> str | None:
        """The interpreter of Python functions that is set."""
        return self._options().get("python.executable")

    def to_map(self) -> dict[str, str]:
        """All options that are set."""
        return dict(self._options())
