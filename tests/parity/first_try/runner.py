"""Compiles scripts on Apache Flink; for a Python that has apache-flink and nothing of flinkplan.

One JSON object a line comes in, ``{"script": [STATEMENT, …]}``, and for each of them one goes out,
``{"plan": TEXT, "script": [STATEMENT, …], "error": TEXT}``.  A query among the statements is written to a table of its
own columns, whose definition stands before it in the script that goes out.
"""

import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

SINK = "result_of_query"


def compiled(statements: list[str]) -> dict[str, Any]:
    """The plan of the only job among the statements, or why there is none, in Flink's words."""
    environment = new_environment()
    number_nodes_from_one(environment)
    script: list[str] = []
    answer = {"plan": "", "script": script, "error": ""}
    with tempfile.TemporaryDirectory() as folder:
        plan = f"{folder}/plan.json"
        try:
            for statement in statements:
                if setting := re.match(r"SET '([^']+)' = '([^']*)'", statement):
                    script.append(statement)
                    environment.get_config().set(*setting.groups())
                elif re.match(r"SELECT|WITH|\(", statement):
                    script.append(f"CREATE TABLE {SINK} (x INT) WITH ('connector' = 'blackhole')")
                    script.append(f"INSERT INTO {SINK} {statement}")
                    script[-2] = definition(script[:-2], statement)
                    environment.execute_sql(script[-2])
                    environment.execute_sql(f"COMPILE PLAN '{plan}' FOR {script[-1]}")
                elif job := re.match(r"(?:EXECUTE )?(INSERT .*|STATEMENT .*)", statement, re.DOTALL):
                    script.append(statement)
                    environment.execute_sql(f"COMPILE PLAN '{plan}' FOR {job[1]}")
                else:
                    script.append(statement)
                    environment.execute_sql(statement)
            answer["plan"] = Path(plan).read_text("utf-8")
        except Exception as e:
            answer["error"] = reason(str(e))
    return answer


def new_environment() -> Any:
    """An environment for streams, with the settings of all scripts."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in (("parallelism.default", "1"), ("table.local-time-zone", "UTC")):
        environment.get_config().set(key, value)
    return environment


def definition(before: list[str], query: str) -> str:
    """The definition of a table with the columns of a query, which reads what the statements before it define.

    An environment of its own analyzes the query: correlation variables are numbered through an environment.
    """
    environment = new_environment()
    for statement in before:
        if statement.startswith("CREATE"):
            environment.execute_sql(statement)
    columns = environment.sql_query(query)._j_table.getResolvedSchema().getColumns()
    types = [(c.getName(), c.getDataType().getLogicalType().copy(True).asSerializableString()) for c in columns]
    return f"CREATE TABLE {SINK} ({', '.join(f'`{n}` {t}' for n, t in types)}) WITH ('connector' = 'blackhole')"


def number_nodes_from_one(environment: Any) -> None:
    """Reset the counter of node numbers, of which the JVM has one."""
    from pyflink.java_gateway import get_gateway

    gateway = get_gateway()
    loader = environment._j_tenv.getPlanner().getClass().getClassLoader()
    context = loader.loadClass("org.apache.flink.table.planner.plan.nodes.exec.ExecNodeContext")
    reset = context.getMethod("resetIdCounter", gateway.new_array(gateway.jvm.java.lang.Class, 0))
    reset.invoke(None, gateway.new_array(gateway.jvm.java.lang.Object, 0))


def reason(trace: str) -> str:
    """The innermost cause of a Java exception."""
    causes = re.findall(r"(?:^: |Caused by: )([^\n]+)", trace, re.MULTILINE)
    return causes[-1] if causes else trace.strip().partition("\n")[0] or "failed without a word"


def main() -> None:
    """Answer requests until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what Flink's JVM prints must not mix with the answers
    for line in sys.stdin:
        print(json.dumps(compiled(json.loads(line)["script"])), file=answers, flush=True)


if __name__ == "__main__":
    main()
