package flinkplan.runtime.lookup;

import static flinkplan.runtime.catalyst.Sequences.asScala;

import flinkplan.runtime.catalyst.Condition;
import flinkplan.runtime.catalyst.RowGenerator;
import flinkplan.runtime.row.Rows;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.TaskCompletionListener;
import scala.collection.IterableOnce;

/**
 * Joins each row with the rows that a table has for its key, asked for once a key of many rows at a time.
 *
 * <p>It is a generator for Spark. Its rows are what it reads but for keys, then the table's columns, then whether there
 * was a row of the table. Source of the rules: Flink's {@code LookupJoinRunner}.
 */
public final class LookupJoin extends RowGenerator {
    private static final int ROWS_AT_ONCE = 1024;
    private static final String FOUND = "found";

    /**
     * What does not change from row to row.
     *
     * @param input the columns that it reads: those of the row, of which the first {@code fields} are the plan's, then
     *     the key's, then whether the row is to be looked up at all
     * @param keys how many columns the key has
     * @param table the columns of the table
     * @param condition what must hold of the row's {@code fields} and the table's columns; may be null
     * @param keepsAll whether rows without a match are kept
     * @param retries how often keys without rows are asked for again, {@code delay} milliseconds later
     * @param name by which its cache is known, of these {@code limits}; null: each task has its own
     */
    public record Spec(
            StructType input,
            int fields,
            int keys,
            StructType table,
            Lookup lookup,
            Condition condition,
            boolean keepsAll,
            int retries,
            long delay,
            String name,
            LookupCache.Limits limits)
            implements Serializable {

        int width() {
            return input.length() - keys - 1;
        }

        /** Says nothing of the table. */
        @Override
        public String toString() {
            return "Lookup";
        }
    }

    private final List<Expression> columns;
    private final Spec spec;

    private transient Task task;

    private LookupJoin(List<Expression> columns, Spec spec) {
        super(columns, spec);
        this.columns = columns;
        this.spec = spec;
    }

    /** Joins the rows of {@code spec.input()}. */
    public static Dataset<Row> run(Dataset<Row> rows, Spec spec) {
        return run(rows, columns -> new LookupJoin(columns, spec));
    }

    @Override
    public StructType elementSchema() {
        StructType schema = Rows.select(spec.input, range(0, spec.width()));
        for (int i = 0; i < spec.table.length(); i++) {
            schema = schema.add("t" + i, spec.table.apply(i).dataType());
        }
        return schema.add(FOUND, DataTypes.BooleanType, false);
    }

    @Override
    public IterableOnce<InternalRow> eval(InternalRow child) {
        if (task == null) {
            task = new Task(spec, UnsafeProjection.create(asScala(columns)));
        }
        return asScala(task.add(child));
    }

    @Override
    public IterableOnce<InternalRow> terminate() {
        return asScala(task == null ? List.<InternalRow>of() : task.flush());
    }

    /** What one task has read and not joined yet. */
    private static final class Task {
        private final Spec spec;
        private final UnsafeProjection row, own, fields, key;
        private final BasePredicate condition;
        private final LookupCache cache;
        private final InternalRow nothing;
        private final List<InternalRow> waiting = new ArrayList<>();
        private Lookup.Session session;

        Task(Spec spec, UnsafeProjection row) {
            this.spec = spec;
            this.row = row;
            int width = spec.width();
            own = Rows.projection(spec.input, range(0, width));
            fields = Rows.projection(spec.input, range(0, spec.fields));
            key = Rows.projection(spec.input, range(width, width + spec.keys));
            condition = spec.condition == null ? null : spec.condition.compile();
            cache = spec.name == null ? LookupCache.ofTask() : LookupCache.shared(spec.name, spec.limits);
            nothing = answer(Rows.nulls(spec.table.length()), false);
            TaskContext context = TaskContext.get();
            if (context != null) {
                context.addTaskCompletionListener((TaskCompletionListener) ended -> close());
            }
        }

        List<InternalRow> add(InternalRow child) {
            waiting.add(row.apply(child).copy());
            return waiting.size() < ROWS_AT_ONCE ? List.of() : flush();
        }

        List<InternalRow> flush() {
            Map<Object, InternalRow> keys = new LinkedHashMap<>();
            List<Object> asked = new ArrayList<>();
            for (InternalRow each : waiting) {
                InternalRow itsKey = each.getBoolean(each.numFields() - 1) ? key.apply(each).copy() : null;
                Object identity = itsKey == null || itsKey.anyNull() ? null : spec.lookup.identity(itsKey);
                asked.add(identity);
                if (identity != null) {
                    keys.putIfAbsent(identity, itsKey);
                }
            }
            Map<Object, List<InternalRow>> answers = answers(keys);
            List<InternalRow> joined = new ArrayList<>();
            for (int i = 0; i < waiting.size(); i++) {
                join(waiting.get(i), answers.getOrDefault(asked.get(i), List.of()), joined);
            }
            waiting.clear();
            return joined;
        }

        private void join(InternalRow left, List<InternalRow> rows, List<InternalRow> joined) {
            InternalRow kept = own.apply(left).copy();
            InternalRow compared = condition == null || rows.isEmpty() ? null : fields.apply(left);
            int before = joined.size();
            for (InternalRow right : rows) {
                if (compared == null || condition.eval(new JoinedRow(compared, right))) {
                    joined.add(new JoinedRow(kept, answer(right, true)));
                }
            }
            if (spec.keepsAll && joined.size() == before) {
                joined.add(new JoinedRow(kept, nothing));
            }
        }

        private static InternalRow answer(InternalRow right, boolean found) {
            return new JoinedRow(right, Rows.of(found));
        }

        private Map<Object, List<InternalRow>> answers(Map<Object, InternalRow> keys) {
            Map<Object, List<InternalRow>> rowsByKey = new LinkedHashMap<>();
            Map<Object, InternalRow> missing = new LinkedHashMap<>(keys);
            for (Object key : keys.keySet()) {
                List<InternalRow> rows = cache.get(key);
                if (rows != null) {
                    rowsByKey.put(key, rows);
                    missing.remove(key);
                }
            }
            Map<Object, List<InternalRow>> asked = new LinkedHashMap<>();
            for (int attempt = 0; !missing.isEmpty() && attempt <= spec.retries; attempt++) {
                if (attempt > 0) {
                    pause();
                }
                asked.putAll(ask(missing));
                missing.keySet().removeIf(key -> !asked.get(key).isEmpty());
            }
            asked.forEach(cache::put);
            rowsByKey.putAll(asked);
            return rowsByKey;
        }

        private Map<Object, List<InternalRow>> ask(Map<Object, InternalRow> keys) {
            try {
                if (session == null) {
                    session = spec.lookup.open();
                }
                List<List<InternalRow>> rows = session.rows(List.copyOf(keys.values()));
                Map<Object, List<InternalRow>> answers = new LinkedHashMap<>();
                for (Object key : keys.keySet()) {
                    answers.put(key, rows.get(answers.size()));
                }
                return answers;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private void pause() {
            try {
                Thread.sleep(spec.delay);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }

        private void close() {
            try {
                if (session != null) {
                    session.close();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static int[] range(int start, int end) {
        return IntStream.range(start, end).toArray();
    }

    @Override
    protected Expression over(List<Expression> children) {
        return new LookupJoin(children, spec);
    }
}
