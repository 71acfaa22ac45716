"""What a checkpoint directory says about the job that it belongs to, beside the state itself."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from .document import Plan, dumps, pretty, read_text, write_text
from .errors import FlinkplanError, PlanError
from .json_text import parse_json
from .record import Record


class CheckpointRecord(Record):
    """The record in the checkpoint directory ``folder``."""

    folder: Path

    @property
    def plan_file(self) -> Path:
        """Where the plan stands that made the checkpoint, or that it was last run with."""
        return self.folder / "flinkplan" / "plan.json"

    @property
    def _end_file(self) -> Path:
        return self.folder / "flinkplan" / "ended"

    @property
    def _mode_file(self) -> Path:
        return self.folder / "flinkplan" / "mode"

    @property
    def _options_file(self) -> Path:
        return self.folder / "flinkplan" / "options.json"

    @property
    def lock_file(self) -> Path:
        """The file that the process locks which writes the checkpoint."""
        return self.folder / "flinkplan" / "lock"

    @property
    def is_in_use(self) -> bool:
        """Whether another process is writing the checkpoint."""
        if sys.platform == "win32" or not self.lock_file.exists():
            return False
        import fcntl

        try:
            with self.lock_file.open("r+b") as file:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    @property
    def exists(self) -> bool:
        """Whether a job has been recorded."""
        return self.plan_file.exists()

    @property
    def has_queries(self) -> bool:
        """Whether there is state of a query."""
        return any(self.folder.glob("*/offsets"))

    @property
    def has_ended(self) -> bool:
        """Whether the job has ended its input, fired every window, and so cannot go on."""
        return self._end_file.exists()

    def plan_text(self) -> str:
        """The recorded plan.  Raises :class:`PlanError` where there is none."""
        return read_text(self.plan_file)

    @property
    def modes(self) -> tuple[str, ...]:
        """The mode in which the job was first run, and that in which it was last; nothing where none is recorded."""
        return tuple(read_text(self._mode_file).split()) if self._mode_file.exists() else ()

    def prepare(self) -> None:
        """Make the directory.  Raises :class:`PlanError` where it cannot be written."""
        try:
            self.lock_file.parent.mkdir(parents=True, exist_ok=True)
            self.lock_file.touch()
        except OSError as e:
            raise PlanError(f"the checkpoint cannot be written: {e.strerror or e}", where=str(self.folder)) from None

    @property
    def session_options(self) -> Mapping[str, str] | None:
        """What the session set that the plan was last run in; ``None`` where that is not recorded."""
        if not self._options_file.exists():
            return None
        return {str(key): str(value) for key, value in parse_json(read_text(self._options_file)).items()}

    def begin(self, plan: Plan, mode: str, session_options: Mapping[str, str]) -> None:
        """Record the plan that is run from now on, what the session sets, and the mode."""
        first = (*self.modes, mode)[0]
        write_text(self._options_file, pretty(session_options) + "\n")
        write_text(self.plan_file, dumps(plan))
        write_text(self._mode_file, f"{first}\n{mode}\n")

    @property
    def _files(self) -> tuple[Path, ...]:
        return self._options_file, self.plan_file, self._mode_file

    def contents(self) -> Mapping[Path, str]:
        """What is recorded, by file."""
        return {file: read_text(file) for file in self._files if file.exists()}

    def put_back(self, contents: Mapping[Path, str]) -> None:
        """Record again what was recorded before: the job that had begun since has done nothing."""
        for file in self._files:
            if file in contents:
                write_text(file, contents[file])
            else:
                file.unlink(missing_ok=True)

    def end(self) -> None:
        """Record that the job has ended its input."""
        write_text(self._end_file, "")


class CheckpointInUseError(FlinkplanError):
    """A checkpoint that another job is writing (exit code 1)."""

    exit_code = 1

    def __init__(self, record: CheckpointRecord) -> None:
        super().__init__(
            "another job is running on this checkpoint",
            where=str(record.folder),
            hint="stop it, or wait for its end; a job beside it needs a checkpoint of its own: --checkpoint DIR",
        )
