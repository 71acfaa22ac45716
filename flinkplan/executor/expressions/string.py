"""Functions on text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...plan.functions.model import BINARY, SPECIAL
from ...plan.types import INTEGERS
from ..jvm.spark import F, T
from ..jvm.types import field_name, spark_type
from .jvm import invoke
from .registry import Invocation, kernel, native, scalar

if TYPE_CHECKING:
    from pyspark.sql import Column

native("$UPPER$1", F.upper)
native("$LOWER$1", F.lower)
native("$CHAR_LENGTH$1", F.char_length)
native("$CONCAT$1", F.concat)
native("$||$1", F.concat, BINARY)
native("$REVERSE$1", F.reverse)
native("$REPEAT$1", F.repeat)
native("$LEFT$1", F.left)
native("$RIGHT$1", F.right)
native("$POSITION$1", F.position)
native("$STARTSWITH$1", F.startswith)
native("$ENDSWITH$1", F.endswith)
native("$ELT$1", F.elt)
native("$LTRIM$1", F.ltrim)
native("$RTRIM$1", F.rtrim)
native("$BTRIM$1", F.btrim)
kernel("$REPLACE$1", "Strings.replace")
kernel("$OVERLAY$1", "Strings.overlay")
kernel("$LPAD$1", "Strings.lpad")
kernel("$RPAD$1", "Strings.rpad")
kernel("$INITCAP$1", "Strings.initcap")
kernel("$ASCII$1", "Strings.ascii")
kernel("$CHR$1", "Strings.chr")
kernel("$SPLIT$1", "Strings.split")
kernel("$REGEXP$1", "Patterns.find")
kernel("$REGEXP_COUNT$1", "Patterns.count")
kernel("$REGEXP_INSTR$1", "Patterns.instr")
kernel("$REGEXP_REPLACE$1", "Patterns.replace")
kernel("$LIKE$1", "Patterns.like", SPECIAL)
kernel("$SIMILAR TO$1", "Patterns.similar", SPECIAL)

_TRIMS = {"BOTH": F.btrim, "LEADING": F.ltrim, "TRAILING": F.rtrim}


@scalar("$TRANSLATE3$1")
def translate(call: Invocation, text: Column, characters: Column, others: Column) -> Column:
    """The text with other characters in place of some; NULL stands for none of them."""
    return F.call_function("translate", text, *(F.coalesce(c, F.lit("")) for c in (characters, others)))


@scalar("$TRIM$1")
def trim(call: Invocation, characters: Column, text: Column) -> Column:
    """``TRIM(BOTH | LEADING | TRAILING characters FROM text)``."""
    return _TRIMS[call.symbol(0)](text, characters)


@scalar("$SUBSTRING$1", "$SUBSTR$1", kernel=True)
def substring(call: Invocation, text: Column, start: Column, length: Column | None = None) -> Column:
    """The text from a position, counted from 1 or backwards from -1, to its end or of a length."""
    size = F.lit(2**31 - 1) if length is None else length
    return invoke("Strings.substring", spark_type(call.type), text, start, size)


@scalar("$LOCATE$1", kernel=True)
def locate(call: Invocation, part: Column, text: Column, start: Column | None = None) -> Column:
    """The position of a part at or after a start; 0 for none."""
    return invoke("Strings.locate", spark_type(call.type), part, text, F.lit(1) if start is None else start)


@scalar("$INSTR$1", kernel=True)
def instr(
    call: Invocation, text: Column, part: Column, start: Column | None = None, nth: Column | None = None
) -> Column:
    """The position of the nth occurrence of a part; 0 for none.  Counts in UTF-16 where a start is given."""
    if start is None:
        return invoke("Strings.locate", spark_type(call.type), part, text, F.lit(1))
    first, count = (F.lit(1) if o is None else o for o in (start, nth))
    return invoke("Strings.instr", spark_type(call.type), text, part, first, count)


@scalar("$PRINTF$1", kernel=True)
def printf(call: Invocation, pattern: Column, *values: Column) -> Column:
    """The values by a format as Java has them; NULL where the format does not suit them."""
    held = T.StructType([T.StructField(field_name(i), spark_type(t)) for i, t in enumerate(call.types[1:])])
    row = F.struct(*(v.alias(field_name(i)) for i, v in enumerate(values))) if values else F.struct()
    return invoke("Texts.format", spark_type(call.type), pattern, row.cast(held), F.lit(held.json()))


@scalar("$CONCAT_WS$1")
def concat_ws(call: Invocation, separator: Column, *texts: Column) -> Column:
    """The texts that are not NULL, with a separator between them."""
    return F.call_function("concat_ws", separator, *texts)


@scalar("$SPLIT_INDEX$1", kernel=True)
def split_index(call: Invocation, text: Column, separator: Column, index: Column) -> Column:
    """The part at an index from 0; the separator is a text or a character's code."""
    by = F.char(separator) if call.types[1].root in INTEGERS else separator
    return invoke("Strings.splitIndex", spark_type(call.type), text, by, index)


@scalar("$STR_TO_MAP$1", kernel=True)
def str_to_map(call: Invocation, text: Column, pairs: Column | None = None, values: Column | None = None) -> Column:
    """A map of pairs such as ``k1=v1,k2=v2``."""
    between_pairs, in_pair = F.lit(",") if pairs is None else pairs, F.lit("=") if values is None else values
    return invoke("Patterns.toMap", spark_type(call.type), text, between_pairs, in_pair)


@scalar("$REGEXP_EXTRACT$1", kernel=True)
def regexp_extract(call: Invocation, text: Column, regex: Column, group: Column | None = None) -> Column:
    """A group of the first match, the whole match where none is named."""
    return invoke("Patterns.extract", spark_type(call.type), text, regex, F.lit(0) if group is None else group)


@scalar("$REGEXP_SUBSTR$1", kernel=True)
def regexp_substr(call: Invocation, text: Column, regex: Column) -> Column:
    """The first match."""
    return regexp_extract(call, text, regex)


@scalar("$REGEXP_EXTRACT_ALL$1", kernel=True)
def regexp_extract_all(call: Invocation, text: Column, regex: Column, group: Column | None = None) -> Column:
    """A group of every match, the first group where none is named."""
    return invoke("Patterns.extractAll", spark_type(call.type), text, regex, F.lit(1) if group is None else group)


def _test(name: str, method: str) -> None:
    @scalar(name, kernel=True)
    def build(call: Invocation, text: Column) -> Column:
        return F.coalesce(invoke(method, T.BooleanType(), text), F.lit(False))


_test("$IS_DIGIT$1", "Strings.isDigit")
_test("$IS_ALPHA$1", "Strings.isAlpha")
_test("$IS_DECIMAL$1", "Strings.isDecimal")
