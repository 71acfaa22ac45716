"""The states of an operator in a savepoint or checkpoint, as tables of the connector ``savepoint`` read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ...plan.record import Record
from ...state.form import Kind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class SavedOperator(Record):
    """An operator whose states are read: by its UID or by the hash of that, in a savepoint or checkpoint."""

    place: str
    uid: str | None
    uid_hash: str | None


class SavedState(Record):
    """The entries of a state.

    ``frame`` has the columns ``key``, a struct; of a map ``map_key``, of a list perhaps ``position``; and ``value``.
    Map keys are structs or single values.
    """

    name: str
    kind: Kind
    frame: DataFrame


class StateReader(Protocol):
    """Reads states of an operator by their names."""

    def __call__(self, spark: SparkSession, operator: SavedOperator, names: Sequence[str]) -> Mapping[str, SavedState]:
        """The states with these names.

        Raises :class:`~.state.form.StateError` where the operator or a state is not there.
        """
