package flinkplan.runtime.aggregate;

import flinkplan.runtime.row.Rows;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * An aggregate function whose result goes by the order of rows, over a window that is made of slices, whose rows come
 * in parts: as in Flink, the rows of each part come to a value first, in the order they came, those of a slice are
 * merged, and then the slices.
 */
public final class Sliced extends Accumulator {
    private final Accumulator function;
    private final int column;
    private transient TreeMap<Part, InternalRow> parts;
    private transient Part current;

    private record Part(long slice, long number) implements Comparable<Part> {
        private static final Comparator<Part> ORDER =
                Comparator.comparingLong(Part::slice).thenComparingLong(Part::number);

        @Override
        public int compareTo(Part other) {
            return ORDER.compare(this, other);
        }
    }

    /**
     * A function over slices, where these make a difference to it, else the function itself.
     *
     * @param column the BIGINT column by which slices stand in order, behind which is that of their parts
     */
    public static Accumulator of(Accumulator function, int column) {
        return function.mergesInOrder() ? new Sliced(function, column) : function;
    }

    private Sliced(Accumulator function, int column) {
        this.function = function;
        this.column = column;
    }

    @Override
    StructType schema() {
        StructType part = new StructType()
                .add("slice", DataTypes.LongType, false)
                .add("part", DataTypes.LongType, false)
                .add("values", function.schema(), false);
        return new StructType().add("parts", DataTypes.createArrayType(part, false));
    }

    @Override
    void reset() {
        parts = new TreeMap<>();
        current = null;
    }

    @Override
    void load(InternalRow saved) {
        reset();
        ArrayData array = saved.getArray(0);
        for (int i = 0; i < array.numElements(); i++) {
            InternalRow part = array.getStruct(i, 3);
            InternalRow values = part.getStruct(2, function.width());
            parts.put(new Part(part.getLong(0), part.getLong(1)), values);
        }
    }

    @Override
    InternalRow save() {
        turnTo(null);
        Object[] saved = parts.entrySet().stream()
                .map(part -> Rows.of(part.getKey().slice, part.getKey().number, part.getValue()))
                .toArray();
        return Rows.of(new GenericArrayData(saved));
    }

    /** Makes the function stand on another part; null: on none. */
    private void turnTo(Part part) {
        if (current != null) {
            parts.put(current, function.save());
        }
        current = part;
        InternalRow saved = part == null ? null : parts.get(part);
        if (saved == null) {
            function.reset();
        } else {
            function.load(saved);
        }
    }

    private Accumulator partOf(InternalRow row) {
        Part part = new Part(row.getLong(column), row.getLong(column + 1));
        if (!part.equals(current)) {
            turnTo(part);
        }
        return function;
    }

    @Override
    void add(InternalRow row) {
        partOf(row).add(row);
    }

    @Override
    void retract(InternalRow row) {
        partOf(row).retract(row);
    }

    @Override
    boolean orderMatters() {
        return true;
    }

    /** The schema of what {@link #merged} returns. */
    StructType mergedSchema() {
        return function.schema();
    }

    /** What is accumulated over an array of parts. */
    public InternalRow merged(ArrayData saved) {
        load(Rows.of(saved));
        merge();
        return function.save().copy();
    }

    @Override
    Object value() {
        merge();
        return function.value();
    }

    /** Makes the function stand on all parts. */
    private void merge() {
        turnTo(null);
        List<InternalRow> slices = new ArrayList<>();
        Part last = null;
        for (Map.Entry<Part, InternalRow> part : parts.entrySet()) {
            if (last != null && last.slice != part.getKey().slice) {
                slices.add(function.save());
                function.reset();
            }
            function.merge(part.getValue());
            last = part.getKey();
        }
        slices.add(function.save());
        function.reset();
        slices.forEach(function::merge);
    }
}
