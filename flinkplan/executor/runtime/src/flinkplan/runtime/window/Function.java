package flinkplan.runtime.window;

import flinkplan.runtime.aggregate.Aggregation;
import flinkplan.runtime.row.RowOrder;
import java.io.Serializable;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * What becomes of a window's rows.
 *
 * <p>Where it can, a function folds rows into an accumulator as they come; otherwise they are kept until they are asked
 * for.
 */
public abstract class Function implements Serializable {
    /** The schema of an accumulator; null where rows are kept. */
    abstract StructType accumulator();

    /** Whether it makes a difference in which order rows come. */
    boolean orderMatters() {
        return true;
    }

    /** The accumulator of rows behind those of {@code before}, which is null at first. */
    InternalRow fold(InternalRow before, List<Element> rows) {
        throw new IllegalStateException("rows are kept");
    }

    /** The accumulator of two. */
    InternalRow merge(InternalRow first, InternalRow second) {
        throw new IllegalStateException("rows are kept");
    }

    /** Hands on the results of an accumulator. */
    void emit(InternalRow key, InternalRow accumulator, Consumer<InternalRow> out) {
        throw new IllegalStateException("rows are kept");
    }

    /** Hands on the results of rows. */
    abstract void emit(InternalRow key, List<Element> rows, Consumer<InternalRow> out);

    void open() {}

    /** Two rows become one. */
    public static final class Reduce extends Function {
        private final PairFunction reduce;
        private final StructType row;

        public Reduce(PairFunction reduce, StructType row) {
            this.reduce = reduce;
            this.row = row;
        }

        @Override
        StructType accumulator() {
            return row;
        }

        @Override
        InternalRow fold(InternalRow before, List<Element> rows) {
            InternalRow reduced = before;
            for (Element element : rows) {
                reduced = reduced == null ? element.row() : reduce.row(reduced, element.row());
            }
            return reduced;
        }

        @Override
        InternalRow merge(InternalRow first, InternalRow second) {
            return reduce.row(first, second);
        }

        @Override
        void emit(InternalRow key, InternalRow accumulator, Consumer<InternalRow> out) {
            out.accept(accumulator);
        }

        @Override
        void emit(InternalRow key, List<Element> rows, Consumer<InternalRow> out) {
            if (!rows.isEmpty()) {
                out.accept(fold(null, rows));
            }
        }
    }

    /** Aggregate calls; the key stands before their results. */
    public static final class Aggregate extends Function {
        private final Aggregation aggregation;
        private final boolean merging;
        private final boolean keyed;

        /** The accumulator that the aggregation stands on, if any: most are asked for as soon as they are folded. */
        private transient InternalRow current;

        /**
         * @param merging whether windows merge
         * @param keyed whether there is a key; without one its column is a constant
         */
        public Aggregate(Aggregation aggregation, boolean merging, boolean keyed) {
            this.aggregation = aggregation;
            this.merging = merging;
            this.keyed = keyed;
        }

        @Override
        void open() {
            aggregation.open(null);
        }

        @Override
        StructType accumulator() {
            return aggregation.isSelfContained() && (!merging || aggregation.merges()) ? aggregation.schema() : null;
        }

        @Override
        boolean orderMatters() {
            return aggregation.orderMatters();
        }

        @Override
        InternalRow fold(InternalRow before, List<Element> rows) {
            begin(before);
            for (Element element : rows) {
                aggregation.add(element.row());
            }
            return save();
        }

        @Override
        InternalRow merge(InternalRow first, InternalRow second) {
            begin(first);
            aggregation.merge(second);
            return save();
        }

        private InternalRow save() {
            current = aggregation.save();
            return current;
        }

        @Override
        void emit(InternalRow key, InternalRow accumulator, Consumer<InternalRow> out) {
            begin(accumulator);
            current = accumulator;
            accept(key, out);
        }

        @Override
        void emit(InternalRow key, List<Element> rows, Consumer<InternalRow> out) {
            begin(null);
            rows.forEach(element -> aggregation.add(element.row()));
            accept(key, out);
        }

        private void begin(InternalRow accumulator) {
            if (accumulator == null) {
                aggregation.begin();
            } else if (accumulator != current) {
                aggregation.begin(accumulator, 0);
            }
            current = null;
        }

        private void accept(InternalRow key, Consumer<InternalRow> out) {
            InternalRow values = aggregation.values();
            out.accept(keyed ? new org.apache.spark.sql.catalyst.expressions.JoinedRow(key, values) : values);
        }
    }

    /** The rows themselves. */
    public static final class Elements extends Function {
        private final int limit;
        private final boolean fromEnd;
        private final Comparator<InternalRow> order;

        /**
         * @param limit how many; -1: all
         * @param fromEnd whether the last ones
         * @param order null: that of arrival
         */
        public Elements(int limit, boolean fromEnd, RowOrder order) {
            this.limit = limit;
            this.fromEnd = fromEnd;
            this.order = order;
        }

        @Override
        StructType accumulator() {
            return null;
        }

        @Override
        void emit(InternalRow key, List<Element> rows, Consumer<InternalRow> out) {
            List<InternalRow> chosen = new java.util.ArrayList<>(rows.size());
            rows.forEach(element -> chosen.add(element.row()));
            if (order != null) {
                chosen.sort(order);
            }
            int count = limit < 0 ? chosen.size() : Math.min(limit, chosen.size());
            int from = fromEnd ? chosen.size() - count : 0;
            chosen.subList(from, from + count).forEach(out);
        }
    }
}
