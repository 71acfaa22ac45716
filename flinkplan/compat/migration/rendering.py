"""Shows recipes: as text, JSON and HTML."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any

from ...plan.printable import one_line
from .recipe import Allowed, Migration, Recipe, RecipeKind

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem;max-width:70rem}table{border-collapse:collapse}"
    "td,th{border-bottom:1px solid #ccc;padding:.4rem .8rem;text-align:left;vertical-align:top}"
    ".impossible,.refused{color:#b00020}"
)


def render(migration: Migration, allowed: Allowed, format_: str, *, silent: bool = False) -> str:
    """The recipes in a format, with a line break at the end; ``silent`` leaves out what sinks are not told."""
    if format_ == "json":
        return json.dumps(as_json(migration, allowed), indent=2, ensure_ascii=False) + "\n"
    if format_ == "html":
        return _page(migration, allowed, silent)
    return "".join(f"{one_line(line)}\n" for line in _lines(migration, silent))


def as_json(migration: Migration, allowed: Allowed) -> dict[str, Any]:
    """The recipes as JSON: an object for each operator, what is refused, and what is left behind."""
    return {
        "operators": [_object(recipe) for recipe in migration.recipes],
        "refused": [{"where": where, "why": why, "fix": fix} for where, why, fix in migration.refusals(allowed)],
        "leftBehind": list(migration.left),
    }


def _object(recipe: Recipe) -> dict[str, Any]:
    return {
        "operator": recipe.name,
        "node": recipe.node,
        "recipe": recipe.kind.value,
        "from": recipe.old_name or None,
        "oldNode": recipe.old,
        "what": list(recipe.words),
        "states": [{"state": state.name, "step": type(state.step).__name__} for state in recipe.states],
        "needs": [{"option": need.option, "why": need.why, "fix": need.fix} for need in recipe.needs],
        "notWritten": list(recipe.untold),
    }


def details(recipe: Recipe) -> str:
    """What a recipe does, in words."""
    if recipe.kind is RecipeKind.IMPOSSIBLE:
        return f"{recipe.reason}; {recipe.fix}" if recipe.fix else recipe.reason
    return "; ".join((*recipe.words, *(need.why for need in recipe.needs)))


def _lines(migration: Migration, silent: bool) -> Iterator[str]:
    rows = [(r.name, r.kind.value, f"from {r.old_name}" if r.old_name else "", details(r)) for r in migration.recipes]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    for row in rows:
        yield "  ".join([*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[3]]).rstrip()
    for name in migration.left:
        yield f"note: {name} of the old plan has no counterpart; its state is left behind"
    if not silent:
        for recipe in migration.recipes:
            for what in recipe.untold:
                yield f"note: {recipe.name}: the sinks are not told of {what}"


def _page(migration: Migration, allowed: Allowed, silent: bool) -> str:
    rows = "".join(
        f"<tr><td>{escape(r.name)}</td><td class={r.kind.value}>{r.kind.value}</td><td>{escape(r.old_name)}</td>"
        f"<td>{escape(details(r))}</td></tr>"
        for r in migration.recipes
    )
    notes = [f"{name} has no counterpart; its state is left behind" for name in migration.left]
    if not silent:
        notes += [f"{r.name}: the sinks are not told of {what}" for r in migration.recipes for what in r.untold]
    refused = [f"{where}: {why}; {fix}" for where, why, fix in migration.refusals(allowed)]
    lists = "".join(
        f"<h2>{title}</h2><ul class={name}>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"
        for title, name, items in (("Notes", "notes", notes), ("Refused", "refused", refused))
        if items
    )
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Migration</title><style>{_STYLE}</style>"
        "<h1>How each state is made</h1><table><tr><th>operator</th><th>recipe</th><th>from</th><th></th></tr>"
        f"{rows}</table>{lists}</html>\n"
    )
