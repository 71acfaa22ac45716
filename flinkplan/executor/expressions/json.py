"""JSON functions."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ...plan.errors import UnsupportedError
from ...plan.functions.model import POSTFIX
from ...plan.rex import Call, Literal
from ...plan.types import BINARY_STRING, CHARACTER, INTEGERS, TIMESTAMPS, LogicalType
from ..jvm.spark import F, T
from ..jvm.types import cast_type, field_name, has_nanos, spark_type
from .jvm import invoke
from .maps import entries_of
from .registry import Invocation, kernel, literal_operands, scalar
from .timestamps import nanos_of, to_micros

if TYPE_CHECKING:
    from pyspark.sql import Column

kernel("$JSON_QUOTE$1", "Json.quote")
kernel("$JSON_UNQUOTE$1", "Json.unquote")
kernel("$JSON$1", "Json.normalize")

_FOUND, _EMPTY = 0, 1
_OTHER_FILTER = re.compile(r"\?\(.*(\$| (in|nin|subsetof|anyof|noneof|contains|size|empty|type) |\(\))")

# ---------------------------------------------------------------- paths


def _check_path(call: Invocation) -> None:
    """Refuse, before the job starts, a constant path with a part that is not understood."""
    path = call.call.operands[1]
    if isinstance(path, Literal) and _OTHER_FILTER.search(str(path.value)):
        raise UnsupportedError(
            f"this filter of a JSON path is not supported: '{path.value}'",
            hint="a filter compares with == != < <= > >=, matches with =~, and joins with && || !",
        )


def _outcome(method: str, value: LogicalType, json_text: Column, path: Column, option: str) -> Column:
    returns = T.StructType([T.StructField("outcome", T.IntegerType()), T.StructField("value", spark_type(value))])
    return invoke(method, returns, json_text, path, F.lit(option))


def _resolved(read: Column, value: Column, on_empty: Column, on_error: Column) -> Column:
    """The value read, or what ON EMPTY and ON ERROR say; NULL for a NULL document."""
    outcome = read.getField("outcome")
    return F.when(outcome == _FOUND, value).when(outcome == _EMPTY, on_empty).when(outcome.isNotNull(), on_error)


def _error(call: Invocation, why: str) -> Column:
    return F.raise_error(F.lit(f"{call.name}: {why}")).cast(cast_type(call.type))


@scalar("$JSON_VALUE$1", kernel=True)
def json_value(call: Invocation, text: Column, path: Column, *defaults: Column) -> Column:
    """``JSON_VALUE(json, path [RETURNING type] [… ON EMPTY] [… ON ERROR])``."""
    _check_path(call)
    target = spark_type(call.type)
    read = _outcome("Json.value", LogicalType("VARCHAR"), text, path, call.type.root)
    on_empty, on_error = _value_behaviours(call, list(defaults))
    return _resolved(read, read.getField("value").cast(target), on_empty, on_error)


def _value_behaviours(call: Invocation, defaults: list[Column]) -> tuple[Column, Column]:
    """ON EMPTY and ON ERROR: each is written as its behaviour, the value of a DEFAULT, and the case it is for."""
    chosen = {"EMPTY": F.lit(None), "ERROR": F.lit(None)}
    symbols = [o for o in call.call.operands if isinstance(o, Literal) and o.symbol]
    for behaviour, case in zip(symbols[::2], symbols[1::2], strict=True):
        if behaviour.value == "DEFAULT":
            chosen[case.value] = defaults.pop(0)
        elif behaviour.value == "ERROR":
            chosen[case.value] = _error(call, f"the result is {'empty' if case.value == 'EMPTY' else 'an error'}")
    target = spark_type(call.type)
    return chosen["EMPTY"].cast(target), chosen["ERROR"].cast(target)


@scalar("$JSON_QUERY$1", kernel=True)
def json_query(call: Invocation, text: Column, path: Column) -> Column:
    """``JSON_QUERY(json, path [RETURNING type] [… WRAPPER] [… ON EMPTY] [… ON ERROR])``."""
    _check_path(call)
    method = "Json.queryArray" if call.type.root == "ARRAY" else "Json.query"
    read = _outcome(method, call.type, text, path, call.symbol(2))
    on_empty, on_error = (_query_behaviour(call, call.symbol(i)) for i in (3, 4))
    return _resolved(read, read.getField("value"), on_empty, on_error)


def _query_behaviour(call: Invocation, behaviour: str) -> Column:
    target = spark_type(call.type)
    if behaviour == "ERROR":
        return _error(call, "the result is empty or an error")
    if behaviour == "EMPTY_ARRAY":
        return F.array().cast(target) if call.type.root == "ARRAY" else F.lit("[]")
    if behaviour == "EMPTY_OBJECT" and call.type.root != "ARRAY":
        return F.lit("{}")
    return F.lit(None).cast(target)


@scalar("$JSON_EXISTS$1", kernel=True)
def json_exists(call: Invocation, text: Column, path: Column) -> Column:
    """``JSON_EXISTS(json, path [… ON ERROR])``."""
    _check_path(call)
    result = invoke("Json.exists", T.BooleanType(), text, path)
    on_error = call.symbol(2) if len(call.types) > 2 else "FALSE"
    if on_error == "UNKNOWN":
        return result
    otherwise = _error(call, "the path fails") if on_error == "ERROR" else F.lit(on_error == "TRUE")
    return F.when(text.isNotNull() & path.isNotNull(), F.coalesce(result, otherwise))


# ---------------------------------------------------------------- predicates


def _predicate(kind: str, method: str) -> None:
    @scalar(f"$IS JSON {kind}$1", syntax=POSTFIX, kernel=True)
    def positive(call: Invocation, text: Column) -> Column:
        return F.coalesce(invoke(method, T.BooleanType(), text), F.lit(False))

    @scalar(f"$IS NOT JSON {kind}$1", syntax=POSTFIX, kernel=True)
    def negative(call: Invocation, text: Column) -> Column:
        return ~positive(call, text)


_predicate("VALUE", "Json.isValue")
_predicate("SCALAR", "Json.isScalar")
_predicate("ARRAY", "Json.isArray")
_predicate("OBJECT", "Json.isObject")

# ---------------------------------------------------------------- construction

_NUMBERS = {"DECIMAL": "Json.ofDecimal", "DOUBLE": "Json.ofDouble", "FLOAT": "Json.ofFloat"}
_JSON_CALLS = ("$JSON_OBJECT$1", "$JSON_ARRAY$1", "$JSON$1")


@scalar("$JSON_STRING$1", kernel=True)
def json_string(call: Invocation, a: Column) -> Column:
    """A value as JSON; NULL for NULL."""
    return to_json(a, call.types[0])


@scalar("$JSON_OBJECT$1", kernel=True, check=literal_operands(lambda call: range(1, len(call.operands), 2)))
def json_object(call: Invocation, *operands: Column) -> Column:
    """``JSON_OBJECT([KEY] key VALUE value, … [NULL | ABSENT ON NULL])``; keys are written in order."""
    keep_nulls = call.symbol(0) == "NULL"
    values: dict[str, Column] = {}
    for position, column in enumerate(operands[1::2]):
        index = 2 + 2 * position
        values[str(call.constant(index - 1))] = _member(call, index, column, keep_nulls=keep_nulls)
    members = [F.concat(F.lit(_key(k)), values[k]) for k in sorted(values)]
    return _enclose("{", F.concat_ws(",", *members), "}")


@scalar("$JSON_ARRAY$1", kernel=True)
def json_array(call: Invocation, *operands: Column) -> Column:
    """``JSON_ARRAY(value, … [NULL | ABSENT ON NULL])``."""
    keep_nulls = call.symbol(0) == "NULL"
    members = [_member(call, i, o, keep_nulls=keep_nulls) for i, o in enumerate(operands, start=1)]
    return _enclose("[", F.concat_ws(",", *members), "]")


def _member(call: Invocation, index: int, a: Column, *, keep_nulls: bool) -> Column:
    """The operand at ``index`` as JSON; what a JSON function made is JSON already."""
    operand = call.call.operands[index]
    made = isinstance(operand, Call) and operand.name in _JSON_CALLS
    member = a if made else to_json(a, operand.type)
    return _or_null(member) if keep_nulls else member


def to_json(a: Column, t: LogicalType) -> Column:
    """``a`` as JSON text; NULL for NULL.  Raises :class:`UnsupportedError` for a type that JSON does not take."""
    if t.root in CHARACTER:
        return invoke("Json.string", T.StringType(), a)
    if t.root in (*INTEGERS, "BOOLEAN", "NULL"):
        return a.cast("string")
    if t.root in _NUMBERS:
        return invoke(_NUMBERS[t.root], T.StringType(), a)
    if t.root in BINARY_STRING:
        return _enclose('"', invoke("Strings.toBase64", T.StringType(), a), '"')
    if t.root == "VARIANT":
        return invoke("Variants.text", T.StringType(), a)
    if t.root in TIMESTAMPS:
        return _timestamp(a, t)
    if t.root == "ARRAY":
        elements = F.transform(a, lambda x: to_json(x, t.element))
        return _enclose("[", F.array_join(elements, ",", "null"), "]")
    if t.root in ("MAP", "MULTISET"):
        return _map(a, t)
    if t.root in ("ROW", "STRUCTURED"):
        names = sorted(range(len(t.fields)), key=lambda i: t.fields[i].name)
        return F.when(a.isNotNull(), _enclose("{", F.concat_ws(",", *(_field(a, t, i) for i in names)), "}"))
    raise UnsupportedError(f"values of the type {t} cannot be written as JSON")


def _field(a: Column, t: LogicalType, index: int) -> Column:
    field = t.fields[index]
    return F.concat(F.lit(_key(field.name)), _or_null(to_json(a.getField(field_name(index)), field.type)))


def _map(a: Column, t: LogicalType) -> Column:
    if t.children[0].root not in CHARACTER:
        raise UnsupportedError(f"values of the type {t} cannot be written as JSON: its keys are no texts")
    value_type = LogicalType("INT") if t.root == "MULTISET" else t.children[1]

    def entry(e: Column) -> Column:
        key = to_json(e.getField("key"), t.children[0])
        return F.concat(key, F.lit(":"), _or_null(to_json(e.getField("value"), value_type)))

    return _enclose("{", F.array_join(F.array_sort(F.transform(entries_of(a, t), entry)), ","), "}")


def _timestamp(a: Column, t: LogicalType) -> Column:
    """ISO 8601 with as many digits of the second as are needed."""
    zone = "Z" if t.root == "TIMESTAMP_LTZ" else ""
    text = F.date_format(to_micros(a, t), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS")
    if has_nanos(t):
        text = F.concat(text, F.lpad(nanos_of(a, t).cast("string"), 3, "0"))
    return _enclose('"', F.regexp_replace(text, r"\.?0+$", ""), f'{zone}"')


def _key(name: str) -> str:
    return json.dumps(name, ensure_ascii=False) + ":"


def _or_null(text: Column) -> Column:
    return F.coalesce(text, F.lit("null"))


def _enclose(start: str, text: Column, end: str) -> Column:
    return F.concat(F.lit(start), text, F.lit(end))
