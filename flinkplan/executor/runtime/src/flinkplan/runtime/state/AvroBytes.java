package flinkplan.runtime.state;

import java.util.Arrays;

/** Bytes in Avro's binary encoding, to be written one behind the other; used again and again. */
final class AvroBytes {
    private static final int MORE = 0x80;
    private static final int GROUP = 7;

    private byte[] bytes = new byte[256];
    private int length;

    /** Forgets what has been written. */
    void clear() {
        length = 0;
    }

    byte[] copy() {
        return Arrays.copyOf(bytes, length);
    }

    private void ensure(int more) {
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
        }
    }

    void writeByte(int value) {
        ensure(1);
        bytes[length++] = (byte) value;
    }

    /** An {@code int} or a {@code long}: as a variable-length zigzag number. */
    void writeNumber(long value) {
        ensure(Long.BYTES + 2);
        long rest = (value << 1) ^ (value >> (Long.SIZE - 1));
        while ((rest & -MORE) != 0) {
            bytes[length++] = (byte) (rest | MORE);
            rest >>>= GROUP;
        }
        bytes[length++] = (byte) rest;
    }

    /** So many of the lowest bytes of a number, the lowest one first. */
    void writeFixed(long value, int width) {
        ensure(width);
        for (int i = 0; i < width; i++) {
            bytes[length++] = (byte) (value >>> (Byte.SIZE * i));
        }
    }

    /** The bytes themselves, without their length. */
    void writeAll(byte[] written) {
        ensure(written.length);
        System.arraycopy(written, 0, bytes, length, written.length);
        length += written.length;
    }

    /** Room for so many bytes, which the caller fills in {@link #array} from the place that is returned. */
    int reserve(int count) {
        ensure(count);
        length += count;
        return length - count;
    }

    byte[] array() {
        return bytes;
    }
}
