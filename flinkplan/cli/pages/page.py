"""A graph as one HTML file: style, program and data are in it, and nothing is loaded from elsewhere.

The graph is laid out in the browser by dagre (MIT, ``assets/dagre.LICENSE``).
"""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from string import Template

from ...plan.printable import printable
from ...plan.record import to_builtins
from .model import Graph


def page(graph: Graph) -> str:
    """The HTML of a page.

    Texts of plans reach it as data only, which the program shows as text; its content security policy allows no script
    but the page's own, and no address at all.
    """
    scripts = [_asset("dagre.min.js"), _asset("graph.js")]
    style = _asset("page.css")
    return Template(_asset("page.html")).substitute(
        policy=_policy(scripts, style),
        title=_escaped(printable(graph.title)),
        style=style,
        data=_as_data(graph),
        layout=scripts[0],
        program=scripts[1],
    )


def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text("utf-8")


def _as_data(graph: Graph) -> str:
    """JSON that neither ends nor comments out the element that it stands in."""
    return json.dumps(to_builtins(graph), ensure_ascii=True).replace("<", "\\u003c")


def _policy(scripts: list[str], style: str) -> str:
    allowed = " ".join(map(_digest, scripts))
    return f"default-src 'none'; script-src {allowed}; style-src {_digest(style)}"


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _escaped(text: str) -> str:
    from html import escape

    return escape(text)
