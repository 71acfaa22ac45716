"""What is known of a relation, found once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def found_once(find: F) -> F:
    """A function of a relation, and perhaps of more, that keeps what it finds with the relation.

    Relations are immutable, and trees are rebuilt from the parts that did not change: asked again from above, what is
    below need not be derived again, which for each level of a tree would be once more for all levels below it.
    """

    @wraps(find)
    def remembered(rel: Any, *args: Any, **kwargs: Any) -> Any:
        known = rel.__dict__
        key = (find, *args, *kwargs.items()) if args or kwargs else find
        if key not in known:
            known[key] = find(rel, *args, **kwargs)
        return known[key]

    return cast(F, remembered)
