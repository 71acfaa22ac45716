package flinkplan.runtime.cdc;

import flinkplan.runtime.format.FlinkType;
import flinkplan.runtime.row.RowKind;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads the rows of a file, as {@code executor/cdc/files.py} writes them: the rows of a part of a snapshot as lines of
 * COPY, or changes as messages of pgoutput.
 */
final class ChangeReader implements PartitionReader<InternalRow> {
    private static final int BUFFER = 1 << 16;
    private static final byte ROWS = 'T', LAYOUT = 'L', MESSAGE = 'M';
    private static final int SKIPS_OLD = 1, SKIPS_NEW = 2;
    private static final byte[] UNKNOWN = {};

    private final ChangeSpec spec;
    private final DataInputStream in;
    private final boolean isOfRows;
    private final Map<Integer, Layout> layouts = new HashMap<>();
    private final Queue<InternalRow> rows = new ArrayDeque<>();
    private final Layout rowLayout;
    private final ByteArrayOutputStream field = new ByteArrayOutputStream();
    private InternalRow current;

    /** A table, and where its columns stand among those of the changes; -1 where one is not wanted. */
    private record Layout(String schema, String table, int[] columns) {
        @Override
        public String toString() {
            return schema.isEmpty() ? table : schema + "." + table;
        }
    }

    private ChangeReader(ChangeSpec spec, InputStream in) throws IOException {
        this.spec = spec;
        this.in = new DataInputStream(new BufferedInputStream(in, BUFFER));
        isOfRows = this.in.readByte() == ROWS;
        rowLayout = isOfRows ? layout() : null;
    }

