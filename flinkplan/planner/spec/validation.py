"""What the schema of specs refuses, with the places in the file."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...schemas.loader import SPEC, validator
from ..sql.parser import either
from ..sql.source import Span
from .errors import Findings, SpecError
from .nodes import Mapping, Node, Scalar
from .nodes import Sequence as YamlSequence

if TYPE_CHECKING:
    from jsonschema import ValidationError

_KINDS = {
    "object": "a mapping",
    "array": "a list",
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
}
_A_SPEC = "a spec begins with 'version: 1', then tables and inserts: 'flinkplan init --as yaml' writes one"
_COMMA_IN_BRACES = "inside { } a value with a comma needs quotes"
_MISSING = ("required", "anyOf")
"""What is not reported of a mapping with an unknown key: that key is likely the one that is missing, misspelt."""


def validate(document: Node) -> Mapping:
    """The document, a mapping that holds what a spec holds.

    Raises :class:`SpecError`, an ErrorGroup for several.
    """
    if not isinstance(document, Mapping):
        raise SpecError("a spec must be a mapping", document.span, "start with 'version: 1'; 'flinkplan init' helps")
    if (resource := document.entry("apiVersion")) is not None:
        raise SpecError("this is a resource of Kubernetes, not a spec of a pipeline", resource[0].span, _A_SPEC)
    return check_schema(document, SPEC)


def check_schema(document: Mapping, schema: str) -> Mapping:
    """The document, which is as one of our schemas says.  Raises :class:`SpecError`, an ErrorGroup for several."""
    errors = list(validator(schema).iter_errors(document.data))
    misspelt = [error.absolute_path for error in errors if error.validator == "additionalProperties"]
    findings = Findings()
    for error in errors:
        if error.validator in _MISSING and error.absolute_path in misspelt:
            continue
        about_a_key = "propertyNames" in error.absolute_schema_path
        explain = (_OF_KEYS if about_a_key else _OF_VALUES)[str(error.validator)]
        for finding in explain(_At(document, list(error.absolute_path)), error):
            findings.add(finding)
    findings.raise_if_any()
    return document


class _At:
    """The place that a finding of the schema is about."""

    def __init__(self, document: Mapping, path: Sequence[str | int]) -> None:
        self.path = path
        self.key: Scalar | None = None
        self.node: Node = document
        for step in path:
            if isinstance(self.node, Mapping):
                entry = self.node.entry(str(step))
                assert entry is not None, "the schema names keys of the document"
                self.key, self.node = entry
            elif isinstance(self.node, YamlSequence):
                self.key, self.node = None, self.node.items[int(step)]

    @property
    def name(self) -> str:
        """The place in words, such as ``'tables.orders.watermark'``."""
        steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path]
        return f"'{''.join(steps).lstrip('.')}'" if steps else "the spec"

    @property
    def head(self) -> Span:
        """The key, where the value has one: the best place to say that something is missing."""
        return self.key.span if self.key is not None else self.node.span

    def key_span(self, key: str) -> Span:
        """One of the keys of the mapping that is meant."""
        assert isinstance(self.node, Mapping)
        entry = self.node.entry(key)
        return self.head if entry is None else entry[0].span

    @property
    def value(self) -> Span:
        """The value, or its key where the value is empty."""
        return self.node.span if self.node.span.text.strip() else self.head


def _unknown_keys(at: _At, error: ValidationError) -> Iterator[SpecError]:
    assert isinstance(at.node, Mapping)
    known = list(error.schema["properties"])
    for key, value in at.node.entries:
        if key.text not in known:
            yield SpecError(f"unknown key '{key.text}' in {at.name}", key.span, _hint(at.node, key, value, known))


def _hint(mapping: Mapping, key: Scalar, value: Node, known: list[str]) -> str:
    if mapping.flow and value.data is None:
        return _COMMA_IN_BRACES
    near = difflib.get_close_matches(key.text.lower().replace("_", "-"), known, 1, 0.6)
    return f"did you mean '{near[0]}'?" if near else f"the keys here are {', '.join(known)}"


def _wrong_type(at: _At, error: ValidationError) -> Iterator[SpecError]:
    expected = error.validator_value
    kinds = [_KINDS[kind] for kind in ([expected] if isinstance(expected, str) else expected) if kind in _KINDS]
    hint = _COMMA_IN_BRACES if _cut_at_comma(at) else None
    if isinstance(at.node, Scalar) and kinds == ["a text"] and at.node.data is not None:
        hint = f"put quotes around it: '{at.node.text}'"
    yield SpecError(f"{at.name} must be {either(kinds)}, not {_kind(at.node)}", at.value, hint)


def _cut_at_comma(at: _At) -> bool:
    return at.node.data is None and at.key is not None and at.key.text.endswith(")")


def _kind(node: Node) -> str:
    data = node.data
    if isinstance(data, bool):
        return f"the truth value {str(data).lower()}"
    if isinstance(data, int | float):
        return f"the number {data}"
    if isinstance(data, str):
        return "a text"
    return "nothing" if data is None else "a list" if isinstance(data, list) else "a mapping"


def _missing_keys(at: _At, error: ValidationError) -> Iterator[SpecError]:
    """There is an error for each missing key, and its message alone says for which."""
    assert isinstance(at.node, Mapping)
    for key in error.validator_value:
        if at.node.entry(key) is None and error.message.startswith(repr(key)):
            yield SpecError(f"{at.name} has no '{key}'", at.head, _missing_hint(at, key))


def _missing_hint(at: _At, key: str) -> str | None:
    if key == "metadata":
        return "'virtual' says of a metadata column that it is not written"
    return "start with 'version: 1'" if key == "version" else None


def _no_alternative(at: _At, error: ValidationError) -> Iterator[SpecError]:
    """A column without type and expression, or a table without options."""
    assert isinstance(at.node, Mapping)
    keys = [key for branch in error.validator_value for key in branch.get("required", ())]
    yield SpecError(f"{at.name} has neither {' nor '.join(repr(key) for key in keys)}", at.head)


def _not_of_the_list(at: _At, error: ValidationError) -> Iterator[SpecError]:
    values = list(error.validator_value)
    actual = f"'{at.node.text}'" if isinstance(at.node, Scalar) and at.node.text else _kind(at.node)
    near = difflib.get_close_matches(actual.strip("'").lower(), values, 1, 0.6)
    hint = f"did you mean '{near[0]}'?" if near else None
    yield SpecError(f"{at.name} must be {either(map(repr, values))}, not {actual}", at.value, hint)


def _no_such_word(at: _At, error: ValidationError) -> Iterator[SpecError]:
    """A text that is none of those that a pattern lists."""
    words = error.validator_value.strip("^$()").split("|")
    actual = at.node.text if isinstance(at.node, Scalar) else ""
    near = difflib.get_close_matches(actual.lower(), words, 1, 0.6)
    hint = f"did you mean '{near[0]}'?" if near else None
    yield SpecError(f"{at.name} must be {either(map(repr, words))} or a mapping, not '{actual}'", at.value, hint)


def _other_version(at: _At, error: ValidationError) -> Iterator[SpecError]:
    yield SpecError(f"{at.name} must be {error.validator_value}, the one version of this format", at.value)


def _empty(at: _At, error: ValidationError) -> Iterator[SpecError]:
    yield SpecError(f"{at.name} is empty", at.value)


def _empty_key(at: _At, error: ValidationError) -> Iterator[SpecError]:
    yield SpecError(f"a key in {at.name} is empty", at.key_span(error.instance))


def _excluded_key(at: _At, error: ValidationError) -> Iterator[SpecError]:
    """A key that another one beside it rules out; the schema names that one."""
    path = list(error.absolute_schema_path)
    other = path[path.index("dependentSchemas") + 1]
    yield SpecError(f"'{error.instance}' cannot stand beside '{other}' in {at.name}", at.key_span(error.instance))


_OF_KEYS: dict[str, Callable[[_At, Any], Iterator[SpecError]]] = {"minLength": _empty_key, "not": _excluded_key}
_OF_VALUES: dict[str, Callable[[_At, Any], Iterator[SpecError]]] = {
    "additionalProperties": _unknown_keys,
    "anyOf": _no_alternative,
    "const": _other_version,
    "enum": _not_of_the_list,
    "minItems": _empty,
    "minLength": _empty,
    "minProperties": _empty,
    "pattern": _no_such_word,
    "required": _missing_keys,
    "type": _wrong_type,
}
