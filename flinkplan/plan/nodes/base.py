"""The base class of exec nodes, and their registry."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, ClassVar, TypeVar

from ..codec import Aside, FieldCodec, Place, Unknown, camel, field_codecs, read_field, unknown_keeper
from ..errors import PlanError, UnsupportedError
from ..findings import nearest
from ..record import Json, PartlyCompared, Record, field
from ..row_kinds import Flow, Kinds
from ..savepoint.layout import Inputs, Layout
from ..specs import InputProperty, StateMetadata
from ..types import LogicalType, RowField
from ..yields import Yield

NOT_FLINKS = "flinkplan"
"""Stands in place of a Flink release for nodes that Flink does not have."""

STREAM, BATCH = "stream-exec-", "batch-exec-"
"""The prefixes of the names of nodes, by Flink's runtime mode."""


class State(Record):
    """A state with a TTL: its name in plans, and the consequence of an entry's expiry."""

    name: str
    expiry: str


class ColumnOrder(Enum):
    """The order of a node's output columns if its input columns have another order than the compiled one."""

    PASSED = "passed"
    """The order of the input, which the node does not depend on."""
    EXTENDED = "extended"
    """The order of the input, followed by further columns."""
    JOINED = "joined"
    """The orders of the inputs, side by side."""
    GROUPED = "grouped"
    """The keys, the aggregates, and further columns."""
    ACCUMULATED = "accumulated"
    """The keys, and the accumulators of a local phase, whose input must have the compiled order."""
    CHOSEN = "chosen"
    """Any order."""
    COMPILED = "compiled"
    """The compiled order, whatever the order of the input is."""
    FIXED = "fixed"
    """The compiled order, which the input must have as well."""

    @property
    def is_fixed(self) -> bool:
        """Whether the input must have the compiled order."""
        return self in (ColumnOrder.ACCUMULATED, ColumnOrder.FIXED)


class NodeMetadata(Record):
    """The declaration of a type of node.

    ``order`` is that of its output columns; ``versions`` are its versions and ``since`` the Flink release of each;
    ``inputs`` is its number of inputs, ``None`` if that varies; ``states`` are the states with a TTL in index order,
    and ``timed`` says that it has state that the watermark cleans up instead; ``consumed_options`` are the options
    whose values the plan contains; ``transformations`` are the operators into which Flink may translate the node, by
    the last part of their UIDs.

    The last three fields say what the change of a field means for an upgrade: if an ``identity`` field changes, or a
    field that is listed nowhere, the state is lost; if a ``results`` field changes, the state survives and the results
    change; a ``judged`` field has its own rule.
    """

    name: str
    order: ColumnOrder
    versions: tuple[int, ...]
    since: tuple[str, ...]
    inputs: int | None = 1
    states: tuple[State, ...] = ()
    timed: bool = False
    consumed_options: tuple[str, ...] = ()
    transformations: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    judged: tuple[str, ...] = ()

    @property
    def is_own(self) -> bool:
        """Whether the node belongs to flinkplan and does not exist in Flink."""
        return NOT_FLINKS in self.since

    @property
    def is_batch(self) -> bool:
        """Whether the node belongs to plans of batch mode; a plan has such nodes only, or none."""
        return self.name.startswith(BATCH)

    @property
    def short_name(self) -> str:
        """The name without its prefix: ``join`` for ``stream-exec-join`` and ``batch-exec-join``."""
        return self.name.removeprefix(BATCH).removeprefix(STREAM)

    @property
    def is_ever_stateful(self) -> bool:
        """Whether an operator of this type may keep state between rows."""
        return bool(self.states or self.timed)

    @property
    def type(self) -> str:
        """The type of the newest version, such as ``stream-exec-calc_1``."""
        return f"{self.name}_{self.versions[-1]}"


