"""Python functions of a plan for Spark's workers: their code, their arguments, and the columns that they compute.

Spark hands the arguments of all calls of a node to a Python worker in Arrow batches and puts the results beside the
rows, which stay in the JVM: their order, kinds and watermarks are as before.
"""

from __future__ import annotations

import base64
import sys
import sysconfig
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....plan.durations import parse_duration
from ....plan.errors import FlinkplanError, UnsupportedError
from ....plan.functions.user import PythonFunction
from ....plan.rex import Call, InputRef, Literal, RexNode
from ....plan.session import DEFAULTS
from ....plan.settings import ASYNC_SCALAR, BUNDLE_ROWS, JOB_PARAMETERS, PANDAS_ROWS, PYTHON_METRICS
from ....plan.types import LogicalType
from ....plan.user_functions import function_of_call
from ....udf.as_pyflink import is_installed, is_real_installed
from ....udf.asynchronous import AsyncOptions
from ....udf.code import FunctionCode, Imports
from ....udf.opening import Surroundings
from ....udf.scalar import Argument, Called, Constant
from ...errors import ExecutionError
from ...jvm.spark import F
from ..context import TranslationContext
from ..stream import SEQUENCE, Stream
from ..time.event_time import by_watermark_of_all

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType


def function_code(function: PythonFunction, context: TranslationContext) -> FunctionCode:
    """The code of a function for the workers.  Raises :class:`FlinkplanError` where it cannot be sent to them."""
    from pyspark import cloudpickle

    declaration = function.declaration
    try:
        pickled: bytes = cloudpickle.dumps(declaration.function)  # type: ignore[no-untyped-call]
    except Exception as e:
        raise FlinkplanError(
            f"the Python function {function.name} cannot be sent to Spark's workers: {e}",
            hint="create what cannot be pickled, such as connections and locks, in its method open",
        ) from None
    own = declaration.function
    name = getattr(own, "__name__", type(own).__name__) if function.name.startswith("*") else function.name
    return FunctionCode(name, declaration.python, declaration.takes_row, pickled, imports(context, declaration.folders))


def imports(context: TranslationContext, folders: Sequence[str]) -> Imports:
    """Where functions of these folders import modules from: there, and where this process does."""
    ours = str(Path(__file__).parents[4])
    known = {str(Path(path).resolve()) for path in (*sysconfig.get_paths().values(), ours)}
    paths = [str(Path(path or ".").resolve()) for path in sys.path]
    own = (path for path in paths if path not in known and not path.startswith(sys.base_prefix))
    return Imports(
        context.python_job,
        tuple(folders),
        tuple(dict.fromkeys(path for path in own if "site-packages" not in path and path not in folders)),
        is_installed() and is_real_installed(),
    )


def by_watermark_of_bundles(stream: Stream, context: TranslationContext) -> Stream:
    """The stream whose rows are late by the watermark before their micro-batch, unless bundles have one row.

    PyFlink's operators hold a watermark back until they have sent the bundle of rows on that came before it.
    Source: ``AbstractPythonFunctionOperator.processWatermark``.
    """
    return stream if int(_options(context)[BUNDLE_ROWS]) == 1 else by_watermark_of_all(stream)


def _options(context: TranslationContext) -> Mapping[str, str]:
    """The options of the session and of the node."""
    own = (context.node.configuration if context.node is not None else None) or {}
    return {**DEFAULTS, **context.query.options, **own}


def surroundings(context: TranslationContext) -> Surroundings:
    """What the functions of the node are called in, by the options of the session."""
    node, options = context.node, _options(context)
    retries = options[f"{ASYNC_SCALAR}retry-strategy"].upper() != "NO_RETRY"
    return Surroundings(
        zone=context.time_zone,
        job_parameters=tuple(_parameters(options[JOB_PARAMETERS]).items()),
        has_metrics=options[PYTHON_METRICS].lower() == "true",
        task_name="" if node is None else node.description or node.type,
        rows_per_call=min(int(options[PANDAS_ROWS]), int(options[BUNDLE_ROWS])),
        asynchronous=AsyncOptions(
            int(options[f"{ASYNC_SCALAR}max-concurrent-operations"]),
            parse_duration(options[f"{ASYNC_SCALAR}timeout"]) / 1000,
            int(options[f"{ASYNC_SCALAR}max-attempts"]) if retries else 1,
            parse_duration(options[f"{ASYNC_SCALAR}retry-delay"]) / 1000,
        ),
        stream=None if context.is_batch or node is None else f"{context.python_job} {node.id}",
    )


