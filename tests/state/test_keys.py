"""Keys that a user names."""

from __future__ import annotations

import pytest

from flinkplan.plan.errors import PlanError
from flinkplan.state.keys import KeyValues


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1", ("1",)),
        ("1,a", ("1", "a")),
        ('[1, "a,b", null, true, 1.50]', ("1", "a,b", None, "true", "1.5")),
        ("[1,", ("[1", "")),
        ("[]", ()),
    ],
)
def test_the_forms_of_a_key(text: str, values: tuple[str | None, ...]) -> None:
    assert KeyValues.parse(text).values == values


def test_keys_begin_with_the_values() -> None:
    key = KeyValues.parse('["a", null]')
    assert key.begins(["a", None])
    assert key.begins(["a", None, 3])
    assert not key.begins(["a", "null"])
    assert KeyValues.parse("1,true").begins([1, True])
    assert not KeyValues.parse("1").begins([2])


def test_a_key_with_too_many_values_is_refused_if_it_fits_no_state() -> None:
    key = KeyValues.parse("1,2")
    key.check({"a": 1, "b": 2})
    with pytest.raises(PlanError, match="the key of a has 1 column, not 2"):
        key.check({"a": 1})
