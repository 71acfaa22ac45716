package flinkplan.runtime.source;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionCodecFactory;
import org.apache.spark.deploy.SparkHadoopUtil;

/** The lines of a slice: after {@link #next}, {@link #buffer} holds one at {@code [from, to)} without its end. */
final class LineReader implements Closeable {
    private static final int CHUNK = 1 << 16;

    private final InputStream in;
    private final long end;
    private long position;
    private byte[] buffer = new byte[CHUNK];
    private int from;
    private int to;
    private int next;
    private int filled;
    private boolean returned;

    LineReader(Slices.Slice slice) throws IOException {
        Configuration conf = SparkHadoopUtil.get().conf();
        Path path = new Path(slice.file().path());
        FSDataInputStream file = path.getFileSystem(conf).open(path);
        CompressionCodec codec = new CompressionCodecFactory(conf).getCodec(path);
        if (codec != null) {
            in = codec.createInputStream(file);
            end = Long.MAX_VALUE;
            return;
        }
        in = file;
        end = slice.end();
        if (slice.start() > 0) {
            position = slice.start() - 1;
            file.seek(position);
            next();
        }
    }

    static boolean isCompressed(String path) {
        return new CompressionCodecFactory(SparkHadoopUtil.get().conf()).getCodec(new Path(path)) != null;
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

    /** Whether a carriage return stood before the line's end. */
    boolean returned() {
        return returned;
    }

    /** Moves to the next line that starts inside the slice; false at the end. */
    boolean next() throws IOException {
        if (position >= end) {
            return false;
        }
        from = next;
        int scanned = from;
        while (true) {
            for (; scanned < filled; scanned++) {
                if (buffer[scanned] == '\n') {
                    return line(scanned, scanned + 1);
                }
            }
            int behind = scanned - from;
            if (!fill()) {
                return behind > 0 && line(from + behind, from + behind);
            }
            scanned = from + behind;
        }
    }

    private boolean line(int lineEnd, int nextLine) {
        position += nextLine - from;
        next = nextLine;
        returned = lineEnd > from && buffer[lineEnd - 1] == '\r';
        to = returned ? lineEnd - 1 : lineEnd;
        return true;
    }

    /** Reads on, keeping what the unfinished line has; false at the end of the file. */
    private boolean fill() throws IOException {
        int kept = filled - from;
        if (from > 0) {
            System.arraycopy(buffer, from, buffer, 0, kept);
        } else if (kept == buffer.length) {
            buffer = Arrays.copyOf(buffer, 2 * buffer.length);
        }
        from = 0;
        filled = kept;
        int read = in.read(buffer, filled, buffer.length - filled);
        if (read <= 0) {
            return false;
        }
        filled += read;
        return true;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
