package flinkplan.runtime.checkpoint;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import flinkplan.runtime.kernel.Kernel;
import flinkplan.runtime.operator.KernelOperator;
import flinkplan.runtime.row.Rows;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.UnresolvedDeserializer;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.RepartitionByExpression;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.TransformWithState;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadata;
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.DriverStatefulProcessorHandleImpl;
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution$;
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkPropagator;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Writes the state of a streaming query as its first batch would have: the query is run once over no rows at all, and
 * its operators' states are filled before.
 *
 * <p>So Spark itself writes schemas, indices of times to live, timers and the description of operators.
 */
public final class CheckpointWriter {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final SparkSession session;
    private final LogicalPlan plan;
    private final List<LogicalPlan> sources = new ArrayList<>();

    /** @param frame the rows of a streaming query, before anything writes them */
    public CheckpointWriter(Dataset<Row> frame) {
        var dataset = (org.apache.spark.sql.classic.Dataset<Row>) frame;
        this.session = dataset.sparkSession().cloneSession();
        // as for each query of its own; Spark asks for it by this name alone
        session.conf()
                .set(
                        SQLConf.STATEFUL_SHUFFLE_PARTITIONS_INTERNAL().key(),
                        Integer.toString(session.sessionState().conf().numShufflePartitions()));
        this.plan = withoutSources(dataset.queryExecution().analyzed());
    }

    /**
     * The operators with state in JSON, in Spark's order: their number, and those of kernels the kernel's class, what
     * timers go by, the schema of the key, and the variables in the order in which {@link Bootstrap} numbers them.
     */
    public String operators() throws JsonProcessingException {
        ArrayNode all = MAPPER.createArrayNode();
        for (var found : numbered(plan).entrySet()) {
            ObjectNode operator = all.addObject().put("operator", found.getKey());
            if (found.getValue() instanceof TransformWithStateExec exec
                    && (Object) exec.statefulProcessor() instanceof Kernel kernel) {
                describe(exec, kernel, operator);
            }
        }
        return MAPPER.writeValueAsString(all);
    }

    /** The kernel of the operator with this number. */
    public Kernel kernel(int number) {
        return (Kernel) (Object) ((TransformWithStateExec) numbered(plan).get(number)).statefulProcessor();
    }

    /**
     * The places where the query reads sources in JSON, in the order in which Spark has their offsets: the number of the
     * source, by which Spark keeps what it knows, its format, and the options that it has been given.
     */
    public String sources() throws JsonProcessingException {
        ArrayNode all = MAPPER.createArrayNode();
        Map<LogicalPlan, Integer> numbers = new HashMap<>();
        for (LogicalPlan source : sources) {
            numbers.putIfAbsent(source, numbers.size());
            ObjectNode place = all.addObject().put("source", numbers.get(source));
            ObjectNode options = place.putObject("options");
            if (source instanceof StreamingRelationV2 relation) {
                place.put("format", relation.sourceName());
                relation.extraOptions().asCaseSensitiveMap().forEach(options::put);
            } else if (source instanceof StreamingRelation relation) {
                place.put("format", relation.sourceName());
                CollectionConverters.asJava(relation.dataSource().options()).forEach(options::put);
            }
        }
        return MAPPER.writeValueAsString(all);
    }

    /** The metadata of a batch in JSON, with the settings that a query goes on with; times in epoch milliseconds. */
    public String metadata(long watermark, long timestamp) {
        return OffsetSeqMetadata.apply(watermark, timestamp, session.conf()).json();
    }

    private static void describe(TransformWithStateExec exec, Kernel kernel, ObjectNode operator)
            throws JsonProcessingException {
        LoadedVariables variables = variables(exec, kernel);
        operator.put("kernel", kernel.getClass().getSimpleName())
                .put("timeMode", exec.timeMode().toString())
                .set("key", json(key(exec.keyEncoder())));
        ArrayNode described = operator.putArray("variables");
        for (var variable : variables.all()) {
            ObjectNode one = described.addObject().put("name", variable.name()).put("kind", variable.kind());
            one.put("expires", variable.expiry() != null);
            one.set("mapKey", variable.mapKey() == null ? null : json(variable.mapKey()));
            one.set("value", json(variable.value()));
        }
    }

    private static LoadedVariables variables(TransformWithStateExec exec, Kernel kernel) {
        var handle = new DriverStatefulProcessorHandleImpl(exec.timeMode(), exec.keyEncoder());
        LoadedVariables variables = new LoadedVariables(handle);
        kernel.openedBy(variables);
        kernel.setHandle(handle);
        try {
            kernel.init(exec.outputMode(), exec.timeMode());
            kernel.close();
        } finally {
            kernel.openedBy(null);
        }
        return variables;
    }

    @SuppressWarnings("unchecked")
    private static StructType key(ExpressionEncoder<?> encoder) {
        return Rows.schema((Encoder<InternalRow>) encoder);
    }

    private static com.fasterxml.jackson.databind.JsonNode json(StructType schema) throws JsonProcessingException {
        return MAPPER.readTree(schema.json());
    }

    /**
     * Writes version 1 of the state of all operators.
     *
     * @param location where the query keeps its state
     * @param entries what goes into the states, by the number of the operator: rows as {@link Bootstrap} takes them
     * @param timestamp the time of the batch (epoch milliseconds): what has expired by then is left out
     */
    public void write(String location, Map<Integer, Dataset<Row>> entries, long timestamp) {
        Map<Object, Dataset<Row>> byKernel = new IdentityHashMap<>();
        numbered(plan).forEach((number, exec) -> {
            if (exec instanceof TransformWithStateExec operator && entries.containsKey(number)) {
                byKernel.put(operator.statefulProcessor(), entries.get(number));
            }
        });
        LogicalPlan filled = Dataset$.MODULE$
                .ofRows(session, filled(plan, byKernel))
                .queryExecution()
                .analyzed();
        IncrementalExecution execution = execution(filled, location, true, timestamp);
        try {
            SparkPlan executed = execution.executedPlan();
            execution.writeRecordedStateMetadata();
            executed.execute().count();
        } finally {
            session.streams().stateStoreCoordinator().deactivateInstances(execution.runId());
        }
    }

