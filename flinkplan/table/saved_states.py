"""What reads tables over states: savepoints of Flink, exported directories, and checkpoints of flinkplan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ..flink.savepoint import is_savepoint, read_savepoint
from ..state.form_folder import FolderState, is_state_folder

if TYPE_CHECKING:
    from ..executor.build.saved_states import SavedOperator, SavedState


def read_states(spark: Any, operator: SavedOperator, names: Sequence[str]) -> Mapping[str, SavedState]:
    """The states of an operator, wherever they are (a ``StateReader``).

    Raises :class:`~.state.form.StateError` where they cannot be read.
    """
    from ..executor.checkpoints.saved_states import checkpoint_states, savepoint_states
    from ..executor.scratch import temporary_folder

    is_exported = is_state_folder(operator.place)
    if not is_exported and not is_savepoint(operator.place):
        return checkpoint_states(spark, operator, names)
    uids = [operator.uid] if operator.uid is not None else []
    opened = nullcontext(FolderState(operator.place)) if is_exported else read_savepoint(operator.place, uids=uids)
    with opened as state:
        return savepoint_states(spark, state, operator, names, temporary_folder("state-"))
