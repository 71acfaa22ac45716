"""Groups that become one group without a key."""

from __future__ import annotations

from .states import key, migrated, row
from .test_steps import plan


def test_all_groups_become_one() -> None:
    old = plan("SELECT k, COUNT(*), SUM(v) FROM a GROUP BY k", "k INT, n BIGINT, s INT")
    new = plan("SELECT COUNT(*), SUM(v) FROM a", "n BIGINT, s INT")
    entries = [{"key": key(1), "value": row(2, 5)}, {"key": key(None), "value": row(1, None)}]
    assert migrated(old, new, {"accState": entries}) == {"accState": [((), (3, 5))]}
