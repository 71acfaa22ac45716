"""The order in which maps of Scala and Java list keys, where Flink's plans show it.

Sources: Scala 2.12 and Java 17, ``HashMap``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import reduce
from typing import TypeVar

K = TypeVar("K")

_WORD = 2**32


def listed_mutable(keys: Collection[K], code: Callable[[K], int]) -> list[K]:
    """The keys of a ``mutable.HashMap``, by their hash codes: from the last bucket to the first."""
    bits = 4
    while len(keys) > 0.75 * 2**bits:
        bits += 1

    def bucket(key: K) -> int:
        mixed = int.from_bytes((code(key) * _GOLDEN % _WORD).to_bytes(4, "big"), "little") * _GOLDEN % _WORD
        return ((mixed >> bits | mixed << (32 - bits)) % _WORD) >> (32 - bits)

    return sorted(reversed([*keys]), key=bucket, reverse=True)


_GOLDEN = 0x9E3775CD
"""Source: ``byteswap32`` of ``scala.util.hashing``."""


def text_code(text: str) -> int:
    """``String.hashCode``, without a sign."""
    return reduce(lambda code, character: (31 * code + ord(character)) % _WORD, text, 0)


def listed_in_java(keys: Collection[str]) -> list[str]:
    """The keys of a ``java.util.HashMap``, by their hash codes: from the first bucket to the last."""
    buckets = 16
    while len(keys) > 0.75 * buckets:
        buckets *= 2

    def bucket(key: str) -> int:
        code = text_code(key)
        return (code ^ code >> 16) % buckets

    return sorted(keys, key=bucket)


def listed(keys: Collection[int]) -> list[int]:
    """The keys of an immutable ``Map``: up to four as they were put there, more in the order of a trie."""
    return list(keys) if len(keys) <= _IN_ORDER else sorted(keys, key=_path)


_IN_ORDER, _BITS = 4, 5


def _path(key: int) -> list[int]:
    """The branches that lead to a number, from the root."""
    mixed = (key + ~(key << 9)) % _WORD
    mixed ^= mixed >> 14
    mixed = (mixed + (mixed << 4)) % _WORD
    mixed ^= mixed >> 10
    return [mixed >> shift & (2**_BITS - 1) for shift in range(0, 32, _BITS)]
