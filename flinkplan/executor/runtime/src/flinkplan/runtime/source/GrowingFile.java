package flinkplan.runtime.source;

import flinkplan.runtime.format.Records;
import java.io.Closeable;
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

    private final Path path;
    private final FileSystem fileSystem;
    private final Records records;
    private FSDataInputStream in;
    private byte[] buffer = new byte[CHUNK];
    private long position;
    private long start;
    private int from;
    private int to;
    private int next;
    private int filled;
    private int scanned;
    private int ended;

    /**
     * @param position the byte where the next message begins
     * @param records what finds the ends of messages; null where each line is one
     */
    GrowingFile(SourceFile file, long position, Records records) throws IOException {
        path = new Path(file.path());
        fileSystem = path.getFileSystem(SparkHadoopUtil.get().conf());
        this.position = position;
        this.records = records;
        if (LineReader.isCompressed(file.path())) {
            throw new MalformedInputException(name(), new IOException("real-time mode reads no compressed files"));
        }
        begin();
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
        return position;
    }

    /** The byte behind all that has been looked at. */
    long seen() {
        return position + filled - next;
    }

    /** The file and place of the message. */
    String place() {
        return name() + ", byte " + start;
    }

    private String name() {
        return path.toUri().getPath();
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
        start = position;
        from = next;
        boolean isReturned = records == null && end > from && buffer[end - 1] == '\r';
        to = isReturned ? end - 1 : end;
        if (start == 0 && records != null) {
            skipMark();
        }
        position += behind - next;
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

    /** Reads on, keeping what is there of the next message; false where nothing has been added. */
    private boolean fill() throws IOException {
        if (in == null) {
            long reached = seen();
            if (fileSystem.getFileStatus(path).getLen() <= reached) {
                return false;
            }
            in = fileSystem.open(path);
            in.seek(reached);
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
        if (next > 0) {
            System.arraycopy(buffer, next, buffer, 0, filled - next);
            filled -= next;
            scanned -= next;
            ended -= ended < 0 ? 0 : next;
            next = 0;
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