    static ChangeReader of(ChangeSpec spec, byte[] content) {
        try {
            return new ChangeReader(spec, new ByteArrayInputStream(content));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static ChangeReader of(ChangeSpec spec, String file) {
        Path path = new Path(file);
        try {
            return new ChangeReader(
                    spec, path.getFileSystem(SparkHadoopUtil.get().conf()).open(path));
        } catch (FileNotFoundException e) {
            throw new IllegalStateException(
                    "the checkpoint is damaged: what was read of a database is not in " + file
                            + "; put back a copy of the whole checkpoint, or start with a new one",
                    e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Layout layout() throws IOException {
        String schema = name(), table = name();
        int[] columns = new int[in.readShort()];
        for (int i = 0; i < columns.length; i++) {
            columns[i] = in.readShort();
        }
        return new Layout(schema, table, columns);
    }

    private String name() throws IOException {
        return new String(in.readNBytes(in.readShort()), StandardCharsets.UTF_8);
    }

    @Override
    public boolean next() throws IOException {
        while (rows.isEmpty()) {
            if (!(isOfRows ? readRow() : readChange())) {
                return false;
            }
        }
        current = rows.remove();
        return true;
    }

    @Override
    public InternalRow get() {
        return current;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    /** Reads a line of COPY; whether there was one. */
    private boolean readRow() throws IOException {
        int c = in.read();
        if (c < 0) {
            return false;
        }
        byte[][] values = new byte[spec.row().size()][];
        for (int i = 0; ; c = in.read()) {
            boolean isNull = false;
            field.reset();
            for (; c != '\t' && c != '\n'; c = in.read()) {
                if (c < 0) {
                    throw new EOFException("the file of a snapshot ends within a row");
                }
                if (c == '\\') {
                    c = in.read();
                    isNull = c == 'N' && field.size() == 0;
                    c = unescaped(c);
                }
                field.write(c);
            }
            if (i < rowLayout.columns.length && rowLayout.columns[i] >= 0) {
                values[rowLayout.columns[i]] = isNull ? null : field.toByteArray();
            }
            i++;
            if (c == '\n') {
                break;
            }
        }
        add(RowKind.INSERT, values, 0, rowLayout);
        return true;
    }

    private static int unescaped(int c) {
        return switch (c) {
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'v' -> 0x0B;
            default -> c;
        };
    }

    /** Reads a layout or a change; whether there was one. */
    private boolean readChange() throws IOException {
        int tag = in.read();
        if (tag < 0) {
            return false;
        }
        if (tag == LAYOUT) {
            layouts.put(in.readInt(), layout());
            return true;
        }
        if (tag != MESSAGE) {
            throw new IOException("unknown entry " + tag);
        }
        long time = in.readLong();
        int skips = in.read();
        ByteBuffer message = ByteBuffer.wrap(in.readNBytes(in.readInt()));
        char what = (char) message.get();
        Layout layout = layouts.get(message.getInt());
        byte[][] before = null, after = null;
        boolean isWhole = false;
        for (; message.hasRemaining(); ) {
            char image = (char) message.get();
            if (image == 'N') {
                after = values(message, layout);
            } else {
                isWhole = image == 'O';
                before = values(message, layout);
            }
        }
        change(what, (skips & SKIPS_OLD) == 0, (skips & SKIPS_NEW) == 0, before, isWhole, after, time, layout);
        return true;
    }

    private byte[][] values(ByteBuffer message, Layout layout) {
        byte[][] values = new byte[spec.row().size()][];
        int count = message.getShort();
        for (int i = 0; i < count; i++) {
            char tag = (char) message.get();
            byte[] value = null;
            if (tag == 'u') {
                value = UNKNOWN;
            } else if (tag != 'n') {
                value = new byte[message.getInt()];
                message.get(value);
            }
            if (layout.columns[i] >= 0) {
                values[layout.columns[i]] = value;
            }
        }
        return values;
    }

    private void change(
            char what,
            boolean takesOld,
            boolean takesNew,
            byte[][] before,
            boolean isWhole,
            byte[][] after,
            long time,
            Layout layout)
            throws IOException {
        boolean upserts = spec.mode() == ChangeSpec.Mode.UPSERT;
        if (what != 'I' && !upserts && !isWhole) {
            throw new IOException("a row of " + layout + " has been changed, and the log does not have the old one: "
                    + "the table's REPLICA IDENTITY is not FULL any more; set it, and start with a new checkpoint");
        }
        if (after != null && before != null) {
            for (int i = 0; i < after.length; i++) {
                if (after[i] == UNKNOWN && isWhole) {
                    after[i] = before[i];
                }
            }
        }
        boolean isUpdate = what == 'U' && takesOld && takesNew && (before == null || hasSameKey(before, after));
        if (isUpdate) {
            if (!upserts) {
                add(RowKind.UPDATE_BEFORE, before, time, layout);
            }
            add(RowKind.UPDATE_AFTER, after, time, layout);
            return;
        }
        if (what != 'I' && takesOld) {
            byte[][] deleted = before == null ? after : before;
            add(RowKind.DELETE, upserts ? keyOf(deleted) : deleted, time, layout);
        }
        if (what != 'D' && takesNew) {
            add(RowKind.INSERT, after, time, layout);
        }
    }

    private boolean hasSameKey(byte[][] before, byte[][] after) {
        return spec.key().stream().allMatch(i -> Arrays.equals(before[i], after[i]));
    }

    private byte[][] keyOf(byte[][] values) {
        byte[][] key = new byte[values.length][];
        spec.key().forEach(i -> key[i] = values[i]);
        return key;
    }

    private void add(byte kind, byte[][] values, long time, Layout layout) throws IOException {
        boolean appends = spec.mode() == ChangeSpec.Mode.APPEND;
        List<Object> row = new ArrayList<>(spec.wanted().size() + spec.metadata().size() + 1);
        for (int i : spec.wanted()) {
            row.add(value(values[i], i, layout));
        }
        for (String key : spec.metadata()) {
            row.add(
                    switch (key) {
                        case "database_name" -> UTF8String.fromString(
                                spec.database().isEmpty() ? layout.schema : spec.database());
                        case "schema_name" -> UTF8String.fromString(layout.schema);
                        case "table_name" -> UTF8String.fromString(layout.table);
                        case "op_ts" -> time * 1000;
                        default -> UTF8String.fromString(text(kind));
                    });
        }
        row.add(appends ? RowKind.INSERT : kind);
        rows.add(new GenericInternalRow(row.toArray()));
    }

    private static String text(byte kind) {
        return switch (kind) {
            case RowKind.INSERT -> "+I";
            case RowKind.UPDATE_BEFORE -> "-U";
            case RowKind.UPDATE_AFTER -> "+U";
            default -> "-D";
        };
    }

    private Object value(byte[] text, int column, Layout layout) throws IOException {
        if (text == null) {
            return null;
        }
        FlinkType type = spec.row().child(column);
        if (text == UNKNOWN) {
            throw new IOException("the log does not have the value of " + where(column, layout)
                    + ", which is long and has not been changed; ALTER TABLE " + layout
                    + " REPLICA IDENTITY FULL, and start with a new checkpoint");
        }
        try {
            return TextValues.of(text, type);
        } catch (RuntimeException e) {
            throw new IOException(
                    "a value of " + where(column, layout) + " is no " + type.root() + ": " + e.getMessage(), e);
        }
    }

    private String where(int column, Layout layout) {
        return "the column '" + spec.row().names().get(column) + "' of " + layout;
    }
}
