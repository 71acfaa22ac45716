package flinkplan.runtime.file;

import java.io.Serializable;

/**
 * What is to be read of a file.
 *
 * @param from the byte from which on messages begin that are read
 * @param to the byte from which on messages begin that are not; {@link #END}: all are read
 * @param skipped how many rows of it have been read already
 */
record FilePart(SourceFile file, long from, long to, long skipped) implements Serializable {
    static final long END = Long.MAX_VALUE;

    static FilePart whole(SourceFile file) {
        return new FilePart(file, 0, END, 0);
    }

    /** The same part of the file as it is now. */
    FilePart of(SourceFile now) {
        return new FilePart(now, from, to, skipped);
    }

    /** The byte at which it ends. */
    long end() {
        return Math.min(to, file.size());
    }

    /** How many bytes it has. */
    long size() {
        return Math.max(end() - from, 0);
    }
}