def _parameters(text: str) -> dict[str, str]:
    """The job parameters, ``key:value,key:value``; parts in quotes may have colons and commas."""
    pairs = (list(_split(entry, ":", 1)) for entry in _split(text, ","))
    return {_unquoted(pair[0]): _unquoted(pair[1]) for pair in pairs if len(pair) == 2}


def _split(text: str, separator: str, most: int = -1) -> Iterator[str]:
    quote, part = "", ""
    for char in text:
        if char == separator and not quote and most != 0:
            most -= 1
            yield part
            part = ""
            continue
        if char in "'\"" and quote in ("", char):
            quote = "" if quote else char
        part += char
    if part:
        yield part


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1].replace(text[0] * 2, text[0])
    return text


class CallsOfNode:
    """The calls of a node, gathered: which functions and which columns they need."""

    def __init__(self, stream: Stream, context: TranslationContext) -> None:
        self._stream = stream
        self._context = context
        self._functions: dict[int, int] = {}
        self._columns: dict[int, int] = {}
        self.codes: list[FunctionCode] = []

    def called(self, rex: RexNode) -> Called:
        """A call of a function."""
        assert type(rex) is Call
        function = function_of_call(rex)
        assert function is not None, "it was checked"
        number = self._functions.get(id(function))
        if number is None:
            number = self._functions[id(function)] = len(self.codes)
            self.codes.append(function_code(function, self._context))
        return Called(number, tuple(map(self._operand, rex.operands)))

    def _operand(self, rex: RexNode) -> Argument | Constant | Called:
        match rex:
            case InputRef(index=index):
                return Argument(self._columns.setdefault(index, len(self._columns)))
            case Literal():
                return Constant(constant(rex), rex.type)
        return self.called(rex)

    @property
    def columns(self) -> list[Column]:
        """The columns that are arguments; the rows' numbers if there are none, for Spark to count them."""
        return [self._stream.column(i) for i in self._columns] or [F.col(SEQUENCE)]

    @property
    def types(self) -> tuple[LogicalType, ...]:
        """The types of the columns."""
        return tuple(self._stream.type.field_types[i] for i in self._columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._stream.type.field_names[i] for i in self._columns)


def constant(rex: Literal) -> Any:
    """The Python value of a literal, as PyFlink gives it.  Source: ``PythonBridgeUtils.convertLiteralToPython``."""
    value, t = rex.value, rex.type
    if value is None:
        return None
    match t.root:
        case "DECIMAL":
            return Decimal(str(value))
        case "FLOAT" | "DOUBLE":
            return float(value)
        case "DATE":
            return date.fromisoformat(value)
        case "TIME":
            return time.fromisoformat(value)
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return datetime.fromisoformat(value)
        case "BINARY" | "VARBINARY":
            return base64.b64decode(value)
        case "BOOLEAN" | "CHAR" | "VARCHAR" | "TINYINT" | "SMALLINT" | "INT" | "BIGINT":
            return value
    raise UnsupportedError(f"a literal of the type {t} as an argument of a Python function")


def arrow_column(work: Callable[..., Any], result: DataType, columns: Sequence[Column]) -> Column:
    """The column that ``work`` computes of Arrow batches of columns.

    It is computed once for each row, wherever its value is used and whether or not a filter follows.  Raises
    :class:`ExecutionError` where Python lacks what Spark's workers need.
    """
    from pyspark.errors import PySparkImportError

    with _quiet():
        try:
            from pyspark.sql.pandas.functions import ArrowUDFType, arrow_udf

            make: Callable[..., Any] = arrow_udf
            column: Column = make(work, result, ArrowUDFType.SCALAR_ITER).asNondeterministic()(*columns)
            return column
        except PySparkImportError as e:
            message = f"Python functions need more of Python: {e}"
            raise ExecutionError(message, hint="pip install 'flinkplan[python]'") from None


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # Spark prefers type hints
        warnings.simplefilter("ignore", FutureWarning)  # of pandas, of which nothing is used here
        yield
