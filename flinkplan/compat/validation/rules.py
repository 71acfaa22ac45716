"""The rules of ``validate``, for its reports and for ``docs/validation.md``."""

from __future__ import annotations

from ... import advice
from ...plan.findings import Rule, Severity, rule_table

ERROR, WARNING = Severity.ERROR, Severity.WARNING

PIPELINE = "pipeline"
"""The rule for the errors of a pipeline."""

RULES = rule_table(
    Rule(
        PIPELINE,
        ERROR,
        "the pipeline does not compile",
        "The SQL, the YAML or the Python program is wrong, or uses what flinkplan does not support. 'flinkplan "
        "compile' reports the same errors.",
    ),
    Rule(
        "json",
        ERROR,
        "the file is not JSON",
        "The text is incomplete, has a stray comma or a repeated key, or is not UTF-8.",
    ),
    Rule(
        "plan-keys",
        ERROR,
        "a top-level key is missing or unknown",
        "A compiled plan has exactly the keys flinkVersion, nodes and edges; Flink refuses any other key. Put your "
        "own data into a node, under the key flinkplan.",
    ),
    Rule(
        "plan-version",
        ERROR,
        "the plan's Flink release is unknown or too new",
        "Plans of Flink 1.15 to 2.3 can be read. Flink refuses plans of unknown releases.",
    ),
    Rule(
        "schema",
        ERROR,
        "a value does not match the schema of its field",
        "The value has another JSON type than the field, a required field is missing, or a word is not one of the "
        "allowed ones. See schemas/plan-v1.schema.json.",
    ),
    Rule(
        "node-type",
        ERROR,
        "the exec node does not exist",
        "A type consists of a node's name and its version, such as stream-exec-join_1.",
    ),
    Rule(
        "runtime-mode",
        ERROR,
        "the plan has nodes of streaming mode and of batch mode",
        "All nodes of a plan are of the same runtime mode: stream-exec-… or batch-exec-…. Flink refuses a plan with "
        "both.",
    ),
    Rule(
        "own-node",
        Severity.NOTE,
        "Flink does not have the exec node",
        "The windows of the DataStream API have exec nodes of flinkplan. A plan with them runs here; Flink refuses it.",
    ),
    Rule(
        "node-version",
        ERROR,
        "the exec node has no such version",
        "Each exec node has a few versions. Flink reads all versions up to the newest one that it knows.",
    ),
    Rule(
        "node-field",
        WARNING,
        "the exec node has no such field",
        "Flink ignores unknown fields of a node, so a misspelt one has no effect.",
    ),
    Rule(
        "state-field",
        WARNING,
        "a state entry has no such field",
        "Flink ignores unknown fields of a state entry, so a misspelt one has no effect.",
    ),
    Rule(
        "node-option",
        WARNING,
        "the exec node does not read this option",
        "A node's configuration fixes the options that the node reads; other options have no effect in it.",
    ),
    Rule("node-id", ERROR, "an id is used twice", "Edges refer to nodes by id, so each id must be unique."),
    Rule(
        "edge-end",
        ERROR,
        "an edge refers to a node that does not exist",
        "The source and the target of an edge must be ids of nodes.",
    ),
    Rule(
        "input-count",
        ERROR,
        "a node has too few or too many inputs",
        "Each edge to a node is one of its inputs, in the order of the edges. A join has two; the first one is the "
        "left one.",
    ),
    Rule("cycle", ERROR, "the edges form a cycle", "Rows must flow from sources to sinks."),
    Rule(
        "dead-end",
        ERROR,
        "the output of a node is not used",
        "Every node except a sink must feed another one, and a plan must have at least one sink.",
    ),
    Rule(
        "node-order",
        ERROR,
        "a node is listed before one of its inputs",
        "Flink writes the nodes in topological order, from the sources to the sinks.",
    ),
    Rule(
        "state-count",
        ERROR,
        "a node has too few or too many state entries",
        "A node has one entry for each of its states, or none at all; without entries table.exec.state.ttl applies. "
        "Flink checks this only when the plan is executed.",
    ),
    Rule(
        "state-index",
        ERROR,
        "the indexes of the state entries have a gap or a duplicate",
        "The entries are numbered from 0. The index, and not the position in the list, identifies the state.",
    ),
    Rule(
        "state-name",
        WARNING,
        "a state entry does not have the name of its state",
        "Flink uses only the index and ignores the name, so a wrong name misleads readers.",
    ),
    Rule(
        "state-ttl",
        ERROR,
        "a TTL is not a duration",
        "A TTL is a whole number with one unit (1 h, 90 min, 3600000 ms), an ISO-8601 duration (P1D) or a number of "
        "milliseconds; 0 ms means that entries never expire.",
    ),
    Rule(
        "state-ttl-long",
        WARNING,
        "a TTL is longer than 100 years",
        "The unit may be wrong. 0 ms means that entries never expire.",
    ),
    Rule(
        "state-unexpected",
        WARNING,
        "the node has no state with a TTL",
        "The state of windows, interval and temporal joins, OVER aggregations and sorts is removed by the "
        "watermark; stateless nodes have none.",
    ),
    Rule(
        "type",
        ERROR,
        "a logical type or expression cannot be read",
        "Types are written as in SQL: INT NOT NULL, ROW<`a` INT>, TIMESTAMP(3) WITH LOCAL TIME ZONE.",
    ),
    Rule(
        "column-index",
        ERROR,
        "a column index is not in the input",
        "Columns are numbered from 0; the columns of a join's right input follow those of the left input.",
    ),
    Rule(
        "column-type",
        ERROR,
        "a column has another type than its use says",
        "An expression, a key or a row has another type than the input: a node is missing in between, or an edge "
        "leads to the wrong node. Flink does not check this, and the job fails while it runs.",
    ),
    Rule(
        "output-columns",
        ERROR,
        "the output type has the wrong number of columns",
        "A calc has one column for each expression of its projection, an aggregation one for each key and call.",
    ),
    Rule(
        "element-names",
        ERROR,
        "a window with Python classes does not name each column of its rows",
        "elementNames of a window operator with Python classes must have a name for each column of its input.",
    ),
    Rule(
        "table-columns",
        ERROR,
        "the columns of a table do not match those of its scan or sink, or one occurs twice",
        "A scan has the columns of its table, or those of its abilities; a sink has one column for each stored "
        "column of its table.",
    ),
    Rule(
        "never-runs",
        ERROR,
        "the operator can be compiled, but not executed",
        "Flink compiles a join as of processing time (FOR SYSTEM_TIME AS OF a PROCTIME() column) with a table that "
        "cannot be looked up row by row, and refuses to run it.  Join as of an event time instead.  So it does with a "
        "table that can, and is looked up by none of its columns as they stand.",
    ),
    Rule(
        "not-in-flink",
        WARNING,
        "only flinkplan can execute the operator",
        "Flink reads the plan, but refuses to execute a join as of processing time with a versioned table "
        "(FLIP-326). flinkplan executes it if the plan was compiled with `table.exec.temporal-join.processing-time "
        "= wait-for-snapshot`.",
    ),
    Rule(
        "operand-count",
        ERROR,
        "a function has too few or too many operands",
        "The number of operands must match a signature of the function.",
    ),
    Rule(
        "function",
        WARNING,
        "the function is unknown",
        "flinkplan cannot execute a plan with an unknown function. Functions are identified by syntax and internal "
        "name, such as $UPPER$1.",
    ),
    Rule(
        "lost-function",
        Severity.NOTE,
        "Flink cannot read the function",
        "Flink 2.3 compiles STDDEV and VAR to a function that it does not find when it reads the plan. Such a plan "
        "runs here; Flink refuses it, also if Flink compiled it.",
    ),
    *advice.RULES.values(),
    Rule(
        "table-option",
        ERROR,
        "a table has an option that its connector or format does not have",
        "Flink checks the options when the plan is executed. Reported only with --for.",
    ),
    Rule(
        "spark-node",
        ERROR,
        "an operator, or an expression in it, is not supported here",
        "The plan is valid in Flink, but flinkplan execute refuses it. This is an error with --for spark, a note "
        "without --for, and not reported with --for flink.",
    ),
    Rule(
        "spark-table",
        ERROR,
        "a table cannot be read or written here",
        "flinkplan execute does not support the connector, the format, a column or an ability of the table. This is "
        "an error with --for spark, a note without --for, and not reported with --for flink.",
    ),
    Rule(
        "spark-files",
        ERROR,
        "the files of a source do not exist",
        "A job over bounded files does not start without them. Reported only with --for spark.",
    ),
    Rule(
        "option-unlisted",
        ERROR,
        "an option of a table is not on the list of supported options",
        "Flink passes options of parquet, orc and Kafka's properties to libraries. Some of them load classes, run "
        "commands and delete files, and a plan may come from anywhere, so only the options listed in "
        "docs/connectors.md are executed. Not reported with --for flink.",
    ),
    Rule(
        "spark-database",
        ERROR,
        "the directory of a table's embedded database was not allowed",
        "An embedded database, such as Derby, runs code that is stored in its directory, and the directory may have "
        "come with the plan. Pass --allow-database FOLDER, or make the directory a variable, jdbc:derby:${NAME}. "
        "This is an error with --for spark, a note without --for, and not reported with --for flink.",
    ),
    Rule(
        "spark-definition",
        Severity.NOTE,
        "the plan has only the name of a table, not its definition",
        "A plan contains only the names of temporary tables. Pass --tables SCRIPT to flinkplan execute, and to "
        "validate to check them. Reported only with --for spark.",
    ),
    Rule(
        "spark-variable",
        Severity.NOTE,
        "a variable in the tables' options has no value",
        "Pass --var NAME=VALUE to flinkplan execute, and to validate to check the files. Reported only with --for "
        "spark.",
    ),
    Rule(
        "flink-start",
        ERROR,
        "Flink compiles this operator, but does not start it",
        "Some operators of compiled plans cannot run in Flink: sorting a stream by another column than its time, "
        "OFFSET without LIMIT, LEAD, INSERT OVERWRITE … Many of them run here. Reported only with --for flink.",
    ),
)

REFUSED_BY_FLINK = ("own-node", "lost-function")
"""Rules whose findings are errors in a plan that Flink is to execute."""
