"""Hashes, encodings and URLs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...plan.errors import UnsupportedError
from ...plan.functions.conditional import FORMER_HASH_CODE
from ...plan.types import INTEGERS, TIMESTAMPS
from ..jvm.spark import F
from ..jvm.types import has_nanos, spark_type
from .jvm import invoke
from .registry import Invocation, kernel, native, scalar

if TYPE_CHECKING:
    from pyspark.sql import Column

native("$MD5$1", F.md5)
native("$SHA1$1", F.sha1)
native("$SHA224$1", lambda a: F.sha2(a, 224))
native("$SHA256$1", lambda a: F.sha2(a, 256))
native("$SHA384$1", lambda a: F.sha2(a, 384))
native("$SHA512$1", lambda a: F.sha2(a, 512))
kernel("$TO_BASE64$1", "Strings.toBase64")
kernel("$FROM_BASE64$1", "Strings.fromBase64")
kernel("$ENCODE$1", "Strings.encode")
kernel("$DECODE$1", "Strings.decode")
kernel("$UNHEX$1", "Strings.unhex")
kernel("$PARSE_URL$1", "Urls.part")
kernel("$URL_ENCODE$1", "Urls.encode")
kernel("$URL_DECODE$1", "Urls.decode")
kernel("$INET_ATON$1", "Urls.inetAton")
kernel("$INET_NTOA$1", "Urls.inetNtoa")

_SHA2_BITS = (224, 256, 384, 512)


native(FORMER_HASH_CODE, F.hash)


@scalar("$HASH_CODE$1")
def hash_code(call: Invocation, a: Column) -> Column:
    """The hash of a value.  Source: Flink's ``CodeGenUtils.hashCodeForType``."""
    (t,) = call.types
    match t.root:
        case "TINYINT" | "SMALLINT" | "INT" | "TIME":
            return a.cast("int")
        case "DATE":
            return F.unix_date(a)
        case "DECIMAL":
            return invoke("Hashes.ofDecimal", spark_type(call.type), a, F.lit(t.scale or 0))
        case root if root in TIMESTAMPS:
            micros, nanos = (a["micros"], a["nanos"]) if has_nanos(t) else (a, F.lit(0))
            return invoke("Hashes.ofTimestamp", spark_type(call.type), F.unix_micros(micros), nanos)
        case root if root in _HASHES:
            return invoke(f"Hashes.{_HASHES[root]}", spark_type(call.type), a)
    raise UnsupportedError(f"HASH_CODE of {t}")


_HASHES = {
    "BOOLEAN": "ofBoolean",
    "BIGINT": "ofLong",
    "FLOAT": "ofFloat",
    "DOUBLE": "ofDouble",
    "CHAR": "ofText",
    "VARCHAR": "ofText",
    "BINARY": "ofBytes",
    "VARBINARY": "ofBytes",
}
"""The methods that compute hashes by the roots of types."""


@scalar("$SHA2$1")
def sha2(call: Invocation, a: Column, bits: Column) -> Column:
    """The SHA-2 hash of 224, 256, 384 or 512 bits; fails for another length."""
    error = F.raise_error(F.concat(F.lit("SHA2 makes hashes of 224, 256, 384 or 512 bits, not "), bits.cast("string")))
    return F.when(bits.isNull() | bits.isin(*_SHA2_BITS), F.call_function("sha2", a, bits)).otherwise(error)


@scalar("$HEX$1")
def hex_(call: Invocation, a: Column) -> Column:
    """A number, a text or bytes in upper-case hexadecimal digits."""
    return F.hex(a.cast("bigint") if call.types[0].root in INTEGERS else a)
