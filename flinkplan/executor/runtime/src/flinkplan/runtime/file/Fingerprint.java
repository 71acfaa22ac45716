package flinkplan.runtime.file;

import java.util.zip.CRC32C;

/**
 * The fingerprint of what has been read of a file: checksums of its first bytes and of the last ones before a place.
 *
 * <p>It tells a file that has grown from another one of the same name or inode.
 */
final class Fingerprint {
    /** How many bytes each of the two checksums is of. */
    static final int LENGTH = 1024;

    private Fingerprint() {}

    /**
     * The fingerprint before a place, never 0 unless that is the beginning of the file.
     *
     * @param first the first bytes, {@link #LENGTH} of them or all before the place
     * @param last what holds the last ones, before {@code end}
     */
    static long of(long position, byte[] first, byte[] last, int end) {
        if (position == 0) {
            return 0;
        }
        int length = (int) Math.min(position, LENGTH);
        long value = checksum(first, 0, length) << Integer.SIZE | checksum(last, end - length, length);
        return value == 0 ? 1 : value;
    }

    private static long checksum(byte[] bytes, int from, int length) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes, from, length);
        return checksum.getValue();
    }
}
