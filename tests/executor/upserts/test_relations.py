"""The queries that are made by chance are what they say."""

from __future__ import annotations

from .fuzz import Example


def test_keys_identify_rows() -> None:
    for seed in range(60):
        example = Example.of(seed, 6)
        for query, rows in zip(example.queries, example.expected(), strict=True):
            keys = [tuple(row[i] for i in query.key) for row in rows]
            assert len(set(keys)) == len(keys), query.sql
            assert not any(None in key for key in keys), query.sql
