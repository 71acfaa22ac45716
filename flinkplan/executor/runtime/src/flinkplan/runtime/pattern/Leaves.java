package flinkplan.runtime.pattern;

import flinkplan.runtime.aggregate.Aggregation;
import flinkplan.runtime.catalyst.Projection;
import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.DataType;

/** What an expression reads of a match: columns of single rows first, then aggregates over all rows of variables. */
public final class Leaves implements Serializable {
    /** In place of a variable: any of them. */
    public static final int ANY = -1;

    private final Navigation[] navigations;
    private final Totals[] totals;
    private final int width;

    private transient UnsafeProjection[] arguments;
    private transient int place;
    private transient int places;

    /**
     * A column of the row that is {@code offset} behind the first one of a variable, or before the last one.
     *
     * @param variable its number in the pattern, or {@link #ANY}
     */
    public record Navigation(int variable, boolean first, int offset, int column, DataType type)
            implements Serializable {}

    /**
     * Aggregates over the rows of a variable.
     *
     * @param arguments what {@code aggregation} works on, of a row
     * @param calls how many results it has
     */
    public record Totals(int variable, Projection arguments, Aggregation aggregation, int calls)
            implements Serializable {}

    public Leaves(Navigation[] navigations, Totals[] totals) {
        this.navigations = navigations;
        this.totals = totals;
        int columns = navigations.length;
        for (Totals total : totals) {
            columns += total.calls();
        }
        width = columns;
    }

    /** How many aggregations there are. */
    int aggregations() {
        return totals.length;
    }

    /**
     * Compiles what is to be computed.
     *
     * @param place which of a step's totals are the first ones of this
     * @param places how many of them each step has
     */
    void open(int place, int places) {
        this.place = place;
        this.places = places;
        arguments = new UnsafeProjection[totals.length];
        for (int i = 0; i < totals.length; i++) {
            arguments[i] = totals[i].arguments().compile();
            totals[i].aggregation().open(null);
        }
    }

    /** Their values for a match that ends with a step, and how many more columns, which are empty. */
    GenericInternalRow values(Step last, int more) {
        Object[] values = new Object[width + more];
        int next = 0;
        for (Navigation leaf : navigations) {
            Step step = last.at(leaf.variable(), leaf.first(), leaf.offset());
            boolean isNull = step == null || step.row.values().isNullAt(leaf.column());
            values[next++] = isNull ? null : step.row.values().get(leaf.column(), leaf.type());
        }
        for (int i = 0; i < totals.length; i++) {
            InternalRow results = results(i, last);
            for (int call = 0; call < totals[i].calls(); call++) {
                values[next++] = ((GenericInternalRow) results).values()[call];
            }
        }
        return new GenericInternalRow(values);
    }

    /** The results of an aggregation over the rows up to a step: what was saved with one before is gone on with. */
    private InternalRow results(int of, Step end) {
        int variable = totals[of].variable();
        Aggregation aggregation = totals[of].aggregation();
        boolean keeps = aggregation.isSelfContained();
        Deque<Step> behind = new ArrayDeque<>();
        Step last = end.last(variable);
        Step step = last;
        while (step != null && !(keeps && step.totals != null && step.totals[place + of] != null)) {
            behind.push(step);
            step = variable == ANY || step.index > 0 ? step.parent : null;
        }
        if (step == null) {
            aggregation.begin();
        } else {
            aggregation.begin(step.totals[place + of], 0);
        }
        for (Step added : behind) {
            aggregation.add(arguments[of].apply(added.row.values()).copy());
        }
        if (keeps && !behind.isEmpty()) {
            last.totals = last.totals == null ? new InternalRow[places] : last.totals;
            last.totals[place + of] = aggregation.save();
        }
        return aggregation.values();
    }
}
