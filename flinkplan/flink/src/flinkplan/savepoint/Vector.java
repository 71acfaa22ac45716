package flinkplan.savepoint;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A column of a batch in the memory layout of Arrow: validity bits, offsets, values, all little-endian.
 *
 * <p>In a file each buffer is preceded by its length as a {@code long} and padded to a multiple of eight bytes; a
 * column without NULLs has an empty validity buffer. Buffers follow each other as in Arrow's IPC format: those of a
 * column, then those of its children.
 */
abstract class Vector {
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final byte[] PADDING = new byte[8];

    int rows;
    private int nulls;
    private byte[] validity = new byte[64];

    /** Appends NULL. */
    abstract void appendNull();

    /** About how many bytes the values take. */
    abstract long bytes();

    /** Writes the buffers behind the validity. */
    abstract void writeValues(OutputStream out) throws IOException;

    /** Reads the buffers behind the validity. */
    abstract void loadValues(DataInputStream in) throws IOException;

    /** Reads a column of so many rows in place of the present ones. */
    final void load(DataInputStream in, int count) throws IOException {
        rows = count;
        validity = readBuffer(in);
        nulls = validity.length == 0 ? 0 : 1;
        if (nulls > 0 && validity.length < (count + 7) / 8) {
            throw new EOFException("a table is damaged");
        }
        loadValues(in);
    }

    /** Whether a row that has been read is NULL. */
    final boolean isNull(int row) {
        return nulls > 0 && (validity[row >> 3] & 1 << (row & 7)) == 0;
    }

    /** Forgets all rows. */
    void clear() {
        Arrays.fill(validity, 0, Math.min(validity.length, (rows + 7) / 8), (byte) 0);
        rows = 0;
        nulls = 0;
    }

    final void countRow(boolean isNull) {
        int at = rows >> 3;
        if (at == validity.length) {
            validity = Arrays.copyOf(validity, 2 * at);
        }
        if (isNull) {
            nulls++;
        } else {
            validity[at] |= (byte) (1 << (rows & 7));
        }
        rows++;
    }

    final void write(OutputStream out) throws IOException {
        writeBuffer(out, validity, nulls == 0 ? 0 : (rows + 7) / 8);
        writeValues(out);
    }

    static void writeBuffer(OutputStream out, byte[] buffer, int length) throws IOException {
        writeLong(out, length);
        out.write(buffer, 0, length);
        out.write(PADDING, 0, (8 - length % 8) % 8);
    }

    static void writeLong(OutputStream out, long value) throws IOException {
        byte[] bytes = new byte[8];
        LONGS.set(bytes, 0, value);
        out.write(bytes);
    }

    static long readLong(DataInputStream in) throws IOException {
        return Long.reverseBytes(in.readLong());
    }

    static byte[] readBuffer(DataInputStream in) throws IOException {
        byte[] buffer = new byte[Math.toIntExact(readLong(in))];
        in.readFully(buffer);
        in.skipNBytes((8 - buffer.length % 8) % 8);
        return buffer;
    }

    private static byte[] grown(byte[] buffer, int least) {
        return least <= buffer.length ? buffer : Arrays.copyOf(buffer, Math.max(2 * buffer.length, least));
    }

    /** Values of so many bytes each: 1, 2, 4, 8 or 16. */
    static final class Fixed extends Vector {
        private final int width;
        private byte[] values = new byte[1024];

        Fixed(int width) {
            this.width = width;
        }

        private int next(boolean isNull) {
            int at = rows * width;
            values = grown(values, at + width);
            countRow(isNull);
            return at;
        }

        @Override
        void appendNull() {
            int at = next(true);
            Arrays.fill(values, at, at + width, (byte) 0);
        }

        void append(long value) {
            int at = next(false);
            switch (width) {
                case 8 -> LONGS.set(values, at, value);
                case 4 -> INTS.set(values, at, (int) value);
                default -> {
                    for (int i = 0; i < width; i++) {
                        values[at + i] = (byte) (value >> (8 * i));
                    }
                }
            }
        }

        /** Appends a number of more than eight bytes, given as big-endian two's complement. */
        void appendBigEndian(byte[] value) {
            int at = next(false);
            byte sign = (byte) (value[0] < 0 ? -1 : 0);
            for (int i = 0; i < width; i++) {
                values[at + i] = i < value.length ? value[value.length - 1 - i] : sign;
            }
        }

        /** The value of a row, of at most eight bytes. */
        long get(int row) {
            int at = row * width;
            return switch (width) {
                case 8 -> (long) LONGS.get(values, at);
                case 4 -> (int) INTS.get(values, at);
                case 2 -> (short) (values[at] & 0xFF | values[at + 1] << 8);
                default -> values[at];
            };
        }

        /** The value of a row as big-endian two's complement. */
        byte[] getBigEndian(int row) {
            byte[] value = new byte[width];
            for (int i = 0; i < width; i++) {
                value[i] = values[(row + 1) * width - 1 - i];
            }
            return value;
        }

