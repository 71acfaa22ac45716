"""The order in which Scala's maps list numbers, where Flink's plans show it.  Source: Scala 2.12, ``HashMap``."""

from __future__ import annotations

from collections.abc import Collection

_WORD = 2**32


def listed_mutable(keys: Collection[int]) -> list[int]:
    """The keys of a ``mutable.HashMap``: from the last bucket to the first."""
    bits = 4
    while len(keys) > 0.75 * 2**bits:
        bits += 1

    def bucket(key: int) -> int:
        swapped = int.from_bytes((key * _GOLDEN % _WORD).to_bytes(4, "big"), "little") * _GOLDEN % _WORD
        rotated = (swapped >> bits | swapped << (32 - bits)) % _WORD
        return rotated >> (32 - bits)

    return sorted(keys, key=bucket, reverse=True)


_GOLDEN = 0x9E3775CD
"""Source: ``byteswap32`` of ``scala.util.hashing``."""


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
