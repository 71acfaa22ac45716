"""A graph as one HTML file, which holds style, program and data and loads nothing else.

The graph is laid out in the browser by dagre (MIT, ``assets/dagre.LICENSE``).
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from msgspec import convert

from ...plan.printable import printable
from ...plan.record import to_builtins
from ...plan.secrets import masked_json
from .highlighting import highlighted
from .model import Graph
from .static_text import static_text


def page(graph: Graph) -> str:
    """The HTML of a page.

    Texts of a plan are untrusted.  They are JSON data, which the program shows as text, and escaped HTML, for browsers
    that run no scripts.  The content security policy allows only the page's own scripts and no network access.
    """
    data = masked_json("", to_builtins(graph))
    shown = convert(data, Graph)
    texts = {
        "subtitle": escape(printable(": ".join(filter(None, (shown.verdict, shown.subtitle))))),
        "sql": "" if shown.sql is None else highlighted(shown.sql, shown.colours),
        "without_sql": "hidden" if shown.sql is None else "",
        "static": static_text(shown),
    }
    return _filled("page.html", shown.title, data, _graph_scripts(), **texts)


def framing_page(title: str, subtitle: str, table: str, pipelines: str) -> str:
    """The HTML of a page with pages of graphs in frames; ``table`` and ``pipelines`` are HTML.

    A frame has the policy of the page around it, too, so this allows the scripts of graphs.
    """
    texts = {"subtitle": escape(printable(subtitle)), "table": table, "pipelines": pipelines}
    return _filled("project.html", title, None, _graph_scripts(), **texts)


def _graph_scripts() -> dict[str, str]:
    return {"layout": _asset("dagre.min.js"), "drawing": _asset("drawing.js"), "program": _asset("graph.js")}


def report_page(data: Mapping[str, Any]) -> str:
    """The HTML of a job's run from :meth:`.report.Report.data`; with ``live`` the page loads new data itself."""
    return _filled("report.html", data["title"], data, {"program": _asset("report.js")})


def _filled(template: str, title: str, data: Any, scripts: Mapping[str, str], **texts: str) -> str:
    style = _asset("page.css")
    return Template(_asset(template)).substitute(
        policy=_policy(list(scripts.values()), style),
        title=escape(printable(title)),
        style=style,
        data=_as_data(data),
        **scripts,
        **texts,
    )


def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text("utf-8")


def _as_data(data: Any) -> str:
    """JSON that can stand in a ``script`` element: it contains no tag and no comment."""
    return json.dumps(data, ensure_ascii=True).replace("<", "\\u003c")


def _policy(scripts: list[str], style: str) -> str:
    allowed = " ".join(map(_digest, scripts))
    return f"default-src 'none'; connect-src 'self'; script-src {allowed}; style-src {_digest(style)}"


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
