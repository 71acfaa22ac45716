package flinkplan.runtime.file;

import java.io.Serializable;

/**
 * How far a file has been read that is still written.
 *
 * @param file as it was seen last, no longer than {@code position} where no whole message is known behind that, and
 *     without an inode where it has gone for good
 * @param position the byte where the next message begins; {@link #OVER}: nothing of it is read any more
 * @param print what stands before that byte, as {@link Fingerprint} has it; 0: not known
 */
record FilePlace(SourceFile file, long position, long print) implements Serializable {
    static final long OVER = -1;
}