class ExecNode(PartlyCompared, rename=camel, kw_only=True):
    """A node of the plan.  Subclasses add their own fields."""

    metadata: ClassVar[NodeMetadata]
    apart: ClassVar[frozenset[str]] = frozenset({"key_order"})

    id: int
    version: int
    configuration: Mapping[str, str] | None = None
    input_properties: tuple[InputProperty, ...] | None = None
    output_type: LogicalType
    description: str = ""
    unknown: Unknown = field(default_factory=Json)
    key_order: Aside[tuple[str, ...]] = ()
    """The keys of the JSON in the order in which they were read, if that is not the order of writing."""

    @property
    def type(self) -> str:
        """The node's type and version, such as ``stream-exec-join_1``."""
        return f"{self.metadata.name}_{self.version}"

    @property
    def fields(self) -> tuple[RowField, ...]:
        """The output columns."""
        return self.output_type.fields

    @property
    def states(self) -> tuple[StateMetadata, ...]:
        """The node's states; empty if it has none or the plan leaves them out."""
        return getattr(self, "state", None) or ()

    @property
    def is_stateful(self) -> bool:
        """Whether the operator keeps state between rows."""
        return self.metadata.is_ever_stateful

    @property
    def stateful_transformations(self) -> tuple[str, ...]:
        """The transformations of the node that have state in a savepoint of Flink."""
        return self.metadata.transformations if self.is_stateful else ()

    @property
    def own_uid(self) -> str | None:
        """The UID of the node's operator where the plan itself names it; ``None`` where it is made of the node's id."""
        return None

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        """The key columns of each input; empty for a node that does not process rows by key."""
        raise NotImplementedError

    def yields(self, inputs: Inputs) -> Iterable[Yield] | None:
        """The origins of the output columns, in order; ``None`` if they are not known."""
        raise NotImplementedError

    def row_kinds(self, flow: Flow) -> Kinds | None:
        """The kinds of rows that the node emits; ``None`` if not known.  Raises :class:`.row_kinds.NotKnownError`."""
        raise NotImplementedError

    @property
    def keeps_rows(self) -> bool:
        """Whether the operator, Flink's or ours, keeps whole input rows in its state."""
        return False

    def layout(self, inputs: Inputs) -> Layout | None:
        """The keyed state of Flink's operator in a savepoint; ``None`` if it has none or it is not known."""
        return None

    @classmethod
    def declared_states(cls, inputs: int) -> tuple[State, ...]:
        """The states with a TTL, in index order, of a node with this number of inputs."""
        return cls.metadata.states

    def ttl_states(self, inputs: int) -> tuple[State, ...]:
        """The states with a TTL, in index order, of this node, which has so many inputs."""
        return self.declared_states(inputs)

    def ttl_ms(self, index: int = 0) -> int:
        """The TTL of a state in milliseconds; 0 if it never expires or the plan has no entry for it."""
        for state in self.states:
            if state.index == index:
                return state.ttl_ms
        return 0

    @property
    def own_properties(self) -> Mapping[str, Any]:
        """The properties that flinkplan adds to the node; Flink ignores them."""
        properties = self.unknown.get(OWN)
        return properties if isinstance(properties, Mapping) else {}

    def option(self, key: str, default: str) -> str:
        """The value of a consumed option in the plan."""
        return (self.configuration or {}).get(key, default)


Node = TypeVar("Node", bound=ExecNode)

OWN = "flinkplan"
"""The key in a node's JSON for the properties that flinkplan adds."""

_REQUIRED = ("key_columns", "yields", "row_kinds")

_REGISTRY: dict[str, type[ExecNode]] = {}


def exec_node(
    name: str,
    *,
    order: ColumnOrder,
    versions: Mapping[int, str],
    batch: bool = False,
    inputs: int | None = 1,
    states: tuple[State, ...] = (),
    timed: bool = False,
    consumed_options: tuple[str, ...] = (),
    transformations: tuple[str, ...] | None = None,
    identity: tuple[str, ...] = (),
    results: tuple[str, ...] = (),
    judged: tuple[str, ...] = (),
) -> Callable[[type[Node]], type[Node]]:
    """Register a record as the exec node ``stream-exec-<name>``; ``versions`` maps each version to its release.

    ``batch`` says that it is ``batch-exec-<name>``.  ``transformations`` is ``(<name>,)`` unless given.  Raises
    :class:`TypeError` if the class does not override the methods that each class must override.
    """

    def register(cls: type[Node]) -> type[Node]:
        required = (*_REQUIRED, "layout", "keeps_rows") if states or timed else _REQUIRED
        if missing := [method for method in required if getattr(cls, method) is getattr(ExecNode, method)]:
            raise TypeError(f"{cls.__name__} does not override {', '.join(missing)}")
        cls.metadata = NodeMetadata(
            name=f"{BATCH if batch else STREAM}{name}",
            order=order,
            versions=tuple(versions),
            since=tuple(versions.values()),
            inputs=inputs,
            states=states,
            timed=timed,
            consumed_options=consumed_options,
            transformations=(name,) if transformations is None else transformations,
            identity=identity,
            results=results,
            judged=judged,
        )
        _REGISTRY[cls.metadata.name] = cls
        return cls

    return register


