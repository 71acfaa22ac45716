package flinkplan.runtime.source;

import flinkplan.runtime.format.Decoder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;

/**
 * Reads files as they are written: all that are there, then what is added to any of them, and new ones. Rows are as
 * those of {@link FileReader}.
 */
final class GrowingFileReader extends RealTimeReader {
    private static final long SHORTEST = TimeUnit.MILLISECONDS.toNanos(5);

    /** How much longer it waits than looking around has taken. */
    private static final int REST = 9;

    private final FileSpec spec;
    private final Decoder decoder;
    private final int width;
    private final List<SourceFile> begun = new ArrayList<>();
    private final Map<String, Progress> known = new HashMap<>();
    private final List<Progress> all = new ArrayList<>();
    private final ArrayDeque<SourceFile> pending;
    private final ArrayDeque<InternalRow> rows = new ArrayDeque<>();
    private Progress reading;
    private GrowingFile file;
    private Object[] constants;
    private int skipped;
    private int gone;
    private long sequence;
    private long patience = SHORTEST;
    private InternalRow current;

    /**
     * How far a file has been read: up to {@code position}, behind which there was no whole message before
     * {@code seen}.
     */
    private static final class Progress {
        final SourceFile file;
        final int index;
        long position;
        long seen;

        Progress(SourceFile file, int index, long position) {
            this.file = file;
            this.index = index;
            this.position = position;
            this.seen = position;
        }
    }

    GrowingFileReader(FileSpec spec, GrowingFileStream.Start start) {
        super(spec.ticks() ? tick(spec) : null);
        this.spec = spec;
        decoder = spec.decoder();
        width = spec.projection().size();
        pending = new ArrayDeque<>(start.pending());
        for (SourceFile taken : start.files()) {
            know(taken, start.positions()[all.size()]);
        }
        if (start.current() >= 0) {
            try {
                open(all.get(start.current()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            skipped = start.rows();
        }
    }

    private static InternalRow tick(FileSpec spec) {
        Object[] row = new Object[spec.width() + 2];
        row[row.length - 2] = Decoder.INSERT;
        row[row.length - 1] = TICK;
        return new GenericInternalRow(row);
    }

    private Progress know(SourceFile taken, long position) {
        Progress progress = new Progress(taken, all.size(), position);
        known.put(taken.path(), progress);
        all.add(progress);
        return progress;
    }

    private void open(Progress next) throws IOException {
        reading = next;
        constants = FileConstants.of(next.file, spec);
        file = new GrowingFile(next.file, next.position, decoder.records());
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

    /** Goes on to the next message, of this file or another one; false where there is none yet. */
    private boolean decode() throws IOException {
        if (file != null && file.next()) {
            take();
            return true;
        }
        long began = System.nanoTime();
        leave();
        SourceFile next = found();
        patience = Math.max(SHORTEST, REST * (System.nanoTime() - began));
        if (next == null) {
            return false;
        }
        close();
        Progress progress = known.get(next.path());
        if (progress == null) {
            progress = know(next, 0);
            begun.add(next);
        }
        open(progress);
        return true;
    }

    private void leave() {
        if (file != null) {
            reading.position = file.position();
            reading.seen = file.seen();
        }
    }

    /** A file that is new, or to which something has been added. */
    private SourceFile found() throws IOException {
        if (pending.isEmpty()) {
            for (SourceFile candidate : spec.files()) {
                Progress progress = known.get(candidate.path());
                if (progress == null || candidate.size() > progress.seen) {
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
    InternalRow row() {
        return current;
    }

    @Override
    public PartitionOffset getOffset() {
        long[] positions = all.stream().mapToLong(progress -> progress.position).toArray();
        boolean within = !rows.isEmpty();
        if (file != null) {
            positions[reading.index] = within ? file.start() : file.position();
        }
        return new GrowingFileStream.Reached(
                List.copyOf(begun), positions, reading == null ? -1 : reading.index, within ? gone : 0);
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            file.close();
            file = null;
        }
    }
}
