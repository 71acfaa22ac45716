package flinkplan.runtime.aggregate;

import flinkplan.runtime.kernel.States;
import flinkplan.runtime.row.Rows;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructType;

/** PERCENTILE of one fraction or an array of them, each between 0 and 1, interpolated between values. */
public final class Percentile extends Accumulator {
    private final Argument value;
    private final Argument fraction;
    private final Argument frequency;

    private transient Multiset values;
    private transient double[] fractions;

    /** @param frequency how often a row's value counts, or null: once */
    public Percentile(Argument value, Argument fraction, Argument frequency) {
        this.value = value;
        this.fraction = fraction;
        this.frequency = frequency;
    }

    private boolean several() {
        return fraction.type() instanceof ArrayType;
    }

    @Override
    StructType schema() {
        return new StructType().add("fractions", DataTypes.createArrayType(DataTypes.DoubleType, false));
    }

    @Override
    boolean isSelfContained() {
        return false;
    }

    @Override
    void open(States states, String name, long ttl) {
        values = new Multiset(states, name, new StructType().add("value", DataTypes.DoubleType), ttl);
    }

    @Override
    void begin(boolean isNew) {
        values.begin(isNew);
    }

    @Override
    void reset() {
        fractions = null;
    }

    @Override
    void load(InternalRow saved) {
        fractions = saved.isNullAt(0) ? null : saved.getArray(0).toDoubleArray();
    }

    @Override
    InternalRow save() {
        return Rows.of(fractions == null ? null : ArrayData.toArrayData(fractions));
    }

    @Override
    void add(InternalRow row) {
        change(row, 1);
    }

    @Override
    void retract(InternalRow row) {
        change(row, -1);
    }

    private void change(InternalRow row, int sign) {
        if (fractions == null) {
            fractions = fraction.type() instanceof ArrayType array
                    ? doubles((ArrayData) fraction.of(row), array.elementType())
                    : new double[] {number(fraction.of(row))};
            for (double each : fractions) {
                if (each < 0 || each > 1) {
                    throw new IllegalStateException("PERCENTILE takes fractions from 0 to 1; this is " + each);
                }
            }
        }
        long times = 1;
        if (frequency != null) {
            times = frequency.isNull(row) ? 0 : ((Number) frequency.of(row)).longValue();
        }
        if (!value.isNull(row) && times > 0) {
            values.add(Rows.of(number(value.of(row))), sign * times);
        }
    }

    private static double[] doubles(ArrayData array, DataType type) {
        Object[] values = array.toObjectArray(type);
        double[] doubles = new double[values.length];
        for (int i = 0; i < values.length; i++) {
            doubles[i] = number(values[i]);
        }
        return doubles;
    }

    private static double number(Object value) {
        return value instanceof Decimal decimal ? decimal.toDouble() : ((Number) value).doubleValue();
    }

    @Override
    Object value() {
        TreeMap<Double, Long> sorted = new TreeMap<>();
        values.forEach((row, count) -> sorted.put(row.getDouble(0), count));
        if (sorted.isEmpty() || fractions == null || fractions.length == 0) {
            return null;
        }
        long total = sorted.values().stream().mapToLong(Long::longValue).sum();
        Object[] percentiles = new Object[fractions.length];
        for (int i = 0; i < fractions.length; i++) {
            percentiles[i] = percentile(sorted, fractions[i] * (total - 1) + 1);
        }
        return several() ? new GenericArrayData(percentiles) : percentiles[0];
    }

    /** The value at a position counted from 1, as Flink's rounding wants it, linear between its neighbours. */
    private static double percentile(TreeMap<Double, Long> sorted, double position) {
        double lower = at(sorted, (long) Math.floor(position));
        double upper = at(sorted, (long) Math.ceil(position));
        return lower == upper
                ? lower
                : (Math.ceil(position) - position) * lower + (position - Math.floor(position)) * upper;
    }

    private static double at(TreeMap<Double, Long> sorted, long position) {
        long before = 0;
        for (Map.Entry<Double, Long> entry : sorted.entrySet()) {
            before += entry.getValue();
            if (position <= before) {
                return entry.getKey();
            }
        }
        return sorted.lastKey();
    }

    @Override
    void clear() {
        values.clear();
    }

    @Override
    void flush() {
        values.flush();
    }
}
