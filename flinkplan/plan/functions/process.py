"""Process table functions: what their classes declare of arguments, states and results.

Source: Flink's ``StaticArgument``, ``StaticArgumentTrait`` and ``StateHint``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from ..record import Record
from ..rex import internal_name
from ..types import LogicalType
from ..types.parser import parse_type
from ..types.readable import readable

ON_TIME, UID = "on_time", "uid"
"""The arguments that Flink adds to the declared ones, unless the function disables them."""

DEFAULT, DESCRIPTOR = internal_name("DEFAULT"), internal_name("DESCRIPTOR")
"""The calls that stand in plans for an argument that is left out, and for the names of columns."""

ROWTIME = "rowtime"
"""The column that Flink adds to the result where there is ``on_time``."""


class Trait(Enum):
    """A property of an argument."""

    SCALAR = "SCALAR"
    TABLE = "TABLE"
    MODEL = "MODEL"
    ROW_SEMANTIC_TABLE = "ROW_SEMANTIC_TABLE"
    SET_SEMANTIC_TABLE = "SET_SEMANTIC_TABLE"
    PASS_COLUMNS_THROUGH = "PASS_COLUMNS_THROUGH"
    SUPPORT_UPDATES = "SUPPORT_UPDATES"
    REQUIRE_ON_TIME = "REQUIRE_ON_TIME"
    OPTIONAL_PARTITION_BY = "OPTIONAL_PARTITION_BY"
    REQUIRE_UPDATE_BEFORE = "REQUIRE_UPDATE_BEFORE"
    REQUIRE_FULL_DELETE = "REQUIRE_FULL_DELETE"


class ProcessArgument(Record):
    """A declared argument; ``type`` is that of a scalar, or of a table's rows, ``None`` where these may be any."""

    name: str
    type: LogicalType | None
    traits: frozenset[Trait]
    is_optional: bool

    @property
    def is_table(self) -> bool:
        return Trait.TABLE in self.traits

    @property
    def is_set(self) -> bool:
        """Whether it is a table whose rows are looked at key by key."""
        return Trait.SET_SEMANTIC_TABLE in self.traits

    @property
    def passes_columns(self) -> bool:
        """Whether all columns of the table are passed through."""
        return Trait.PASS_COLUMNS_THROUGH in self.traits

    def __str__(self) -> str:
        if self.is_table:
            return f"{self.name} => TABLE …{' PARTITION BY …' if self.is_set else ''}"
        return f"{self.name} => {'any type' if self.type is None else readable(self.type.nullable_().text)}"


class ProcessState(Record):
    """A declared state: ``kind`` is ``value``, ``list`` or ``map``.

    ``value`` is the type of the value, of the elements, or of the values of a map, whose keys are of the type ``key``.
    ``ttl_ms`` is how long an entry stays after its last write, 0 for ever, ``None`` as long as the job's option says.
    """

    name: str
    kind: str
    value: LogicalType
    key: LogicalType | None
    ttl_ms: int | None


class ProcessDeclaration(Record):
    """What the class declares.

    ``result`` is the type of what it emits.  ``emits_changes``: it says which kinds of rows it emits for those that it
    reads.  ``has_timers``: it has a method ``onTimer``; ``takes_context``: ``eval`` learns of time and watermarks.
    """

    arguments: tuple[ProcessArgument, ...]
    result: LogicalType
    states: tuple[ProcessState, ...]
    has_system_arguments: bool
    emits_changes: bool
    has_timers: bool
    takes_context: bool

    @property
    def result_fields(self) -> tuple[tuple[str, LogicalType], ...]:
        """The columns that the function itself emits."""
        if self.result.root in ("ROW", "STRUCTURED"):
            return tuple((f.name, f.type) for f in self.result.fields)
        return (("EXPR$0", self.result),)

    @property
    def is_set(self) -> bool:
        """Whether it looks at rows key by key, so that it may have states and timers."""
        return any(argument.is_set for argument in self.arguments)

    def __str__(self) -> str:
        return ", ".join(map(str, self.arguments))


def process_from_json(json: Mapping[str, Any]) -> ProcessDeclaration:
    """The declaration as ``ProcessSignature`` describes it."""
    return ProcessDeclaration(
        tuple(map(_argument, json["arguments"])),
        parse_type(json["result"]),
        tuple(map(_state, json["states"])),
        json["system_arguments"],
        json["changelog"],
        json["timers"],
        json["context"],
    )


def _argument(json: Mapping[str, Any]) -> ProcessArgument:
    t = parse_type(json["type"]) if "type" in json else None
    return ProcessArgument(json["name"], t, frozenset(map(Trait, json["traits"])), json["optional"])


def _state(json: Mapping[str, Any]) -> ProcessState:
    key = parse_type(json["key"]) if "key" in json else None
    return ProcessState(json["name"], json["kind"], parse_type(json["value"]), key, json.get("ttl"))
