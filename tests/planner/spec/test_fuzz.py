"""Specs broken by chance: a plan or an error with a place, never a traceback."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flinkplan.plan.errors import ErrorGroup, FlinkplanError, Location
from flinkplan.planner import compile_script
from tests.planner.spec.test_plans import PAIRS, TWINS
from tests.planner.spec.test_windows import INSERTS, TABLES

WINDOWS = f"""{TABLES}  w:
    from: clicks
    assign: {{tumbling: 5 s, offset: -1 s}}
    trigger: {{count: 3, purge: true}}
    evict: {{count: 2}}
    allowed-lateness: 1 min
    late-as: late
    aggregate: {{n: COUNT(*)}}
  v:
    from: clicks
    assign: {{session: 5 s}}
    aggregate: {{n: SUM(1)}}
{INSERTS}"""
SPECS = (*(spec for spec, _ in PAIRS.values()), *(twin.read_text("utf-8") for twin in TWINS), WINDOWS)
PIECES = st.one_of(
    st.sampled_from(["\n", "  ", "\t", ": ", "- ", "{", "}", "[", "]", ", ", "'", '"', "|\n", ">\n", "#", "\\", "~"]),
    st.sampled_from(
        ["&a ", "*a", "!t ", "---\n", "? ", "<<: ", "`", "%", "@", "'", ";", "(", ")", "<", ">", "=", "/*"]
    ),
    st.sampled_from(["version", "tables:", "like: t", "query:", "as:", "type: INT", "null", "1", "true", "NOT NULL"]),
    st.text(max_size=3),
)


@st.composite
def broken(draw: st.DrawFn) -> str:
    """A spec in which a few pieces of text are cut out, doubled, moved or put in."""
    text = draw(st.sampled_from(SPECS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        cut = text[start : start + draw(st.integers(0, 30))]
        to = draw(st.integers(0, len(text)))
        change = draw(st.integers(0, 3))
        if change == 0:
            text = text[:start] + text[start + len(cut) :]
        elif change == 1:
            text = text[:to] + cut + text[to:]
        elif change == 2:
            lines = text.splitlines(keepends=True)
            lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(lines or [""])))
            text = "".join(lines)
        else:
            text = text[:to] + draw(PIECES) + text[to:]
    return text


EXAMPLES = int(os.environ.get("FLINKPLAN_EXAMPLES", "100"))


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(broken())
def test_no_traceback(text: str) -> None:
    try:
        compile_script(text, file="pipeline.yaml")
    except FlinkplanError as error:
        for each in error.errors if isinstance(error, ErrorGroup) else (error,):
            assert each.message
            if isinstance(each.where, Location) and each.where.line is not None:
                assert each.where.line <= text.count("\n") + 1
