"""The compiled plan as a document: nodes, edges, and their JSON text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from json.encoder import encode_basestring
from operator import attrgetter
from pathlib import Path
from typing import Any

from .cloned_exchanges import with_edges_of_clones
from .codec import PlanRecord, Unknown, read_object, write_object
from .errors import FlinkplanError, PlanError
from .interpreter import deep_recursion, no_garbage_collection
from .nodes import ExecNode, node_from_json, node_to_json
from .output import EMPTY_PATH, IS_DIRECTORY, write_text
from .record import Json, Record, cached_property, field
from .structure import EdgeOutline, NodeOutline, Outline, key_faults, kind_of, structure_faults
from .text.json_text import parse_json
from .text.spelling import Number

SAVE_AS_UTF8 = "save it as UTF-8"
"""The hint where a text cannot be decoded."""

FLINK_VERSION = "2.3"
"""The release whose plans flinkplan compiles."""


class Shuffle(PlanRecord):
    """How rows travel along an edge."""

    type: str
    unknown: Unknown = field(default_factory=Json)


class Edge(PlanRecord):
    """From the node ``source`` into the node ``target``; a target's edges stand in the order of its inputs."""

    source: int
    target: int
    shuffle: Shuffle = Shuffle("FORWARD")
    shuffle_mode: str = "PIPELINED"
    unknown: Unknown = field(default_factory=Json)


class Plan(Record, dict=True):
    """A compiled plan.  ``nodes`` are in topological order."""

    flink_version: str
    nodes: tuple[ExecNode, ...]
    edges: tuple[Edge, ...]

    @cached_property
    def by_id(self) -> Mapping[int, ExecNode]:
        """The nodes by their ids."""
        return {node.id: node for node in self.nodes}

    @property
    def is_batch(self) -> bool:
        """Whether the plan is of batch mode, whose nodes are others than those of streaming mode."""
        return any(node.metadata.is_batch for node in self.nodes)

    @cached_property
    def _inputs(self) -> Mapping[int, tuple[ExecNode, ...]]:
        inputs: dict[int, list[ExecNode]] = {node.id: [] for node in self.nodes}
        for edge in self.edges:
            inputs[edge.target].append(self.by_id[edge.source])
        return {target: tuple(sources) for target, sources in inputs.items()}

    @cached_property
    def _outputs(self) -> Mapping[int, tuple[ExecNode, ...]]:
        outputs: dict[int, list[ExecNode]] = {node.id: [] for node in self.nodes}
        for edge in self.edges:
            outputs[edge.source].append(self.by_id[edge.target])
        return {source: tuple(targets) for source, targets in outputs.items()}

    def inputs(self, node: ExecNode) -> tuple[ExecNode, ...]:
        """The nodes that feed ``node``, in the order of its inputs."""
        return self._inputs[node.id]

    def outputs(self, node: ExecNode) -> tuple[ExecNode, ...]:
        """The nodes that ``node`` feeds."""
        return self._outputs[node.id]

    def upstream(
        self, nodes: Iterable[ExecNode], ends: Callable[[ExecNode], bool] = lambda node: False
    ) -> Iterator[ExecNode]:
        """``nodes`` and all nodes that feed them, each once; inputs of a node that ``ends`` accepts are left out."""
        pending = list(nodes)
        visited = set()
        while pending:
            node = pending.pop()
            if node.id not in visited:
                visited.add(node.id)
                yield node
                if not ends(node):
                    pending.extend(reversed(self.inputs(node)))

    @property
    def sinks(self) -> tuple[ExecNode, ...]:
        """The nodes that feed nothing."""
        return tuple(n for n in self.nodes if not self.outputs(n))


# ---------------------------------------------------------------- JSON


def plan_from_json(document: Any) -> Plan:
    """Read a plan from parsed JSON.

    Raises :class:`PlanError` or :class:`UnsupportedError`, naming the node and its JSON pointer.
    """
    for fault in key_faults(document):
        raise fault.error
    document = with_edges_of_clones(document)
    for key in ("nodes", "edges"):
        if not isinstance(document[key], list):
            raise PlanError(f"'{key}' must be a list, not {kind_of(document[key])}", where=f"/{key}")
    nodes = tuple(_read_at(f"/nodes/{i}", node_from_json, n) for i, n in enumerate(document["nodes"]))
    edges = tuple(_read_at(f"/edges/{i}", _edge, e) for i, e in enumerate(document["edges"]))
    _check_structure(nodes, edges)
    return Plan(str(document["flinkVersion"]), nodes, edges)


def _edge(json: Any) -> Edge:
    edge: Edge = read_object(Edge, json)
    return edge


def _read_at(pointer: str, read: Any, json: Any) -> Any:
    try:
        return read(json)
    except FlinkplanError as e:
        where = pointer
        if isinstance(json, Mapping) and "id" in json:
            where = f"node {json['id']} ({pointer})"
        raise type(e)(e.message, where=where, hint=e.hint) from None