    /** How many entries have been written by all writers of this JVM, as far as tasks run in it. */
    public static long written() {
        return Bootstrap.written();
    }

    /** The operators by their numbers; of copies that share one kernel the first, which is the one that is run. */
    private Map<Integer, SparkPlan> numbered(LogicalPlan plan) {
        Map<Integer, SparkPlan> found = new TreeMap<>();
        collect(execution(plan, "", false, 0).executedPlan(), found);
        Map<Object, Boolean> seen = new IdentityHashMap<>();
        found.values()
                .removeIf(exec -> exec instanceof TransformWithStateExec operator
                        && seen.put(operator.statefulProcessor(), true) != null);
        return found;
    }

    private static void collect(SparkPlan plan, Map<Integer, SparkPlan> found) {
        if (plan instanceof StateStoreWriter operator) {
            found.put((int) operator.getStateInfo().operatorId(), plan);
        }
        CollectionConverters.asJava(plan.children()).forEach(child -> collect(child, found));
    }

    private IncrementalExecution execution(LogicalPlan plan, String location, boolean isFirst, long timestamp) {
        // timers go by a watermark that is before all of them: nothing fires here
        return new IncrementalExecution(
                session,
                plan,
                OutputMode.Append(),
                location,
                UUID.randomUUID(),
                UUID.randomUUID(),
                0,
                Option.empty(),
                OffsetSeqMetadata.apply(0, timestamp, session.conf()),
                WatermarkPropagator.noop(),
                isFirst,
                IncrementalExecution$.MODULE$.$lessinit$greater$default$12(),
                IncrementalExecution$.MODULE$.$lessinit$greater$default$13(),
                IncrementalExecution$.MODULE$.$lessinit$greater$default$14(),
                false,
                false);
    }

    private LogicalPlan withoutSources(LogicalPlan plan) {
        if (plan instanceof StreamingRelationV2 || plan instanceof StreamingRelation) {
            sources.add(plan);
            return new LocalRelation(plan.output(), asScala(List.<InternalRow>of()), true, Option.empty());
        }
        return plan.mapChildren(this::withoutSources);
    }

    private LogicalPlan filled(LogicalPlan plan, Map<Object, Dataset<Row>> entries) {
        LogicalPlan same = plan.mapChildren(child -> filled(child, entries));
        if (!(same instanceof TransformWithState operator)
                || !((Object) operator.statefulProcessor() instanceof Kernel kernel)
                || !entries.containsKey(kernel)) {
            return same;
        }
        return filled(operator, kernel, entries.get(kernel));
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private LogicalPlan filled(TransformWithState operator, Kernel kernel, Dataset<Row> entries) {
        int keys = key(operator.keyEncoder()).length();
        LogicalPlan rows = ((org.apache.spark.sql.classic.Dataset<Row>) entries)
                .queryExecution()
                .analyzed();
        LogicalPlan all = besides(rows, operator.child());
        var grouped = KernelOperator.grouped(all, keys);
        Seq<Attribute> grouping = asScala(grouped.key());
        List<Expression> by = new ArrayList<>(grouped.key());
        LogicalPlan divided = new RepartitionByExpression(
                asScala(by), grouped.plan(), Option.apply(partitions()), Option.empty());
        // entries of a list come in their order
        List<SortOrder> order = new ArrayList<>();
        grouped.key().forEach(column -> order.add(ascending(column)));
        Seq<Attribute> columns = all.output();
        order.add(ascending(columns.apply(keys + 2)));
        LogicalPlan sorted = new Sort(asScala(order), false, divided, Option.empty());
        Expression deserializer =
                ((ExpressionEncoder<InternalRow>) Rows.encoder(entries.schema())).deserializer();
        return new TransformWithState(
                new UnresolvedDeserializer(operator.keyEncoder().deserializer(), grouping),
                new UnresolvedDeserializer(deserializer, columns),
                grouping,
                columns,
                (org.apache.spark.sql.streaming.StatefulProcessor) new Bootstrap(kernel, keys),
                operator.timeMode(),
                operator.outputMode(),
                operator.keyEncoder(),
                operator.outputObjAttr(),
                sorted,
                operator.hasInitialState(),
                grouping,
                columns,
                new UnresolvedDeserializer(operator.keyEncoder().deserializer(), grouping),
                operator.initialState());
    }

    /** Rows together with those of a stream, of which there are none: so its operators stay in the plan. */
    private static LogicalPlan besides(LogicalPlan rows, LogicalPlan stream) {
        List<NamedExpression> columns = new ArrayList<>();
        CollectionConverters.asJava(rows.output()).forEach(column -> {
            Expression none = Literal.create(null, column.dataType());
            columns.add(new Alias(
                    none,
                    column.name(),
                    NamedExpression.newExprId(),
                    asScala(List.<String>of()),
                    Option.empty(),
                    asScala(List.<String>of())));
        });
        return new Union(asScala(List.of(rows, new Project(asScala(columns), stream))), false, false);
    }

    private static SortOrder ascending(Attribute column) {
        return new SortOrder(
                column, Ascending$.MODULE$, Ascending$.MODULE$.defaultNullOrdering(), asScala(List.<Expression>of()));
    }

    private Object partitions() {
        return session.sessionState().conf().numShufflePartitions();
    }
}
