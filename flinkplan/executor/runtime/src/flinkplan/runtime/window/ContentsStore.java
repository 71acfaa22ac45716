package flinkplan.runtime.window;

import flinkplan.runtime.row.Rows;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * What windows hold: accumulators where the function folds rows as they come, otherwise the rows.
 *
 * <p>Rows are kept in chunks, one for each batch that adds some, so that a batch writes no more than it brings.
 */
final class ContentsStore {
    /** The schema by which a chunk is found: its window, and its number there. */
    static final StructType CHUNK = new StructType()
            .add("start", DataTypes.LongType, false)
            .add("end", DataTypes.LongType, false)
            .add("number", DataTypes.IntegerType, false);

    private final Function function;
    private final boolean incremental;
    private final StructType row;
    private final MapState<InternalRow, InternalRow> chunks;
    private final long ttl;

    private KeyState own;
    private long clock;

    /**
     * @param incremental whether the function folds rows
     * @param chunks from {@link #CHUNK} to {@link #rows}
     * @param ttl for how many milliseconds rows are kept; 0: for ever
     */
    ContentsStore(
            Function function,
            boolean incremental,
            StructType row,
            MapState<InternalRow, InternalRow> chunks,
            long ttl) {
        this.function = function;
        this.incremental = incremental;
        this.row = row;
        this.chunks = chunks;
        this.ttl = ttl;
    }

    /** The schema of a chunk of rows of a type. */
    static StructType rows(StructType row) {
        StructType element = new StructType()
                .add("time", DataTypes.LongType, false)
                .add("row", row, false);
        return new StructType()
                .add("writtenAt", DataTypes.LongType, false)
                .add("rows", DataTypes.createArrayType(element, false), false);
    }

    /** Takes up a key. */
    void begin(KeyState key, long now) {
        own = key;
        clock = now;
    }

    Contents get(Window held) {
        return own.contents.get(held);
    }

    /** Adds rows to what a window holds. */
    void add(Window held, List<Element> elements) {
        Contents contents = own.contents.computeIfAbsent(held, each -> new Contents());
        contents.writtenAt = clock;
        if (contents.all != null) {
            contents.all.addAll(elements);
        }
        contents.added.addAll(elements);
    }

    /** What a window's rows come to by now. */
    InternalRow accumulator(Contents contents) {
        if (!contents.added.isEmpty()) {
            contents.accumulator = function.fold(contents.accumulator, contents.added);
            contents.added = new ArrayList<>();
        }
        return contents.accumulator;
    }

    /** All rows of a window, to be changed. */
    List<Element> all(Window held, Contents contents) {
        if (contents.all == null) {
            contents.all = new ArrayList<>();
            for (int number = 0; number < contents.chunks; number++) {
                InternalRow chunk = chunks.getValue(place(held, number));
                if (chunk != null && !Ttls.isOver(chunk.getLong(0), ttl, clock)) {
                    ArrayData array = chunk.getArray(1);
                    for (int i = 0; i < array.numElements(); i++) {
                        InternalRow each = array.getStruct(i, 2);
                        contents.all.add(new Element(each.getStruct(1, row.length()), each.getLong(0)));
                    }
                }
            }
            contents.all.addAll(contents.added);
        }
        return contents.all;
    }

    /** Notes that an evictor has left {@code elements} of a window, all that there are. */
    void replace(Window held, Contents contents, boolean fewer) {
        contents.writtenAt = clock;
        contents.replaced |= fewer;
        if (contents.all.isEmpty()) {
            remove(held);
        }
    }

    /** Drops what a window holds. */
    void remove(Window held) {
        Contents contents = own.contents.remove(held);
        if (contents != null) {
            removeChunks(held, contents);
        }
    }

    /** Puts together what some windows hold. */
    void merge(Window target, Collection<Window> sources) {
        for (Window source : sources) {
            Contents from = own.contents.remove(source);
            if (from == null) {
                continue;
            }
            Contents to = own.contents.computeIfAbsent(target, window -> new Contents());
            to.writtenAt = clock;
            if (incremental) {
                InternalRow added = accumulator(from), before = accumulator(to);
                to.accumulator = before == null ? added : added == null ? before : function.merge(before, added);
            } else {
                all(target, to).addAll(all(source, from));
                to.replaced = true;
                removeChunks(source, from);
            }
        }
    }

    /** Drops what is older than its TTL. */
    void forgetExpired() {
        List<Window> over = new ArrayList<>();
        own.contents.forEach((held, contents) -> {
            if (Ttls.isOver(contents.writtenAt, ttl, clock)) {
                over.add(held);
            }
        });
        over.forEach(this::remove);
    }

    /** Writes what the key's rows have changed; accumulators become part of the key's state. */
    void end() {
        own.contents.forEach((held, contents) -> {
            if (incremental) {
                accumulator(contents);
            } else {
                writeChunks(held, contents);
            }
        });
    }

    private void writeChunks(Window held, Contents contents) {
        List<Element> written = contents.added;
        if (contents.replaced) {
            removeChunks(held, contents);
            written = contents.all;
        }
        if (!written.isEmpty()) {
            Object[] values = written.stream()
                    .map(each -> Rows.of(each.time(), each.row()))
                    .toArray();
            chunks.updateValue(place(held, contents.chunks), Rows.of(clock, new GenericArrayData(values)));
            contents.chunks++;
        }
        contents.added = new ArrayList<>();
        contents.all = null;
        contents.replaced = false;
    }

    private void removeChunks(Window held, Contents contents) {
        for (int number = 0; number < contents.chunks; number++) {
            chunks.removeKey(place(held, number));
        }
        contents.chunks = 0;
    }

    private static InternalRow place(Window held, int number) {
        return Rows.of(held.start(), held.end(), number);
    }
}
