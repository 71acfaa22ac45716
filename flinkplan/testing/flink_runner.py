"""Executes compiled plans on Apache Flink; for a Python that has apache-flink and nothing of flinkplan.

One JSON object a line comes in, ``{"plan": FILE, "options": {KEY: VALUE}}``, and for each of them one goes out,
``{"error": TEXT}``, empty where the job ran to its end.  With ``"savepoint": FOLDER`` the job goes on from there.
Every plan gets a table environment of its own, and all share one cluster.
"""

import json
import os
import re
import sys
from functools import cache
from typing import Any

SECONDS = 120
_SLOTS = 8


@cache
def cluster() -> dict[str, str]:
    """The options by which jobs run in a cluster within this process."""
    from pyflink.common import Configuration
    from pyflink.java_gateway import get_gateway

    options = {
        "rest.address": "localhost",
        "rest.bind-port": "0",
        "taskmanager.memory.network.min": "128mb",
        "taskmanager.memory.network.max": "128mb",
        "taskmanager.memory.managed.size": "512mb",
        "taskmanager.numberOfTaskSlots": str(_SLOTS),
    }
    configuration = Configuration()
    for key, value in options.items():
        configuration.set_string(key, value)
    package = get_gateway().jvm.org.apache.flink.runtime.minicluster
    builder = package.MiniClusterConfiguration.Builder().setConfiguration(configuration._j_configuration)
    started = package.MiniCluster(builder.setNumTaskManagers(1).setNumSlotsPerTaskManager(_SLOTS).build())
    started.start()
    port = started.getRestAddress().get().getPort()
    return {"execution.target": "remote", "rest.address": "localhost", "rest.port": str(port)}


def run(request: dict[str, Any]) -> str:
    """Execute a plan and wait for its end; what is wrong, in Flink's words."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in {**request["options"], **cluster()}.items():
        environment.get_config().set(key, value)
    if "savepoint" in request:
        environment.get_config().set("execution.state-recovery.path", request["savepoint"])
        environment.get_config().set("restart-strategy.type", "disable")
    plan = request["plan"].replace("'", "''")
    try:
        result = environment.execute_sql(f"EXECUTE PLAN '{plan}'")
        try:
            result.wait(SECONDS * 1000)
        except Exception as e:
            client = result.get_job_client()
            if "TimeoutException" not in str(e) or client is None:
                raise
            client.cancel()
            return f"the job did not end within {SECONDS} s"
    except Exception as e:
        return reason(str(e))
    return ""


def reason(trace: str) -> str:
    """The innermost cause of a Java exception."""
    causes = re.findall(r"(?:^: |Caused by: )([^\n]+)", trace, re.MULTILINE)
    return causes[-1] if causes else trace.strip().partition("\n")[0] or "failed without a word"


def main() -> None:
    """Answer requests until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what Flink's JVM prints must not mix with the answers
    for line in sys.stdin:
        print(json.dumps({"error": run(json.loads(line))}), file=answers, flush=True)


if __name__ == "__main__":
    main()
