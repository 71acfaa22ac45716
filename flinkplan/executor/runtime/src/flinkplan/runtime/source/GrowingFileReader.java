package flinkplan.runtime.source;

import flinkplan.runtime.format.Decoder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;

/**
 * Reads files as they are written: all that are there, then the lines that are added to the last one, until there is
 * a new file. Rows are as those of {@link FileReader}.
 */
final class GrowingFileReader extends RealTimeReader {
    private static final long SHORTEST = TimeUnit.MILLISECONDS.toNanos(5);

    /** How much longer it waits than looking around has taken. */
    private static final int REST = 9;

    private final FileSpec spec;
    private final Decoder decoder;
    private final Set<String> known;
    private final ArrayDeque<SourceFile> pending;
    private final List<SourceFile> begun = new ArrayList<>();
    private final ArrayDeque<InternalRow> rows = new ArrayDeque<>();
    private final int width;
    private GrowingFile file;
    private Object[] constants;
    private int skipped;
    private int gone;
    private long sequence;
    private long patience = SHORTEST;
    private InternalRow current;

    GrowingFileReader(FileSpec spec, GrowingFileStream.Start start) {
        this.spec = spec;
        decoder = spec.decoder();
        width = spec.projection().size();
        known = new HashSet<>(start.known());
        pending = new ArrayDeque<>(start.pending());
        pending.forEach(file -> known.add(file.path()));
        if (start.current() != null) {
            try {
                open(start.current(), start.position());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            skipped = start.rows();
        }
    }

    private void open(SourceFile next, long position) throws IOException {
        constants = FileConstants.of(next, spec);
        file = new GrowingFile(next, position, decoder.records());
    }

    @Override
    boolean advance() throws IOException {
        while (rows.isEmpty()) {
            if (!decode()) {
                return false;
            }
        }
        current = rows.poll();
        gone++;
        return true;
    }

    /** Goes on to the next message, of this file or the next one; false where there is none yet. */
    private boolean decode() throws IOException {
        if (file != null && file.next(false)) {
            take();
            return true;
        }
        long began = System.nanoTime();
        SourceFile next = found();
        patience = Math.max(SHORTEST, REST * (System.nanoTime() - began));
        if (next == null) {
            return false;
        }
        // what was added before the next file came belongs to this one
        if (file != null && file.next(true)) {
            pending.addFirst(next);
            take();
            return true;
        }
        close();
        open(next, 0);
        begun.add(next);
        return true;
    }

    private SourceFile found() throws IOException {
        if (pending.isEmpty()) {
            for (SourceFile candidate : spec.files()) {
                if (known.add(candidate.path())) {
                    pending.add(candidate);
                }
            }
        }
        return pending.poll();
    }

    private void take() throws IOException {
        gone = 0;
        try {
            decoder.decode(file.buffer(), file.from(), file.to(), this::add);
        } catch (RuntimeException | IOException e) {
            throw new MalformedInputException(file.place(), e);
        }
        for (; skipped > 0; skipped--) {
            rows.poll();
            gone++;
        }
    }

    private void add(byte kind, Object[] values) {
        Object[] row = Arrays.copyOf(values, width + constants.length + 2);
        System.arraycopy(constants, 0, row, width, constants.length);
        row[row.length - 2] = kind;
        row[row.length - 1] = sequence++;
        rows.add(new GenericInternalRow(row));
    }

    @Override
    long patience() {
        return patience;
    }

    @Override
    public InternalRow get() {
        return current;
    }

    @Override
    public PartitionOffset getOffset() {
        if (file == null) {
            return new GrowingFileStream.Reached(List.of(), 0, 0);
        }
        boolean within = !rows.isEmpty();
        long position = within ? file.start() : file.position();
        return new GrowingFileStream.Reached(List.copyOf(begun), position, within ? gone : 0);
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            file.close();
            file = null;
        }
    }
}
