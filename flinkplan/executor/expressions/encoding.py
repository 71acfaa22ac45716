"""Hashes, encodings and URLs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...plan.types import INTEGERS
from ..jvm.spark import F
from .registry import Invocation, kernel, native, scalar

if TYPE_CHECKING:
    from pyspark.sql import Column

native("$MD5$1", F.md5)
native("$SHA1$1", F.sha1)
native("$SHA224$1", lambda a: F.sha2(a, 224))
native("$SHA256$1", lambda a: F.sha2(a, 256))
native("$SHA384$1", lambda a: F.sha2(a, 384))
native("$SHA512$1", lambda a: F.sha2(a, 512))
native("$HASH_CODE$1", F.hash)
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


@scalar("$SHA2$1")
def sha2(call: Invocation, a: Column, bits: Column) -> Column:
    """The SHA-2 hash of 224, 256, 384 or 512 bits; fails for another length."""
    error = F.raise_error(F.concat(F.lit("SHA2 makes hashes of 224, 256, 384 or 512 bits, not "), bits.cast("string")))
    return F.when(bits.isNull() | bits.isin(*_SHA2_BITS), F.call_function("sha2", a, bits)).otherwise(error)


@scalar("$HEX$1")
def hex_(call: Invocation, a: Column) -> Column:
    """A number, a text or bytes in upper-case hexadecimal digits."""
    return F.hex(a.cast("bigint") if call.types[0].root in INTEGERS else a)
