package flinkplan.runtime.file;

/** A file that a task reads while it is written, and how far it has come. */
final class KnownFile {
    final int index;

    /** Where its next message began when the batch did. */
    final long began;

    /** As it was seen last. */
    SourceFile file;

    /** Where its next message begins. */
    long position;

    /** Up to where there is no further whole message. */
    long seen;

    /** What stands before {@code position}; see {@link Fingerprint}. */
    long print;

    /** How far a batch had read it that failed; null: it is not known that one had read more. */
    FilePlace failed;

    /** How many rows of its next message have gone out in an earlier batch. */
    int rows;

    /** Whether {@code file} was listed in this batch. */
    boolean isListed;

    /** Whether nothing is read of it any more: another file stands in its place. */
    boolean isOver;

    /** Whether the last listing did not have it. */
    boolean isAbsent;

    /** Since when, by {@link System#nanoTime}, and in milliseconds since 1970. */
    long absentSince;

    long absentTime;

    KnownFile(int index, FilePlace place) {
        this.index = index;
        file = place.file();
        isOver = place.position() == FilePlace.OVER;
        position = isOver ? 0 : place.position();
        began = position;
        seen = position;
        print = place.print();
    }

    /** Whether there is more of it than was read, as far as is known. */
    boolean isBehind() {
        return !isOver && (size() > seen || rows > 0);
    }

    /** How long it was, as far as is known. */
    long size() {
        return failed == null ? file.size() : Math.max(failed.position(), file.size());
    }

    FilePlace place() {
        return place(position, print, isBehind() ? size() : position);
    }

    FilePlace place(long reached, long printed, long size) {
        SourceFile known = new SourceFile(file.path(), size, file.modified(), file.inode());
        return new FilePlace(known, isOver ? FilePlace.OVER : reached, printed);
    }
}
