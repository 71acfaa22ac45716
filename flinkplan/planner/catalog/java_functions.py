"""Java functions as the binder calls them: which signature fits the arguments, and the types of the call.

Sources: ``TypeInferenceUtil``, ``OrInputTypeStrategy``, ``ExplicitArgumentTypeStrategy``, ``MappingTypeStrategy``.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...plan.functions.cast import CAST
from ...plan.functions.java import CallTypes, JavaDeclaration, JavaFunction, JavaSignature
from ...plan.functions.model import Kind
from ...plan.record import Json, replace
from ...plan.rex import Call, Literal, RexNode
from ...plan.types import LogicalType, row
from ..rex.casts import avoids_cast, can_cast_implicitly


def java_function(name: str, reference: Json, declaration: JavaDeclaration, is_permanent: bool = False) -> JavaFunction:
    """The function as it is called by ``name``; ``reference`` is the JSON by which plans name it.

    A permanent function is named together with its class.  Source: ``RexNodeJsonSerializer``.
    """

    def infer(operands: Sequence[RexNode]) -> CallTypes | None:
        types = call_types(declaration, operands)
        return _as_rows(types) if declaration.kind is Kind.TABLE else types

    if is_permanent:
        reference = Json({**reference, "class": declaration.class_name})
    return JavaFunction(
        name,
        "",
        (),
        lambda arguments: _result(infer(arguments.values)),
        kind=declaration.kind,
        deterministic=declaration.deterministic,
        sees_null=True,
        declaration=declaration,
        reference=reference,
        is_permanent=is_permanent,
        infer=infer,
    )


def _result(types: CallTypes | None) -> LogicalType:
    assert types is not None, "the arguments were checked"
    return types.result


def _as_rows(types: CallTypes | None) -> CallTypes | None:
    """The types of a call of a table function, whose values are rows: of one column where they are none.

    Source: ``BridgingSqlFunction.WithTableFunction``.
    """
    if types is None:
        return None
    result = types.result
    if result.root in ("ROW", "STRUCTURED"):
        return replace(types, result=row(((f.name, f.type) for f in result.fields), nullable=False))
    return replace(types, result=row([(_ONLY_COLUMN, result)], nullable=False))


_ONLY_COLUMN = "EXPR$0"
"""The name of the column of a table function whose values are no rows."""


def call_types(declaration: JavaDeclaration, operands: Sequence[RexNode]) -> CallTypes | None:
    """The types of a call: by the first signature that needs no cast, else by the first one that fits."""
    types = [operand.type for operand in operands]
    if declaration.signatures is None:
        assert declaration.answers is not None, "who loads a declaration can ask for more"
        return declaration.answers.types(declaration.class_name, types, list(map(_literal, operands)))
    closest: CallTypes | None = None
    for signature in declaration.signatures:
        fitting = _fitting(signature, types)
        if fitting is None:
            continue
        if all(avoids_cast(source, target) for source, target in zip(types, fitting.arguments, strict=True)):
            return fitting
        closest = closest or fitting
    return closest


def _fitting(signature: JavaSignature, types: Sequence[LogicalType]) -> CallTypes | None:
    parameters = signature.parameters(len(types))
    if parameters is None:
        return None
    expected = []
    for given, parameter in zip(types, parameters, strict=True):
        if parameter is not None and not can_cast_implicitly(given, parameter):
            return None
        expected.append(given if parameter is None else parameter)
    return CallTypes(tuple(expected), signature.result, signature.accumulator)


def _literal(operand: RexNode) -> str | None:
    """The value of a literal, also one that was cast, as text."""
    while type(operand) is Call and operand.key == CAST.key:
        (operand,) = operand.operands
    if type(operand) is not Literal or operand.value is None:
        return None
    return str(operand.value).lower() if isinstance(operand.value, bool) else str(operand.value)