        @Override
        void loadValues(DataInputStream in) throws IOException {
            values = readBuffer(in);
        }

        @Override
        long bytes() {
            return (long) rows * width;
        }

        @Override
        void writeValues(OutputStream out) throws IOException {
            writeBuffer(out, values, rows * width);
        }
    }

    /** Booleans, one bit each. */
    static final class Bits extends Vector {
        private byte[] values = new byte[64];

        private void append(boolean isNull, boolean value) {
            int at = rows >> 3;
            values = grown(values, at + 1);
            int bit = 1 << (rows & 7);
            values[at] = (byte) (value ? values[at] | bit : values[at] & ~bit);
            countRow(isNull);
        }

        @Override
        void appendNull() {
            append(true, false);
        }

        void append(boolean value) {
            append(false, value);
        }

        boolean get(int row) {
            return (values[row >> 3] & 1 << (row & 7)) != 0;
        }

        @Override
        void loadValues(DataInputStream in) throws IOException {
            values = readBuffer(in);
        }

        @Override
        long bytes() {
            return rows / 8;
        }

        @Override
        void writeValues(OutputStream out) throws IOException {
            writeBuffer(out, values, (rows + 7) / 8);
        }
    }

    /** Texts in UTF-8, or bytes. */
    static final class Bytes extends Vector {
        private byte[] offsets = new byte[1024];
        private byte[] values = new byte[1024];
        private int length;

        private void count(boolean isNull) {
            offsets = grown(offsets, 4 * (rows + 2));
            countRow(isNull);
            INTS.set(offsets, 4 * rows, length);
        }

        @Override
        void appendNull() {
            count(true);
        }

        void append(byte[] value) {
            append(value, value.length);
        }

        void append(byte[] value, int size) {
            values = grown(values, Math.addExact(length, size));
            System.arraycopy(value, 0, values, length, size);
            length += size;
            count(false);
        }

        /** The bytes of a row. */
        byte[] get(int row) {
            return Arrays.copyOfRange(values, (int) INTS.get(offsets, 4 * row), (int) INTS.get(offsets, 4 * row + 4));
        }

        @Override
        void loadValues(DataInputStream in) throws IOException {
            offsets = readBuffer(in);
            values = readBuffer(in);
        }

        @Override
        long bytes() {
            return length + 4L * rows;
        }

        @Override
        void clear() {
            super.clear();
            length = 0;
        }

        @Override
        void writeValues(OutputStream out) throws IOException {
            writeBuffer(out, offsets, 4 * (rows + 1));
            writeBuffer(out, values, length);
        }
    }

    /** Lists of the rows of another column. */
    static final class Lists extends Vector {
        final Vector elements;
        private byte[] offsets = new byte[1024];

        Lists(Vector elements) {
            this.elements = elements;
        }

        @Override
        void appendNull() {
            append(true);
        }

        /** Ends a list, whose elements have been appended to {@link #elements}. */
        void append() {
            append(false);
        }

        private void append(boolean isNull) {
            offsets = grown(offsets, 4 * (rows + 2));
            countRow(isNull);
            INTS.set(offsets, 4 * rows, elements.rows);
        }

        /** The first element of a row. */
        int start(int row) {
            return (int) INTS.get(offsets, 4 * row);
        }

        /** The element behind the last one of a row. */
        int end(int row) {
            return (int) INTS.get(offsets, 4 * row + 4);
        }

        @Override
        void loadValues(DataInputStream in) throws IOException {
            offsets = readBuffer(in);
            elements.load(in, Math.toIntExact(readLong(in)));
        }

        @Override
        long bytes() {
            return 4L * rows + elements.bytes();
        }

        @Override
        void clear() {
            super.clear();
            elements.clear();
        }

        @Override
        void writeValues(OutputStream out) throws IOException {
            writeBuffer(out, offsets, 4 * (rows + 1));
            writeLong(out, elements.rows);
            elements.write(out);
        }
    }

    /** Structs, each field a column. */
    static final class Structs extends Vector {
        final Vector[] fields;

        Structs(Vector... fields) {
            this.fields = fields;
        }

        @Override
        void appendNull() {
            for (Vector field : fields) {
                field.appendNull();
            }
            countRow(true);
        }

        @Override
        void loadValues(DataInputStream in) throws IOException {
            for (Vector field : fields) {
                field.load(in, rows);
            }
        }

        /** Ends a struct, whose fields have been appended to {@link #fields}. */
        void append() {
            countRow(false);
        }

        @Override
        long bytes() {
            long sum = 0;
            for (Vector field : fields) {
                sum += field.bytes();
            }
            return sum;
        }

        @Override
        void clear() {
            super.clear();
            for (Vector field : fields) {
                field.clear();
            }
        }

        @Override
        void writeValues(OutputStream out) throws IOException {
            for (Vector field : fields) {
                field.write(out);
            }
        }
    }
}
