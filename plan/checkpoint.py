"""What a checkpoint directory says about the job that it belongs to, beside the state itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .document import Plan, dumps, read_text, write_text


@dataclass(frozen=True, slots=True)
class CheckpointRecord:
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
    def mode(self) -> str | None:
        """The mode in which the job was last run, where one is recorded."""
        return read_text(self._mode_file).strip() if self._mode_file.exists() else None

    def begin(self, plan: Plan, mode: str) -> None:
        """Record the plan that is run from now on, and the mode."""
        write_text(self.plan_file, dumps(plan))
        write_text(self._mode_file, f"{mode}\n")

    def end(self) -> None:
        """Record that the job has ended its input."""
        write_text(self._end_file, "")
