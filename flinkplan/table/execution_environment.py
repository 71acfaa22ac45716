"""The execution environment of PyFlink's DataStream API, as programs of the Table API use it: for options and files.

Its options become those of the :class:`StreamTableEnvironment` that is created with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NoReturn

from ..plan.errors import UnsupportedError
from .common import Configuration
from .environment import TableEnvironment
from .settings import EnvironmentSettings

__all__ = [
    "CheckpointConfig",
    "CheckpointingMode",
    "ExecutionConfig",
    "ExternalizedCheckpointRetention",
    "RuntimeExecutionMode",
    "StreamExecutionEnvironment",
]

_PARALLELISM = "parallelism.default"
_MAX_PARALLELISM = "pipeline.max-parallelism"
_CHECKPOINTING = "execution.checkpointing."


class RuntimeExecutionMode(Enum):
    """Whether a job is executed as a stream."""

    STREAMING = 0
    BATCH = 1
    AUTOMATIC = 2


class CheckpointingMode(Enum):
    """What a checkpoint guarantees; here it is always exactly once."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1


class ExternalizedCheckpointRetention(Enum):
    """What becomes of checkpoints when a job is cancelled; here they always stay."""

    DELETE_ON_CANCELLATION = 0
    RETAIN_ON_CANCELLATION = 1
    NO_EXTERNALIZED_CHECKPOINTS = 2


class _Options:
    """Something that sets options."""

    def __init__(self, options: Configuration) -> None:
        self._options = options

    def _set(self, key: str, value: Any) -> Any:
        self._options[key] = str(value).lower() if isinstance(value, bool) else str(value)
        return self

    def _milliseconds(self, key: str, default: int) -> int:
        return int(self._options.get(key, f"{default} ms").removesuffix(" ms"))


class CheckpointConfig(_Options):
    """The options of checkpoints.  Spark writes one after each micro-batch."""

    def is_checkpointing_enabled(self) -> bool:
        """Whether an interval is set."""
        return f"{_CHECKPOINTING}interval" in self._options

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """The mode that is set."""
        return CheckpointingMode[self._options.get(f"{_CHECKPOINTING}mode", "EXACTLY_ONCE")]

    def set_checkpointing_mode(self, checkpointing_mode: CheckpointingMode) -> CheckpointConfig:
        """Set ``execution.checkpointing.mode``."""
        self._set(f"{_CHECKPOINTING}mode", checkpointing_mode.name)
        return self

    def get_checkpoint_interval(self) -> int:
        """The interval in milliseconds; -1 where none is set."""
        return self._milliseconds(f"{_CHECKPOINTING}interval", -1)

    def set_checkpoint_interval(self, checkpoint_interval: int) -> CheckpointConfig:
        """Set ``execution.checkpointing.interval``, in milliseconds."""
        self._set(f"{_CHECKPOINTING}interval", f"{checkpoint_interval} ms")
        return self

    def set_checkpoint_timeout(self, checkpoint_timeout: int) -> CheckpointConfig:
        """Set ``execution.checkpointing.timeout``, in milliseconds."""
        self._set(f"{_CHECKPOINTING}timeout", f"{checkpoint_timeout} ms")
        return self

    def set_min_pause_between_checkpoints(self, min_pause_between_checkpoints: int) -> CheckpointConfig:
        """Set ``execution.checkpointing.min-pause``, in milliseconds."""
        self._set(f"{_CHECKPOINTING}min-pause", f"{min_pause_between_checkpoints} ms")
        return self

    def set_max_concurrent_checkpoints(self, max_concurrent_checkpoints: int) -> CheckpointConfig:
        """Set ``execution.checkpointing.max-concurrent-checkpoints``."""
        self._set(f"{_CHECKPOINTING}max-concurrent-checkpoints", max_concurrent_checkpoints)
        return self

    def set_tolerable_checkpoint_failure_number(self, tolerable_checkpoint_failure_number: int) -> CheckpointConfig:
        """Set ``execution.checkpointing.tolerable-failed-checkpoints``."""
        self._set(f"{_CHECKPOINTING}tolerable-failed-checkpoints", tolerable_checkpoint_failure_number)
        return self

    def set_externalized_checkpoint_retention(
        self, checkpoint_retention: ExternalizedCheckpointRetention
    ) -> CheckpointConfig:
        """Set ``execution.checkpointing.externalized-checkpoint-retention``."""
        self._set(f"{_CHECKPOINTING}externalized-checkpoint-retention", checkpoint_retention.name)
        return self

    def enable_unaligned_checkpoints(self, enabled: bool = True) -> CheckpointConfig:
        """Set ``execution.checkpointing.unaligned.enabled``."""
        self._set(f"{_CHECKPOINTING}unaligned.enabled", enabled)
        return self

    def disable_unaligned_checkpoints(self) -> CheckpointConfig:
        """Set ``execution.checkpointing.unaligned.enabled`` to false."""
        return self.enable_unaligned_checkpoints(False)