def _check_structure(nodes: Sequence[ExecNode], edges: Sequence[Edge]) -> None:
    """Raise :class:`PlanError` for the first fault of the nodes and edges together."""
    outline = Outline(
        [NodeOutline(i, node.id, node.type, type(node)) for i, node in enumerate(nodes)],
        [EdgeOutline(i, edge.source, edge.target) for i, edge in enumerate(edges)],
    )
    for fault in structure_faults(outline):
        raise fault.error


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """The plan as JSON values, keys in Flink's order."""
    return {
        "flinkVersion": plan.flink_version,
        "nodes": [node_to_json(n) for n in plan.nodes],
        "edges": [_edge_json(e) for e in plan.edges],
    }


def _edge_json(edge: Edge) -> dict[str, Any]:
    """An edge with all its fields, including those that have their default."""
    return {
        "source": edge.source,
        "target": edge.target,
        "shuffle": write_object(edge.shuffle),
        "shuffleMode": edge.shuffle_mode,
        **edge.unknown,
    }


@deep_recursion
def loads(text: str, file: str | None = None) -> Plan:
    """Read a plan from its text.  ``file`` names it in errors.  Raises :class:`PlanError`."""
    try:
        return plan_from_json(parse_json(text, file))
    except FlinkplanError as e:
        place(e, text, file)
        raise
    except RecursionError:
        raise PlanError("the plan is nested too deeply", where=file) from None


def place(error: FlinkplanError, text: str, file: str | None) -> None:
    """Replace the JSON pointer in an error's place by the line and column in the file."""
    if error.where is None:
        error.where = file
    elif isinstance(error.where, str) and (match := _PLACE.fullmatch(error.where)):
        from .text.positions import Positions

        if match["node"]:
            error.message = f"{match['node']}: {error.message}"
        error.where = Positions(text, file).location(match["pointer"])


_PLACE = re.compile(r"(?:(?P<node>node \S+) \()?(?P<pointer>/[^)]*)\)?")


def load(path: str | Path) -> Plan:
    """Read a plan from a file.  Raises :class:`PlanError`."""
    return loads(read_text(path), str(path))


def read_text(path: str | Path) -> str:
    """The text of a file.  Raises :class:`PlanError` where it cannot be read."""
    if not str(path):
        raise PlanError(EMPTY_PATH, hint="name a file")
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PlanError("no such file", where=str(path), hint=_similar_file(Path(path))) from None
    except IsADirectoryError:
        raise PlanError(IS_DIRECTORY, where=str(path), hint="name a file in it") from None
    except NotADirectoryError:
        hint = f"'{Path(path).parent}' is not a directory"
        raise PlanError("no such file", where=str(path), hint=hint) from None
    except UnicodeDecodeError as e:
        raise PlanError(f"not UTF-8 text (byte {e.start})", where=str(path), hint=SAVE_AS_UTF8) from None
    except OSError as e:
        raise PlanError(f"the file cannot be read: {e.strerror or e}", where=str(path)) from None


def _similar_file(path: Path) -> str | None:
    """A hint with the file of the same directory with the most similar name; ``None`` if there is none."""
    import difflib

    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"there is no directory '{path.parent}'"
    similar = difflib.get_close_matches(path.name, names, n=1, cutoff=0.75)
    return f"did you mean '{similar[0]}'?" if similar else None


@deep_recursion
@no_garbage_collection
def dumps(plan: Plan) -> str:
    """The plan's text, as Flink writes it."""
    return pretty(plan_to_json(plan))


def save(plan: Plan, path: str | Path) -> None:
    """Write a plan to a file, which is replaced as a whole or not at all."""
    write_text(path, dumps(plan))


def pretty(value: Any, indent: str = "") -> str:
    """JSON text laid out as Jackson's pretty printer does: ``"key" : value``, ``[ {`` on one line."""
    pieces: list[str] = []
    _write(value, indent, pieces.append)
    return "".join(pieces)


def _write(value: Any, indent: str, put: Callable[[str], None]) -> None:
    """Emit the pieces of a text.  They are joined only once, since joining level by level copies them at each level."""
    if isinstance(value, (list, tuple)):
        start = "[ "
        for v in value:
            if spell := _SPELLINGS.get(type(v)):
                put(start + spell(v))
            else:
                put(start)
                _write(v, indent, put)
            start = ", "
        put(" ]" if value else "[ ]")
    elif isinstance(value, (dict, Mapping)):
        inner = indent + "  "
        start, further = f"{{\n{inner}", f",\n{inner}"
        for k, v in value.items():
            if spell := _SPELLINGS.get(type(v)):
                put(f"{start}{encode_basestring(k)} : {spell(v)}")
            else:
                put(f"{start}{encode_basestring(k)} : ")
                _write(v, inner, put)
            start = further
        put(f"\n{indent}}}" if value else "{ }")
    else:
        put(_SPELLINGS.get(type(value), json.dumps)(value))


_SPELLINGS: Mapping[type, Callable[[Any], str]] = {
    str: encode_basestring,
    int: str,
    bool: {True: "true", False: "false"}.__getitem__,
    Number: attrgetter("spelling"),
}
"""How scalar values are written."""
