"""What edits of a pipeline are judged to be."""

import re
from functools import cache

import pytest

from flinkplan.compat.diff import Source, diff_texts
from flinkplan.compat.verdicts import Verdict
from flinkplan.plan.document import dumps
from flinkplan.planner import compile_script
from tests.compat.identities import with_old_ids
from tests.compat.pipelines import INCIDENTAL, PAIRS, Pair

plan = cache(compile_script)


def sources(pair: Pair) -> tuple[Source, Source]:
    """The plans of a pair of pipelines, the new one with the ids of the old one."""
    old, new = map(plan, pair.scripts())
    return Source("old.json", dumps(old)), Source("new.json", dumps(with_old_ids(old, new)))


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_an_edit_is_judged(pair: Pair) -> None:
    diff = diff_texts(*sources(pair), locate=False)
    rules = {f.rule for f in diff.judged if f.verdict is not Verdict.COSMETIC}
    assert diff.flink.value == pair.flink
    assert set(pair.rules) <= rules
    assert rules - set(pair.rules) <= INCIDENTAL
    assert [f.message for f in diff.judged if re.fullmatch(r"(?:.*: )?(.+) → \1", f.message)] == []


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_nothing_is_found_where_nothing_changed(pair: Pair) -> None:
    old, _ = sources(pair)
    assert diff_texts(old, old, locate=False).findings == []