def spread_by(properties: Sequence[InputProperty] | None) -> tuple[tuple[int, ...], ...]:
    """The key columns of each input's required distribution."""
    return tuple(input_property.required_distribution.keys or () for input_property in properties or ())


def node_classes() -> Iterator[type[ExecNode]]:
    """All registered node classes."""
    return iter(_REGISTRY.values())


_TYPE = re.compile(r"(?P<name>[a-z-]+)_(?P<version>\d+)")


class UnknownVersionError(UnsupportedError):
    """There is such a node, but not this version of it."""


def class_named(type_name: str) -> type[ExecNode] | None:
    """The class of the nodes of a type, whatever its version; ``None`` where there is no such node."""
    match = _TYPE.fullmatch(type_name)
    return _REGISTRY.get(match["name"]) if match else None


def class_and_version(type_name: str) -> tuple[type[ExecNode], int]:
    """The class and the version of ``stream-exec-calc_1``.

    Raises :class:`PlanError` for a text that is no type, :class:`UnsupportedError` for a type that does not exist, and
    :class:`UnknownVersionError` for a version of it that does not.
    """
    match = _TYPE.fullmatch(type_name)
    cls = _REGISTRY.get(match["name"]) if match else None
    if match is None or cls is None:
        kind = PlanError if match is None else UnsupportedError
        hint = nearest(match["name"] if match else type_name, _REGISTRY)
        if type_name in _REGISTRY:
            hint = f"the version is missing: write '{type_name}_1'"
        hint = hint or "a type is a name and a version: stream-exec-calc_1"
        raise kind(f"there is no exec node '{type_name}'", hint=hint)
    version, name = int(match["version"]), match["name"]
    if version not in cls.metadata.versions:
        hint = f"there is {' and '.join(f'{name}_{known}' for known in cls.metadata.versions)}"
        raise UnknownVersionError(f"'{name}' has no version {version}", hint=hint)
    return cls, version


def node_from_json(json: Any) -> ExecNode:
    """Read a node.  Raises :class:`PlanError` naming the field, or :class:`UnsupportedError` for its type."""
    if not isinstance(json, Mapping):
        raise PlanError(f"a node is an object, not {json!r:.60}")
    type_name = json.get("type")
    if not isinstance(type_name, str):
        raise PlanError(f"a node's type is a name and a version such as 'stream-exec-calc_1', not {type_name!r}")
    cls, version = class_and_version(type_name)
    values: dict[str, Any] = {"version": version}
    known_keys = {"type"}
    for codec in field_codecs(cls):
        if codec.name == "version":
            continue
        known_keys.add(codec.json)
        if codec.json in json:
            values[codec.name] = read_field(codec, json[codec.json])
        elif codec.always_written:
            raise PlanError(f"the field '{codec.json}' is missing")
    unknown = Json({k: v for k, v in json.items() if k not in known_keys})
    if unknown:
        values[unknown_keeper(cls) or ""] = unknown
    if unknown or list(json) != [key for key in _key_order(cls) if key in json]:
        values["key_order"] = tuple(json)
    return cls(**values)


def node_to_json(node: ExecNode) -> dict[str, Any]:
    """Write a node, with its fields in the order in which they were read, by default Flink's."""
    out: dict[str, Any] = {}
    for key, codec in _key_order(type(node)).items():
        if codec is None:
            out[key] = node.type
        elif (value := getattr(node, codec.name)) != codec.default:
            out[key] = codec.write(value)
    out.update(node.unknown)
    order = {key: i for i, key in enumerate(node.key_order)}
    return dict(sorted(out.items(), key=lambda item: order.get(item[0], len(order)))) if order else out


@cache
def _key_order(cls: type[ExecNode]) -> Mapping[str, FieldCodec | None]:
    """The keys of a node's JSON in Flink's order with their codecs, ``None`` for the type."""
    by_place: dict[Place, dict[str, FieldCodec]] = {place: {} for place in Place}
    shared: dict[str, FieldCodec] = {}
    for codec in field_codecs(cls):
        if codec.name != "version":
            (shared if codec.json in _SHARED else by_place[codec.place])[codec.json] = codec
    head = {"id": shared.pop("id"), "type": None, "configuration": shared.pop("configuration"), **by_place[Place.OWN]}
    inputs = {"inputProperties": shared.pop("inputProperties")}
    if cls.metadata.inputs == 0:
        return {**head, **by_place[Place.INPUTS], **shared, **by_place[Place.LAST], **inputs}
    return {**head, **inputs, **by_place[Place.INPUTS], **shared, **by_place[Place.LAST]}


_SHARED = ("id", "configuration", "inputProperties", "outputType", "description")
