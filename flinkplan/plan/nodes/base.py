"""What all exec nodes share, and the registry they are found through."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, ClassVar, TypeVar

from ..codec import Aside, FieldCodec, Place, Unknown, camel, field_codecs, read_field, unknown_keeper
from ..errors import PlanError, UnsupportedError
from ..record import Json, PartlyCompared, Record, field
from ..row_kinds import Flow, Kinds
from ..savepoint.layout import Inputs, Layout
from ..specs import InputProperty, StateMetadata
from ..types import LogicalType, RowField
from ..yields import Yield

NOT_FLINKS = "flinkplan"
"""In place of the release of Flink, of nodes that Flink does not have."""


class State(Record):
    """A state with a TTL: its name in plans, and what it means that an entry of it expires."""

    name: str
    expiry: str


class ColumnOrder(Enum):
    """In which order a node hands on its columns, where those that it reads stand in another one than was compiled."""

    PASSED = "passed"
    """In the order that it reads, which does not matter to it."""
    EXTENDED = "extended"
    """In the order that it reads, with more behind."""
    JOINED = "joined"
    """In the orders that it reads, side by side."""
    GROUPED = "grouped"
    """Its keys, its aggregates, and what else there is."""
    ACCUMULATED = "accumulated"
    """Its keys, and accumulators: of a first phase, which reads no order but the one that was compiled."""
    CHOSEN = "chosen"
    """In any order that is asked for."""
    COMPILED = "compiled"
    """As compiled, whatever it reads."""
    FIXED = "fixed"
    """As compiled: it reads no other order."""

    @property
    def is_fixed(self) -> bool:
        """Whether the node reads no order but the one that was compiled."""
        return self in (ColumnOrder.ACCUMULATED, ColumnOrder.FIXED)


class NodeMetadata(Record):
    """What is declared once per type of node.

    ``order`` is that of its columns; ``versions`` are the versions that exist, ``since`` the Flink release of each;
    ``inputs`` is how many it takes, ``None`` where that varies; ``states`` are those with a TTL in index order,
    ``timed`` says that it keeps state which the watermark cleans instead; ``consumed_options`` are those whose values
    the plan fixes; ``transformations`` are the operators that Flink may make of the node, by the names that end their
    UIDs.

    The last three say what a change of a field does, for judging upgrades: of an ``identity`` field, the
    state does not survive (also of one named nowhere); of a ``results`` field, the state survives and
    results change; a ``judged`` field has a rule of its own.
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
        """Whether the node is one of this project, which Flink does not have."""
        return NOT_FLINKS in self.since

    @property
    def is_ever_stateful(self) -> bool:
        """Whether an operator of it may keep state between rows."""
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
    """The keys as they were read, where they stand in another order than they are written in."""

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
        """The node's states; empty where it keeps none or the plan leaves them out."""
        return getattr(self, "state", None) or ()

    @property
    def is_stateful(self) -> bool:
        """Whether the operator keeps state between rows."""
        return self.metadata.is_ever_stateful

    @property
    def keepers(self) -> tuple[str, ...]:
        """Those of its transformations that have something in a savepoint of Flink."""
        return self.metadata.transformations if self.is_stateful else ()

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        """The columns of each input whose values bring rows together, none where rows stay where they are."""
        raise NotImplementedError

    def yields(self, inputs: Inputs) -> Iterable[Yield] | None:
        """What its columns are made of, in order; ``None``: it is not known."""
        raise NotImplementedError

    def row_kinds(self, flow: Flow) -> Kinds | None:
        """The kinds of rows that it emits; ``None``: it is not known.  Raises :class:`.row_kinds.NotKnownError`."""
        raise NotImplementedError

    @property
    def keeps_rows(self) -> bool:
        """Whether rows of its inputs are kept as they came, by Flink's operator or here."""
        return False

    def layout(self, inputs: Inputs) -> Layout | None:
        """What its operator keeps by key in a savepoint of Flink; ``None``: nothing, or it is not known."""
        return None

    @classmethod
    def declared_states(cls, inputs: int) -> tuple[State, ...]:
        """The states with a TTL, in index order, of a node with so many inputs."""
        return cls.metadata.states

    def ttl_ms(self, index: int = 0) -> int:
        """The TTL of a state in milliseconds; 0 = never expires, as where the plan has no entry."""
        for state in self.states:
            if state.index == index:
                return state.ttl_ms
        return 0

    @property
    def own(self) -> Mapping[str, Any]:
        """What flinkplan keeps in the node beside what is Flink's, which does not look there."""
        found = self.unknown.get(OWN)
        return found if isinstance(found, Mapping) else {}

    def option(self, key: str, default: str) -> str:
        """A consumed option's value as fixed in the plan."""
        return (self.configuration or {}).get(key, default)