class ExecutionConfig(_Options):
    """Further options of an environment."""

    def set_parallelism(self, parallelism: int) -> ExecutionConfig:
        """Set ``parallelism.default``."""
        self._set(_PARALLELISM, parallelism)
        return self

    def get_parallelism(self) -> int:
        """The parallelism that is set, else 1."""
        return int(self._options.get(_PARALLELISM, "1"))

    def set_max_parallelism(self, max_parallelism: int) -> ExecutionConfig:
        """Set ``pipeline.max-parallelism``."""
        self._set(_MAX_PARALLELISM, max_parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """The maximum that is set, else -1."""
        return int(self._options.get(_MAX_PARALLELISM, "-1"))

    def set_auto_watermark_interval(self, interval: int) -> ExecutionConfig:
        """Set ``pipeline.auto-watermark-interval``, in milliseconds."""
        self._set("pipeline.auto-watermark-interval", f"{interval} ms")
        return self

    def get_auto_watermark_interval(self) -> int:
        """The interval that is set, in milliseconds, else 200."""
        return self._milliseconds("pipeline.auto-watermark-interval", 200)

    def enable_object_reuse(self) -> ExecutionConfig:
        """Set ``pipeline.object-reuse``."""
        self._set("pipeline.object-reuse", True)
        return self

    def disable_object_reuse(self) -> ExecutionConfig:
        """Set ``pipeline.object-reuse`` to false."""
        self._set("pipeline.object-reuse", False)
        return self

    def get_global_job_parameters(self) -> dict[str, str]:
        """The parameters of ``pipeline.global-job-parameters``."""
        pairs = filter(None, self._options.get("pipeline.global-job-parameters", "").split(","))
        return {key: value for key, _, value in (pair.partition(":") for pair in pairs)}

    def set_global_job_parameters(self, global_job_parameters_dict: Mapping[str, Any]) -> ExecutionConfig:
        """Set ``pipeline.global-job-parameters``, which functions read in ``open``."""
        pairs = ",".join(f"{key}:{value}" for key, value in global_job_parameters_dict.items())
        self._set("pipeline.global-job-parameters", pairs)
        return self


class StreamExecutionEnvironment(_Options):
    """The environment with which a :class:`StreamTableEnvironment` is created."""

    def __init__(self, options: Configuration) -> None:
        super().__init__(options)
        self._python_files: list[str] = []

    @staticmethod
    def get_execution_environment(configuration: Mapping[str, str] | None = None) -> StreamExecutionEnvironment:
        """A new environment, with some options."""
        return StreamExecutionEnvironment(Configuration(configuration or {}))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise UnsupportedError(
            f"{name}() of a StreamExecutionEnvironment is not supported",
            hint="write the job with tables: StreamTableEnvironment.create(env)",
        )

    def configure(self, configuration: Mapping[str, str]) -> None:
        """Set several options."""
        self._options.update(configuration)

    def get_config(self) -> ExecutionConfig:
        """Further options."""
        return ExecutionConfig(self._options)

    def get_checkpoint_config(self) -> CheckpointConfig:
        """The options of checkpoints."""
        return CheckpointConfig(self._options)

    def set_parallelism(self, parallelism: int) -> StreamExecutionEnvironment:
        """Set ``parallelism.default``."""
        self.get_config().set_parallelism(parallelism)
        return self

    def get_parallelism(self) -> int:
        """The parallelism that is set, else 1."""
        return self.get_config().get_parallelism()

    def set_max_parallelism(self, max_parallelism: int) -> StreamExecutionEnvironment:
        """Set ``pipeline.max-parallelism``."""
        self.get_config().set_max_parallelism(max_parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """The maximum that is set, else -1."""
        return self.get_config().get_max_parallelism()

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> StreamExecutionEnvironment:
        """Raises :class:`UnsupportedError` for the batch mode."""
        if execution_mode is RuntimeExecutionMode.BATCH:
            EnvironmentSettings.in_batch_mode()
        self._set("execution.runtime-mode", execution_mode.name)
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> StreamExecutionEnvironment:
        """Set ``execution.buffer-timeout``, in milliseconds."""
        self._set("execution.buffer-timeout", f"{timeout_millis} ms")
        return self

    def disable_operator_chaining(self) -> StreamExecutionEnvironment:
        """Set ``pipeline.operator-chaining.enabled`` to false."""
        self._set("pipeline.operator-chaining.enabled", False)
        return self

    def enable_checkpointing(self, interval: int, mode: CheckpointingMode | None = None) -> StreamExecutionEnvironment:
        """Set the interval of checkpoints in milliseconds, and their mode."""
        config = self.get_checkpoint_config().set_checkpoint_interval(interval)
        if mode is not None:
            config.set_checkpointing_mode(mode)
        return self

    def get_checkpoint_interval(self) -> int:
        """The interval of checkpoints in milliseconds; -1 where none is set."""
        return self.get_checkpoint_config().get_checkpoint_interval()

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """The mode of checkpoints that is set."""
        return self.get_checkpoint_config().get_checkpointing_mode()

    def add_python_file(self, file_path: str) -> None:
        """Let functions be loaded from a Python file, a folder or an archive."""
        self._python_files.append(file_path)

    def set_python_requirements(self, requirements_file_path: str, requirements_cache_dir: str | None = None) -> None:
        """Set ``python.requirements``; what it names is not installed here."""
        paths = [requirements_file_path, *([requirements_cache_dir] if requirements_cache_dir else [])]
        self._set("python.requirements", "#".join(paths))

    def set_python_executable(self, python_exec: str) -> None:
        """Set ``python.executable``."""
        self._set("python.executable", python_exec)

    def add_jars(self, *jars_path: str) -> None:
        """Add jars to ``pipeline.jars``, from which functions in Java are loaded."""
        known = filter(None, self._options.get("pipeline.jars", "").split(";"))
        self._set("pipeline.jars", ";".join((*known, *jars_path)))

    def add_classpaths(self, *classpaths: str) -> None:
        """Add to ``pipeline.classpaths``, which has no effect here."""
        known = filter(None, self._options.get("pipeline.classpaths", "").split(";"))
        self._set("pipeline.classpaths", ";".join((*known, *classpaths)))

    def execute(self, job_name: str | None = None) -> NoReturn:
        """Raises :class:`UnsupportedError`: tables start their jobs themselves."""
        raise UnsupportedError(
            "execute() of a StreamExecutionEnvironment is not supported: tables start their jobs themselves",
            hint="leave env.execute() out; execute_insert(), execute() of a statement set, and INSERT start a job",
        )

    execute_async = execute


class StreamTableEnvironment(TableEnvironment):
    """The environment of PyFlink beside the DataStream API; here it is a :class:`TableEnvironment`."""

    @staticmethod
    def create(  # type: ignore[override]
        stream_execution_environment: StreamExecutionEnvironment | EnvironmentSettings | None = None,
        environment_settings: EnvironmentSettings | None = None,
    ) -> StreamTableEnvironment:
        """A new environment, with the options and files of one of streams."""
        streams = stream_execution_environment
        if isinstance(streams, EnvironmentSettings):
            return StreamTableEnvironment(streams)
        settings = environment_settings or EnvironmentSettings.in_streaming_mode()
        if streams is None:
            return StreamTableEnvironment(settings)
        environment = StreamTableEnvironment(EnvironmentSettings({**streams._options, **settings.options}))
        for file in streams._python_files:
            environment.add_python_file(file)
        return environment

    def from_data_stream(self, *arguments: Any) -> NoReturn:
        """Raises :class:`UnsupportedError`: there are no streams but those of tables."""
        raise _no_streams("from_data_stream")

    def from_changelog_stream(self, *arguments: Any) -> NoReturn:
        """Raises :class:`UnsupportedError`."""
        raise _no_streams("from_changelog_stream")

    def to_data_stream(self, *arguments: Any) -> NoReturn:
        """Raises :class:`UnsupportedError`."""
        raise _no_streams("to_data_stream")

    def to_changelog_stream(self, *arguments: Any) -> NoReturn:
        """Raises :class:`UnsupportedError`."""
        raise _no_streams("to_changelog_stream")

    def to_append_stream(self, *arguments: Any) -> NoReturn:
        """Raises :class:`UnsupportedError`."""
        raise _no_streams("to_append_stream")

    def to_retract_stream(self, *arguments: Any) -> NoReturn:
        """Raises :class:`UnsupportedError`."""
        raise _no_streams("to_retract_stream")


def _no_streams(method: str) -> UnsupportedError:
    return UnsupportedError(
        f"{method} is not supported",
        hint="execute the table, or write windows over tables with flinkplan.datastream.to_data_stream",
    )
