package flinkplan.runtime.file;

import flinkplan.runtime.format.Records;
import flinkplan.runtime.source.MalformedInputException;
import java.io.Closeable;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;

/**
 * The messages of a file that is still written: after {@link #next}, {@link #buffer} holds one at {@code [from, to)}
 * without its end.
 *
 * <p>A message is there once its end is: what follows the last one may be half a line.
 */
final class GrowingFile implements Closeable {
    private static final int CHUNK = 1 << 16;
    private static final byte[] MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    private final SourceFile source;
    private final Path path;
    private final FileSystem fileSystem;
    private final Records records;
    private FSDataInputStream in;
    private byte[] first = new byte[Fingerprint.LENGTH];
    private byte[] buffer = new byte[CHUNK];
    private long base;
    private long start;
    private int from;
    private int to;
    private int next;
    private int filled;
    private int scanned;
    private int ended;

    private GrowingFile(SourceFile source, Records records) throws IOException {
        this.source = source;
        this.records = records;
        path = new Path(source.path());
        fileSystem = path.getFileSystem(SparkHadoopUtil.get().conf());
    }

    /**
     * Opens a file where its next message begins; null where another one stands in its place by now.
     *
     * @param records what finds the ends of messages; null where each line is one
     */
    static GrowingFile open(KnownFile known, Records records) throws IOException {
        GrowingFile file = new GrowingFile(known.file, records);
        try {
            if (file.open() && file.load(known.position, known.print)) {
                file.begin();
                return file;
            }
        } catch (FileNotFoundException e) {
            return null;
        }
        file.close();
        return null;
    }

    /** Whether a file holds before a place what the {@link Fingerprint} of another one tells. */
    static boolean holds(SourceFile candidate, long position, long print) throws IOException {
        try (GrowingFile file = new GrowingFile(candidate, null)) {
            return file.open() && file.load(position, print);
        }
    }

    private boolean open() throws IOException {
        in = source.open(true);
        return FileListing.status(fileSystem, path).inode() == source.inode();
    }

    /** Reads what stands before the next message. */
    private boolean load(long position, long print) throws IOException {
        filled = (int) Math.min(position, Fingerprint.LENGTH);
        next = filled;
        base = position - filled;
        try {
            in.readFully(base, buffer, 0, filled);
            if (base > 0) {
                in.readFully(0, first, 0, first.length);
            }
        } catch (EOFException e) {
            return false;
        }
        in.seek(position);
        return print == 0 || print == print(position);
    }

    /** The {@link Fingerprint} of what stands before a place that was the last one, or that before. */
    long print(long place) {
        return Fingerprint.of(place, base > 0 ? first : buffer, buffer, (int) (place - base));
    }

    /** Goes on behind what has been looked at; false where nothing has been added, or the file is another one. */
    boolean reopen() throws IOException {
        long reached = seen();
        try {
            if (FileListing.status(fileSystem, path).size() <= reached) {
                return false;
            }
            if (open() && isAsBefore()) {
                in.seek(reached);
                return true;
            }
        } catch (FileNotFoundException e) {
            return false;
        }
        close();
        return false;
    }

    private boolean isAsBefore() throws IOException {
        boolean isCut = base > 0;
        int length = isCut ? Fingerprint.LENGTH : Math.min(filled, Fingerprint.LENGTH);
        return endsAsBefore() && holds(0, isCut ? first : buffer, 0, length);
    }

    private boolean endsAsBefore() throws IOException {
        int last = Math.min(filled, Fingerprint.LENGTH);
        return holds(seen() - last, buffer, filled - last, last);
    }

    private boolean holds(long place, byte[] bytes, int at, int length) throws IOException {
        byte[] content = new byte[length];
        try {
            in.readFully(place, content, 0, length);
        } catch (EOFException e) {
            return false;
        }
        return Arrays.equals(content, 0, length, bytes, at, at + length);
    }

    private void begin() {
        scanned = next;
        ended = -1;
        if (records != null) {
            records.begin();
        }
    }

    byte[] buffer() {
        return buffer;
    }

    int from() {
        return from;
    }

    int to() {
        return to;
    }

    /** The byte where the message begins. */
    long start() {
        return start;
    }

    /** The byte behind the message. */
    long position() {
        return base + next;
    }

    /** Whether all was looked at that was there. */
    boolean isAtEnd() {
        return in == null;
    }

    /** The byte behind all that has been looked at. */
    long seen() {
        return base + filled;
    }

    /** The file and place of the message. */
    String place() {
        return source.name() + ", byte " + start;
    }

    /** Moves to the next message, if all of it is there. */
    boolean next() throws IOException {
        while (true) {
            if (ended < 0) {
                ended = records == null ? feed() : records.end(buffer, next, scanned, filled);
                scanned = filled;
            }
            // behind a carriage return may come a line feed that belongs to it
            if (ended >= 0 && (buffer[ended] == '\n' || ended + 1 < filled)) {
                return message(ended, ended + (isPair() ? 2 : 1));
            }
            if (!fill()) {
                return false;
            }
        }
    }

    private boolean isPair() {
        return buffer[ended] == '\r' && buffer[ended + 1] == '\n';
    }

    private int feed() {
        for (int i = scanned; i < filled; i++) {
            if (buffer[i] == '\n') {
                return i;
            }
        }
        return -1;
    }

    private boolean message(int end, int behind) throws IOException {
        start = position();
        from = next;
        boolean isReturned = records == null && end > from && buffer[end - 1] == '\r';
        to = isReturned ? end - 1 : end;
        if (start == 0 && records != null) {
            skipMark();
        }
        next = behind;
        begin();
        return true;
    }

    private void skipMark() throws IOException {
        if (to - from >= MARK.length && Arrays.equals(buffer, from, from + MARK.length, MARK, 0, MARK.length)) {
            from += MARK.length;
        }
        if (to > from && (buffer[from] == (byte) 0xFE || buffer[from] == (byte) 0xFF)) {
            String message = "real-time mode reads text in UTF-8 only";
            throw new MalformedInputException(place(), new IOException(message));
        }
    }

    /** Reads on, keeping what is there of the next message; false at the end of the file. */
    private boolean fill() throws IOException {
        if (in == null) {
            return false;
        }
        if (source.inode() != 0 && !endsAsBefore()) {
            close(); // it was truncated meanwhile, and has grown again
            return false;
        }
        makeRoom();
        int read = in.read(buffer, filled, buffer.length - filled);
        if (read <= 0) {
            close();
            return false;
        }
        filled += read;
        return true;
    }

    private void makeRoom() {
        if (filled < buffer.length) {
            return;
        }
        int gone = next - Fingerprint.LENGTH;
        if (gone > 0) {
            if (base == 0) {
                first = Arrays.copyOf(buffer, Fingerprint.LENGTH);
            }
            System.arraycopy(buffer, gone, buffer, 0, filled - gone);
            base += gone;
            filled -= gone;
            scanned -= gone;
            ended -= ended < 0 ? 0 : gone;
            next -= gone;
        } else {
            buffer = Arrays.copyOf(buffer, 2 * buffer.length);
        }
    }

    @Override
    public void close() throws IOException {
        if (in != null) {
            in.close();
            in = null;
        }
    }
}
