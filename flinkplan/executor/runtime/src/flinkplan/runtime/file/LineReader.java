package flinkplan.runtime.file;

import flinkplan.runtime.format.Records;
import flinkplan.runtime.source.MalformedInputException;
import java.io.CharConversionException;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.CharacterCodingException;
import java.util.Arrays;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionCodecFactory;
import org.apache.spark.deploy.SparkHadoopUtil;

/** The messages of a slice: after {@link #next}, {@link #buffer} holds one at {@code [from, to)} without its end. */
final class LineReader implements Closeable {
    private static final int CHUNK = 1 << 16;
    private static final int LONGEST = Integer.MAX_VALUE - 8;

    private final SourceFile file;
    private final Records records;
    private final InputStream in;
    private final long end;
    private long position;
    private long start;
    private byte[] buffer = new byte[CHUNK];
    private int from;
    private int to;
    private int next;
    private int filled;
    private boolean behindReturn;

    /** @param records what finds the ends of messages; null where each line is one */
    LineReader(Slices.Slice slice, Records records) throws IOException {
        this.file = slice.file();
        this.records = records;
        Path path = new Path(file.path());
        FSDataInputStream bytes = file.open(false);
        CompressionCodec codec = codec(path);
        InputStream content = codec == null ? bytes : codec.createInputStream(bytes);
        if (records != null) {
            Utf8Input text = decoded(content);
            in = text.in;
            boolean isCut = codec == null && text.skipped >= 0;
            end = isCut ? slice.end() - text.skipped : slice.start() == 0 ? Long.MAX_VALUE : 0;
            passOver(isCut ? slice.start() - text.skipped : 0);
            return;
        }
        in = content;
        end = codec == null ? slice.end() : Long.MAX_VALUE;
        if (codec == null && slice.start() > 0) {
            position = slice.start() - 1;
            bytes.seek(position);
            next();
        }
    }

    /** Moves behind the messages that start before {@code first}: where one starts, only what is before it tells. */
    private void passOver(long first) throws IOException {
        do {
            if (behindReturn) {
                skipFeed();
            }
        } while (position < first && next());
    }

    private Utf8Input decoded(InputStream content) throws IOException {
        try {
            return new Utf8Input(content);
        } catch (CharConversionException e) {
            throw new MalformedInputException(place(), e);
        }
    }

    private static CompressionCodec codec(Path path) {
        return new CompressionCodecFactory(SparkHadoopUtil.get().conf()).getCodec(path);
    }

    static boolean isCompressed(String path) {
        return codec(new Path(path)) != null;
    }

    /** The file and line where the message begins; the lines before it are counted now, which nobody had to do. */
    String place() throws IOException {
        Path path = new Path(file.path());
        CompressionCodec codec = codec(path);
        long line = 1;
        try (FSDataInputStream bytes = file.open(false);
                InputStream content = codec == null ? bytes : codec.createInputStream(bytes)) {
            InputStream whole = records == null || start == 0 ? content : new Utf8Input(content).in;
            byte[] chunk = new byte[CHUNK];
            byte last = 0;
            for (long left = start, read; left > 0; left -= read) {
                read = whole.read(chunk, 0, (int) Math.min(left, chunk.length));
                if (read <= 0) {
                    break;
                }
                for (int i = 0; i < read; i++) {
                    boolean isReturn = records != null && chunk[i] == '\r';
                    boolean isFeed = chunk[i] == '\n' && (records == null || last != '\r');
                    line += isReturn || isFeed ? 1 : 0;
                    last = chunk[i];
                }
            }
        }
        return path.toUri().getPath() + ":" + line;
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

    /** Moves to the next message that starts inside the slice; false at the end. */
    boolean next() throws IOException {
        if (behindReturn) {
            skipFeed();
        }
        if (position >= end) {
            return false;
        }
        start = position;
        from = next;
        if (records != null) {
            records.begin();
        }
        int scanned = from;
        while (true) {
            int found = records == null ? feed(scanned) : records.end(buffer, from, scanned, filled);
            if (found >= 0) {
                return line(found, found + 1);
            }
            int behind = filled - from;
            if (!fill()) {
                return behind > 0 && line(from + behind, from + behind);
            }
            scanned = from + behind;
        }
    }

    private int feed(int at) {
        for (int i = at; i < filled; i++) {
            if (buffer[i] == '\n') {
                return i;
            }
        }
        return -1;
    }

    /** A line feed behind the carriage return that has ended a message belongs to it. */
    private void skipFeed() throws IOException {
        from = next;
        boolean isFeed = (next < filled || fill()) && buffer[from] == '\n';
        next = isFeed ? from + 1 : from;
        position += isFeed ? 1 : 0;
        behindReturn = false;
    }

    private boolean line(int lineEnd, int nextLine) {
        position += nextLine - from;
        next = nextLine;
        behindReturn = records != null && nextLine > lineEnd && buffer[lineEnd] == '\r';
        boolean returned = records == null && lineEnd > from && buffer[lineEnd - 1] == '\r';
        to = returned ? lineEnd - 1 : lineEnd;
        return true;
    }

    /** Reads on, keeping what the unfinished line has; false at the end of the file. */
    private boolean fill() throws IOException {
        int kept = filled - from;
        if (from > 0) {
            System.arraycopy(buffer, from, buffer, 0, kept);
        } else if (kept == buffer.length) {
            buffer = Arrays.copyOf(buffer, larger(kept));
        }
        from = 0;
        filled = kept;
        int read = read();
        if (read <= 0) {
            return false;
        }
        filled += read;
        return true;
    }

    private int read() throws IOException {
        try {
            return in.read(buffer, filled, buffer.length - filled);
        } catch (CharacterCodingException e) {
            String message = "this is no character of UTF-32, in which the file is by its first bytes";
            throw new MalformedInputException(place(), new IOException(message));
        }
    }

    private int larger(int length) throws IOException {
        if (length >= LONGEST) {
            String longest = String.format("a line of more than %,d bytes cannot be read", LONGEST);
            throw new MalformedInputException(place(), new IOException(longest));
        }
        return (int) Math.min(2L * length, LONGEST);
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
