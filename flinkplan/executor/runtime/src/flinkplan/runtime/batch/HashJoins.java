package flinkplan.runtime.batch;

import java.util.Collections;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.stream.LongStream;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.plans.logical.HintInfo;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SHUFFLE_HASH$;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage;
import org.apache.spark.sql.execution.adaptive.ShuffleQueryStageExec;
import org.apache.spark.sql.internal.SQLConf;
import scala.Option;
import scala.PartialFunction;
import scala.Some;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * Joins of a batch by hash tables instead of sorting both inputs, where tables of the one that was shuffled fit.
 *
 * <p>Such a table cannot be spilled. Spark's own rule of this kind goes by the bytes that were written, which are
 * compressed, so that it has to be off by default; this one goes by what the rows take in memory.
 */
public final class HashJoins extends Rule<LogicalPlan> {
    /** A table takes up to three times what its rows take, while it grows, and a task may make several. */
    private static final int PARTS_OF_MEMORY = 8;

    private static final Set<SparkSessionExtensions> EXTENDED = Collections.newSetFromMap(new WeakHashMap<>());

    private final SparkContext context;

    private HashJoins(SparkContext context) {
        this.context = context;
    }

    /** Adds this rule to the copies that are made of a session. */
    public static synchronized void add(org.apache.spark.sql.SparkSession session) {
        var extensions = ((SparkSession) session).extensions();
        if (EXTENDED.add(extensions)) {
            extensions.injectRuntimeOptimizerRule(copy -> new HashJoins(copy.sparkContext()));
        }
    }

    @Override
    public LogicalPlan apply(LogicalPlan plan) {
        PartialFunction<LogicalPlan, LogicalPlan> choose = new AbstractPartialFunction<>() {
            @Override
            public boolean isDefinedAt(LogicalPlan node) {
                return node instanceof Join join && join.hint().isEmpty();
            }

            @Override
            public LogicalPlan apply(LogicalPlan node) {
                return chosen((Join) node);
            }
        };
        return plan.transformDown(choose);
    }

    private Join chosen(Join join) {
        Optional<ShuffleQueryStageExec> left = shuffled(join.left());
        Optional<ShuffleQueryStageExec> right = shuffled(join.right());
        if (left.isEmpty() || right.isEmpty()) {
            return join;
        }
        long broadcast = conf().autoBroadcastJoinThreshold();
        if (bytes(left.get()) <= broadcast || bytes(right.get()) <= broadcast) {
            return join;
        }
        JoinHint hint = new JoinHint(hint(left.get()), hint(right.get()));
        return hint.isEmpty() ? join : join.copy(join.left(), join.right(), join.joinType(), join.condition(), hint);
    }

    /** What has been shuffled for an input of a join alone, if that is over. */
    private static Optional<ShuffleQueryStageExec> shuffled(LogicalPlan input) {
        if (!(input instanceof LogicalQueryStage stage)) {
            return Optional.empty();
        }
        return CollectionConverters.asJava(stage.physicalPlan().collectLeaves()).stream()
                .filter(ShuffleQueryStageExec.class::isInstance)
                .map(ShuffleQueryStageExec.class::cast)
                .filter(shuffle -> shuffle.isMaterialized() && shuffle.mapStats().isDefined())
                .findFirst();
    }

    private Option<HintInfo> hint(ShuffleQueryStageExec shuffle) {
        return largest(shuffle) <= most() ? new Some<>(new HintInfo(new Some<>(SHUFFLE_HASH$.MODULE$))) : Option.empty();
    }

    /** How many bytes of memory the rows take that come to one task. */
    private long largest(ShuffleQueryStageExec shuffle) {
        long[] written = shuffle.mapStats().get().bytesByPartitionId();
        long sum = Math.max(LongStream.of(written).sum(), 1);
        long together = (long) conf().getConf(SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES());
        long most = Math.max(together, LongStream.of(written).max().orElse(0));
        return (long) ((double) bytes(shuffle) * Math.min(most, sum) / sum);
    }

    private static long bytes(ShuffleQueryStageExec shuffle) {
        return shuffle.getRuntimeStatistics().sizeInBytes().toLong();
    }

    /** How many bytes the rows of a table may take: the driver's memory counts where it is less than that of others. */
    private long most() {
        var memories = CollectionConverters.asJava(context.getExecutorMemoryStatus()).values();
        int executors = Math.max(context.isLocal() ? 1 : memories.size() - 1, 1);
        int slots = (context.defaultParallelism() + executors - 1) / executors;
        long least = memories.stream().mapToLong(memory -> (long) memory._1()).min().orElse(0);
        return least / slots / PARTS_OF_MEMORY;
    }
}
