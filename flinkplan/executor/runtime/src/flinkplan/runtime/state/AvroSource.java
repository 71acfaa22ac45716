package flinkplan.runtime.state;

/** Bytes in Avro's binary encoding, to be read one behind the other. */
final class AvroSource {
    private static final int GROUP = 7;
    private static final int GROUP_BITS = (1 << GROUP) - 1;

    byte[] bytes;
    int place;

    /** Begins at a place of an array. */
    void pointTo(byte[] bytes, int place) {
        this.bytes = bytes;
        this.place = place;
    }

    int readByte() {
        return bytes[place++];
    }

    long readNumber() {
        long value = 0;
        byte read;
        int shift = 0;
        do {
            read = bytes[place++];
            value |= (long) (read & GROUP_BITS) << shift;
            shift += GROUP;
        } while (read < 0);
        return (value >>> 1) ^ -(value & 1);
    }

    /** A number of so many bytes, the lowest one first. */
    long readFixed(int width) {
        long value = 0;
        for (int i = 0; i < width; i++) {
            value |= (long) (bytes[place++] & 0xFF) << (Byte.SIZE * i);
        }
        return value;
    }

    /** The length of what follows, which is skipped. */
    int skipped() {
        int length = (int) readNumber();
        place += length;
        return length;
    }
}