Node = TypeVar("Node", bound=ExecNode)

OWN = "flinkplan"
"""The key of a node under which stands what is not Flink's."""

_REQUIRED = ("key_columns", "yields", "row_kinds")

_REGISTRY: dict[str, type[ExecNode]] = {}


def exec_node(
    name: str,
    *,
    order: ColumnOrder,
    versions: Mapping[int, str],
    inputs: int | None = 1,
    states: tuple[State, ...] = (),
    timed: bool = False,
    consumed_options: tuple[str, ...] = (),
    transformations: tuple[str, ...] | None = None,
    identity: tuple[str, ...] = (),
    results: tuple[str, ...] = (),
    judged: tuple[str, ...] = (),
) -> Callable[[type[Node]], type[Node]]:
    """Register a record as the exec node ``stream-exec-<name>``; ``versions`` maps each to its release.

    ``transformations`` is ``<name>`` alone unless given.  Raises :class:`TypeError` where the class leaves unsaid what
    each one has to say of itself.
    """

    def register(cls: type[Node]) -> type[Node]:
        said = (*_REQUIRED, "layout", "keeps_rows") if states or timed else _REQUIRED
        if unsaid := [method for method in said if getattr(cls, method) is getattr(ExecNode, method)]:
            raise TypeError(f"{cls.__name__} does not say its {', '.join(unsaid)}")
        cls.metadata = NodeMetadata(
            name=f"stream-exec-{name}",
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
    """The key columns of each input as its required distribution says them."""
    return tuple(each.required_distribution.keys or () for each in properties or ())


def node_classes() -> Iterator[type[ExecNode]]:
    """All registered node classes."""
    return iter(_REGISTRY.values())


_TYPE = re.compile(r"(?P<name>[a-z-]+)_(?P<version>\d+)")


def node_from_json(json: Any) -> ExecNode:
    """Read a node.  Raises :class:`PlanError` naming the field, or :class:`UnsupportedError` for its type."""
    if not isinstance(json, Mapping):
        raise PlanError(f"a node is an object, not {json!r:.60}")
    type_name = json.get("type")
    match = _TYPE.fullmatch(type_name) if isinstance(type_name, str) else None
    if match is None:
        raise PlanError(f"a node's type is a name and a version such as 'stream-exec-calc_1', not {type_name!r}")
    cls = _REGISTRY.get(match["name"])
    if cls is None:
        raise UnsupportedError(f"unknown node type '{type_name}'", hint=_nearest(match["name"]))
    version = int(match["version"])
    if version not in cls.metadata.versions:
        known = ", ".join(map(str, cls.metadata.versions))
        raise UnsupportedError(f"unknown version {version} of '{match['name']}'; known: {known}")
    values: dict[str, Any] = {"version": version}
    seen = {"type"}
    for codec in field_codecs(cls):
        if codec.name == "version":
            continue
        seen.add(codec.json)
        if codec.json in json:
            values[codec.name] = read_field(codec, json[codec.json])
        elif codec.always_written:
            raise PlanError(f"the field '{codec.json}' is missing")
    unknown = Json({k: v for k, v in json.items() if k not in seen})
    if unknown:
        values[unknown_keeper(cls) or ""] = unknown
    if unknown or list(json) != [key for key in _key_order(cls) if key in json]:
        values["key_order"] = tuple(json)
    return cls(**values)


def _nearest(name: str) -> str | None:
    import difflib

    close = difflib.get_close_matches(name, _REGISTRY, n=1)
    return f"did you mean '{close[0]}'?" if close else None


def node_to_json(node: ExecNode) -> dict[str, Any]:
    """Write a node, with its fields in Flink's order unless it was read in another."""
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
    """The keys of a node's JSON in Flink's order with how each is read and written, the type apart."""
    own: dict[Place, dict[str, FieldCodec]] = {place: {} for place in Place}
    shared: dict[str, FieldCodec] = {}
    for codec in field_codecs(cls):
        if codec.name != "version":
            (shared if codec.json in _SHARED else own[codec.place])[codec.json] = codec
    head = {"id": shared.pop("id"), "type": None, "configuration": shared.pop("configuration"), **own[Place.OWN]}
    inputs = {"inputProperties": shared.pop("inputProperties")}
    if cls.metadata.inputs == 0:
        return {**head, **own[Place.INPUTS], **shared, **inputs, **own[Place.LAST]}
    return {**head, **inputs, **own[Place.INPUTS], **shared, **own[Place.LAST]}


_SHARED = ("id", "configuration", "inputProperties", "outputType", "description")
