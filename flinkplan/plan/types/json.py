"""Types in the JSON of a plan: a text, or an object for types that the text form cannot express."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import PlanError
from ..record import Json, replace
from .logical import WITH_LENGTH, LogicalType, RowField, TimeKind
from .parser import parse_type

_JSON_ROOTS = {
    "TIMESTAMP": "TIMESTAMP_WITHOUT_TIME_ZONE",
    "TIMESTAMP_LTZ": "TIMESTAMP_WITH_LOCAL_TIME_ZONE",
    "TIMESTAMP_TZ": "TIMESTAMP_WITH_TIME_ZONE",
}
_CONVERTED = "logicalType"
"""The type of an object that names the class of the values beside it."""
_FROM_JSON_ROOTS = {v: k for k, v in _JSON_ROOTS.items()}


def type_to_json(t: LogicalType) -> Any:
    """The JSON of a type: its text if that expresses the whole type, else an object."""
    if t.is_said_by_text:
        return t.text
    if t.raw is not None and t.raw.keys() & {"type", _CONVERTED}:
        return dict(t.raw)
    out: dict[str, Any] = {"type": _JSON_ROOTS.get(t.root, t.root)}
    if not t.nullable:
        out["nullable"] = False
    if t.is_time_attribute:
        out["precision"] = t.precision
        out["kind"] = t.kind.value
    elif t.root == "ROW":
        out["fields"] = [
            {"name": f.name, "fieldType": type_to_json(f.type)}
            | ({} if f.description is None else {"description": f.description})
            for f in t.fields
        ]
    elif t.root in ("ARRAY", "MULTISET"):
        out["elementType"] = type_to_json(t.children[0])
    elif t.root == "MAP":
        out["keyType"], out["valueType"] = map(type_to_json, t.children)
    elif t.root in WITH_LENGTH:
        out["length"] = t.length
    return out


def type_from_json(value: Any) -> LogicalType:
    """The inverse of :func:`type_to_json`.  Raises :class:`PlanError` on anything else."""
    if isinstance(value, str):
        return parse_type(value)
    if isinstance(value, Mapping) and _CONVERTED in value:
        return replace(type_from_json(value[_CONVERTED]), raw=Json(value))
    if not isinstance(value, Mapping) or not isinstance(value.get("type"), str):
        raise PlanError(f"a type is a text or an object with a 'type', not {value!r:.80}")
    root = value["type"]
    nullable = value.get("nullable", True)
    if root in _FROM_JSON_ROOTS:
        return LogicalType(
            _FROM_JSON_ROOTS[root],
            nullable,
            precision=value["precision"],
            kind=TimeKind(value.get("kind", "REGULAR")),
        )
    if root == "ROW":
        return LogicalType(
            "ROW",
            nullable,
            fields=tuple(map(_field_from_json, value["fields"])),
        )
    if root in ("ARRAY", "MULTISET"):
        return LogicalType(root, nullable, children=(type_from_json(value["elementType"]),))
    if root == "MAP":
        return LogicalType(
            "MAP", nullable, children=(type_from_json(value["keyType"]), type_from_json(value["valueType"]))
        )
    if root == "SYMBOL":
        return LogicalType("SYMBOL", nullable)
    if root in WITH_LENGTH and "length" in value:
        return LogicalType(root, nullable, length=value["length"])
    return LogicalType(root, nullable, raw=Json(value))


def _field_from_json(json: Any) -> RowField:
    if not isinstance(json, Mapping) or not isinstance(json.get("name"), str) or "fieldType" not in json:
        raise PlanError(f"a field of a row has a 'name' and a 'fieldType', unlike {json!r:.80}")
    return RowField(json["name"], type_from_json(json["fieldType"]), json.get("description"))
