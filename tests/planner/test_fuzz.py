"""Scripts broken by chance: a plan or an error with a place, never a traceback.

A statement of a script of the parity corpus, or of those whose plans are known, is changed token by token; what
stands before it is applied once and shared.  ``FLINKPLAN_EXAMPLES`` says how many scripts there are; ``make fuzz``
tries ten thousand.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flinkplan.plan.errors import FlinkplanError, Location
from flinkplan.planner.session import Session
from flinkplan.planner.sql import ast, parse_script
from flinkplan.planner.sql.keywords import FUNCTIONS, RESERVED
from flinkplan.planner.sql.lexer import WORD, tokenize
from flinkplan.planner.sql.source import Source
from tests.parity.corpus import HERE
from tests.planner.sessions import copied
from tests.planner.test_flink_plans import TABLES, statements

EXAMPLES = int(os.environ.get("FLINKPLAN_EXAMPLES", "300"))
SCRIPTS = (
    *(path.read_text("utf-8") for path in sorted((HERE / "cases").glob("*/pipeline.sql"))),
    *(f"{TABLES}{known.values[0]}" for known in statements()),
)


def _split(text: str) -> list[str]:
    return text.split()


PIECES = {
    "keyword": _split("""
        SELECT DISTINCT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET UNION ALL INTERSECT EXCEPT JOIN LEFT RIGHT
        FULL CROSS ON USING AS WITH VALUES TABLE LATERAL UNNEST OVER PARTITION ROWS RANGE BETWEEN PRECEDING
        CURRENT AND OR NOT NULL IS IN EXISTS ANY LIKE CASE WHEN THEN ELSE END CAST INTERVAL DAY HOUR SECOND
        MONTH FILTER GROUPING ROLLUP CUBE FOR QUALIFY INSERT INTO OVERWRITE CREATE VIEW PRIMARY ENFORCED INT
        BIGINT STRING DECIMAL TIMESTAMP DATE DOUBLE CONFLICT DO NOTHING WINDOW UNBOUNDED FOLLOWING ROW SYSTEM_TIME OF
        STATEMENT SET BEGIN EXECUTE TEMPORARY ORDINALITY SEMI ANTI NATURAL ARRAY MAP SIMILAR ESCAPE NULLS FETCH
    """),
    "name": _split("""
        COUNT SUM AVG MIN MAX LISTAGG COLLECT ROW_NUMBER RANK LAG FIRST_VALUE COALESCE NULLIF IF UPPER SUBSTRING
        CONCAT_WS TIMESTAMPDIFF PROCTIME DATE_FORMAT JSON_VALUE JSON_OBJECT ARRAY_AGG ARRAY_CONTAINS CARDINALITY
        ELEMENT ABS MOD POWER TO_TIMESTAMP_LTZ TUMBLE HOP CUMULATE SESSION DESCRIPTOR window_start window_end
        window_time $f0 EXPR$0 nowhere
    """),
    "number": _split("0 1 7 -1 2.5 1e3 3000000000 99999999999999999999"),
    "string": _split("'' 'x' '1' '1 d' '2024-01-01' '2024-01-01 00:00:00'"),
    "quoted": _split("`` `a` `from`"),
    "comparison": _split("= <> < <= > >="),
    "arithmetic": _split("+ - * / % ||"),
    "hint": [
        "/*+ STATE_TTL('a' = '1 d') */",
        "/*+ OPTIONS('path' = '/x') */",
        "/*+ BROADCAST(a) */",
        "/*+ LOOKUP('table' = 'a') */",
    ],
    "punctuation": _split("( ) [ ] , . ; => /*+ */ -- @"),
}


def kind_of(token: str) -> str:
    """The kind of pieces that may well stand where the token stands."""
    (first, *_) = tokenize(Source(token))
    if first.kind == WORD:
        return "keyword" if first.key in RESERVED and first.key not in FUNCTIONS else "name"
    if first.kind in PIECES:
        return first.kind
    return next((kind for kind in ("comparison", "arithmetic") if token in PIECES[kind]), "punctuation")


@dataclass(frozen=True)
class Seed:
    """A statement to break, the session before it, and the statements behind it."""

    before: Session
    text: str
    after: str

    @property
    def tokens(self) -> list[str]:
        """The statement, cut at its tokens."""
        return [self.text[t.start : t.end] for t in tokenize(Source(self.text))][:-1]

    def session(self) -> Session:
        """A session of its own, as it is before the statement."""
        return copied(self.before)


@lru_cache
def seeds(number: int) -> list[Seed]:
    """The last definition of a script, and its job."""
    parsed = parse_script(SCRIPTS[number]).statements
    jobs = [s for s in parsed if isinstance(s, (ast.Insert, ast.StatementSet))]
    definitions = [s for s in parsed if s not in jobs]
    session = Session({"table.local-time-zone": "UTC"})
    for definition in definitions[:-1]:
        session.apply(definition)
    last = definitions[-1].span.text
    first = Seed(session, last, ";\n".join(job.span.text for job in jobs))
    whole = Seed(session, last, "").session()
    whole.apply(definitions[-1])
    return [first, *(Seed(whole, job.span.text, "") for job in jobs)]


@st.composite
def broken(draw: st.DrawFn) -> tuple[Seed, str]:
    """A seed, and its statement with a few tokens cut out, doubled, put in, or exchanged, mostly for their like."""
    seed = draw(st.sampled_from(seeds(draw(st.integers(0, len(SCRIPTS) - 1)))))
    tokens = seed.tokens
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(tokens) - 1))
        other = draw(st.integers(0, len(tokens) - 1))
        change = draw(st.integers(0, 9))
        if change == 0 and len(tokens) > 1:
            del tokens[at]
        elif change == 1:
            tokens.insert(at, tokens[other])
        elif change == 2:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif change == 3:
            tokens.insert(at, draw(st.sampled_from(PIECES[draw(st.sampled_from(sorted(PIECES)))])))
        else:
            kind = kind_of(tokens[at])
            alike = [token for token in tokens if kind_of(token) == kind]
            tokens[at] = draw(st.sampled_from(alike + PIECES[kind]))
    return seed, " ".join(tokens)


def run(seed: Seed, text: str) -> None:
    """Apply and compile what the broken text says, and what stands behind it."""
    session = seed.session()
    for statement in parse_script(f"{text};\n{seed.after}").statements:
        if isinstance(statement, (ast.Insert, ast.StatementSet)):
            session.compile(statement)
        elif isinstance(statement, ast.CompilePlan):
            session.compile(statement.statement)
        else:
            session.apply(statement)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(broken())
def test_no_traceback(case: tuple[Seed, str]) -> None:
    seed, text = case
    try:
        run(seed, text)
    except FlinkplanError as error:
        for each in error.errors:
            assert each.message
            if isinstance(each.where, Location) and each.where.line is not None:
                assert each.where.line <= f"{text};\n{seed.after}".count("\n") + 1
