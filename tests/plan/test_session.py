from flinkplan.plan.document import dumps, loads
from flinkplan.plan.record import replace
from flinkplan.plan.session import with_ttls
from flinkplan.planner import compile_script

JOINED = """
CREATE TABLE a (id INT, v INT) WITH ('connector' = 'datagen');
CREATE TABLE o (id INT, v INT, w INT) WITH ('connector' = 'print');
INSERT INTO o SELECT a.id, a.v, b.v FROM a JOIN a AS b ON a.id = b.id
"""


def test_the_session_says_how_long_states_stay_of_which_the_plan_says_nothing() -> None:
    plan = loads(dumps(compile_script(JOINED)))
    silent = replace(plan, nodes=tuple(replace(n, state=None) if n.states else n for n in plan.nodes))
    with_ttl = with_ttls(silent, {"table.exec.state.ttl": "1 h"})
    (join,) = (n for n in with_ttl.nodes if n.is_stateful)
    assert [(s.name, s.ttl_ms) for s in join.states] == [("leftState", 3_600_000), ("rightState", 3_600_000)]
    assert with_ttls(silent, {}) == silent
    assert with_ttls(plan, {"table.exec.state.ttl": "1 h"}) == plan
