"""The rules of ``validate``, for its reports and for ``docs/validation.md``."""

from __future__ import annotations

from ... import advice
from ...plan.findings import Rule, Severity, rule_table

ERROR, WARNING = Severity.ERROR, Severity.WARNING

RULES = rule_table(
    Rule(
        "json",
        ERROR,
        "the file is not JSON",
        "The text ends too early, has a stray comma, a key twice in one object, or is not UTF-8.",
    ),
    Rule(
        "plan-keys",
        ERROR,
        "a top-level key is missing or unknown",
        "A compiled plan has exactly the keys flinkVersion, nodes and edges; Flink refuses any other. "
        "Anything of your own belongs inside a node, under the key flinkplan.",
    ),
    Rule(
        "plan-version",
        ERROR,
        "the plan's Flink release is unknown or too new",
        "Plans of Flink 1.15 up to 2.3 can be read.  Flink refuses plans of a release that it does not know.",
    ),
    Rule(
        "schema",
        ERROR,
        "a value is not what its field takes",
        "The value has another JSON type than the field, a needed field is missing, or a word is none of those "
        "allowed.  See schemas/plan-v1.schema.json.",
    ),
    Rule(
        "node-type",
        ERROR,
        "the exec node does not exist",
        "The type is a node's name and version, such as stream-exec-join_1.",
    ),
    Rule(
        "own-node",
        Severity.NOTE,
        "Flink does not have the exec node",
        "Windows of the DataStream API have exec nodes of flinkplan.  A plan with one runs here; Flink refuses it.",
    ),
    Rule(
        "node-version",
        ERROR,
        "the exec node has no such version",
        "Each exec node has few versions; Flink loads all of them up to the newest it knows.",
    ),
    Rule(
        "node-field",
        WARNING,
        "the exec node has no such field",
        "Flink ignores fields that a node does not have, so a misspelt one has no effect.",
    ),
    Rule(
        "state-field",
        WARNING,
        "a state entry has no such field",
        "Flink ignores fields that a state entry does not have, so a misspelt one has no effect.",
    ),
    Rule(
        "node-option",
        WARNING,
        "the exec node does not read this option",
        "A node's configuration fixes the options that the node reads; others have no effect there.",
    ),
    Rule("node-id", ERROR, "an id is used twice", "Edges name nodes by id, so an id belongs to one node only."),
    Rule(
        "edge-end",
        ERROR,
        "an edge starts or ends nowhere",
        "The source and the target of an edge are ids of nodes.",
    ),
    Rule(
        "input-count",
        ERROR,
        "a node has too few or too many inputs",
        "Each edge to a node is one of its inputs, in the order of the edges: a join has two, the left one first.",
    ),
    Rule("cycle", ERROR, "nodes feed each other in a circle", "Rows flow from the sources to the sinks only."),
    Rule(
        "dead-end",
        ERROR,
        "the rows of a node go nowhere",
        "Every node but a sink feeds another one, and a plan has at least one sink.",
    ),
    Rule(
        "node-order",
        ERROR,
        "a node stands before one that feeds it",
        "Flink writes the nodes in topological order, from the sources to the sinks.",
    ),
    Rule(
        "state-count",
        ERROR,
        "a node has too few or too many state entries",
        "A node has one entry for each of its states, or none at all; then table.exec.state.ttl holds.  Flink "
        "notices at execution only.",
    ),
    Rule(
        "state-index",
        ERROR,
        "the indexes of the state entries have a gap or a double",
        "The entries are numbered from 0 on; the index, not the place in the list, says which state is meant.",
    ),
    Rule(
        "state-name",
        WARNING,
        "a state has another name than the node's",
        "Flink goes by the index and does not look at the name, so a swapped name misleads readers only.",
    ),
    Rule(
        "state-ttl",
        ERROR,
        "a TTL is not a duration",
        "A TTL is a whole number with one unit (1 h, 90 min, 3600000 ms), an ISO-8601 duration (P1D) or a number of "
        "milliseconds; 0 ms is for ever.",
    ),
    Rule(
        "state-ttl-long",
        WARNING,
        "a TTL is longer than 100 years",
        "Perhaps a unit is wrong; 0 ms says that entries never expire.",
    ),
    Rule(
        "state-unexpected",
        WARNING,
        "the node keeps no state that a TTL could clean",
        "Windows, interval and temporal joins, OVER aggregations and sorts are cleaned by the watermark; "
        "stateless nodes keep nothing.",
    ),
    Rule(
        "type",
        ERROR,
        "a logical type or expression cannot be read",
        "Types are spelt as in SQL: INT NOT NULL, ROW<`a` INT>, TIMESTAMP(3) WITH LOCAL TIME ZONE.",
    ),
    Rule(
        "column-index",
        ERROR,
        "a column index is beyond the input's columns",
        "Columns count from 0; those of a join's right input follow the left input's.",
    ),
    Rule(
        "column-type",
        ERROR,
        "a column is taken for one of another type",
        "An expression, a key or a whole row says another type than the input has: a node between the two is missing, "
        "or an edge leads to the wrong node.  Flink does not notice, and fails in the middle of the job.",
    ),
    Rule(
        "output-columns",
        ERROR,
        "the output type has another number of columns than the node yields",
        "A calc yields one column for each expression of its projection, an aggregation one for each key and call.",
    ),
    Rule(
        "element-names",
        ERROR,
        "Python classes of a window have not a name for each column of its rows",
        "A window operator with Python classes says what they call the columns of its input, in elementNames.",
    ),
    Rule(
        "table-columns",
        ERROR,
        "a table has a column twice, or not those that a scan reads or a sink takes",
        "A scan yields the columns of its table, or those that its abilities name; a sink takes one column for each "
        "that its table stores.",
    ),
    Rule(
        "never-runs",
        ERROR,
        "the operator can be planned but not run",
        "Flink compiles a join as of processing time (FOR SYSTEM_TIME AS OF a PROCTIME() column) with a table that "
        "cannot be looked up row by row, and refuses to run it.  Join as of an event time instead.  So it does with a "
        "table that can, and is looked up by none of its columns as they stand.",
    ),
    Rule(
        "not-in-flink",
        WARNING,
        "the operator is executed by flinkplan alone",
        "Flink reads the plan, and refuses to run a join as of processing time with versions (FLIP-326).  One that was "
        "compiled with `table.exec.temporal-join.processing-time = wait-for-snapshot` is executed here.",
    ),
    Rule(
        "operand-count",
        ERROR,
        "a function has too few or too many operands",
        "Each function takes as many operands as its signatures say.",
    ),
    Rule(
        "function",
        WARNING,
        "the function is not known here",
        "flinkplan cannot run a plan with a function that it does not know.  Functions are named by their syntax and "
        "internal name, such as $UPPER$1.",
    ),
    Rule(
        "lost-function",
        Severity.NOTE,
        "Flink cannot read the function",
        "Flink 2.3 compiles STDDEV and VAR to a function whose name it does not know when it reads the plan.  Such a "
        "plan runs here; Flink refuses it, whoever compiled it.",
    ),
    *advice.RULES.values(),
    Rule(
        "table-option",
        ERROR,
        "a table has an option that its connector or format does not take",
        "Flink looks at the options when the plan is executed. Told with --for.",
    ),
    Rule(
        "spark-node",
        ERROR,
        "an operator, or an expression in it, is not executed here",
        "The plan is good, and Flink executes it, but flinkplan execute refuses it. An error with --for spark, a note "
        "where no engine is named, and left out with --for flink.",
    ),
    Rule(
        "spark-table",
        ERROR,
        "a table cannot be read or written here",
        "Its connector or format is not executed by flinkplan execute, or its columns or abilities are none that are. "
        "An error with --for spark, a note where no engine is named, and left out with --for flink.",
    ),
    Rule(
        "spark-files",
        ERROR,
        "the files that a source reads are not there",
        "A job over bounded files does not start without them. Told with --for spark.",
    ),
    Rule(
        "option-unlisted",
        ERROR,
        "an option of a table is on no list of what is handed on to Spark or a client",
        "Flink hands options of parquet, orc and Kafka's properties on to libraries, whatever they are. Here a plan "
        "may come from anywhere, and such options load classes, run commands and delete files, so that only those on "
        "the lists of docs/connectors.md are executed. Left out with --for flink.",
    ),
    Rule(
        "spark-database",
        ERROR,
        "a table is of a database in a folder that the user has not named",
        "An embedded database, such as Derby's, runs code that is stored in its folder, and the folder may have come "
        "with the plan. Pass --allow-database FOLDER, or write the folder as a variable alone, jdbc:derby:${NAME}. An "
        "error with --for spark, a note where no engine is named, and left out with --for flink.",
    ),
    Rule(
        "spark-definition",
        Severity.NOTE,
        "the plan holds the name of a table and not its definition",
        "Of temporary tables a plan has the names only. flinkplan execute needs --tables SCRIPT for them; so does "
        "validate, to look at them. Told with --for spark.",
    ),
    Rule(
        "spark-variable",
        Severity.NOTE,
        "a variable in the tables' options is not set",
        "flinkplan execute needs --var NAME=VALUE for it; so does validate, to look at the files. Told with --for "
        "spark.",
    ),
    Rule(
        "flink-start",
        ERROR,
        "Flink compiles this operator and does not start it",
        "Some of what Flink writes into a plan its operators cannot do: sort a stream by other than its time, OFFSET "
        "without LIMIT, LEAD, INSERT OVERWRITE … Much of that runs here. Told with --for flink.",
    ),
)

REFUSED_BY_FLINK = ("own-node", "lost-function")
"""Rules whose findings are errors in a plan that Flink is to execute."""
