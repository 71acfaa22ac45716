package flinkplan.runtime.file;

import flinkplan.runtime.format.Decoder;
import flinkplan.runtime.source.MalformedInputException;
import flinkplan.runtime.source.RealTimeReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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

    /** After how long it looks at all files, although something is added to the one that is read all the time. */
    private static final long LOOKS = TimeUnit.SECONDS.toNanos(1);

    /** How much longer it waits than looking around has taken. */
    private static final int REST = 9;

    private final FileSpec spec;
    private final Decoder decoder;
    private final int width;
    private final KnownFiles known;
    private final ArrayDeque<InternalRow> rows = new ArrayDeque<>();
    private KnownFile reading;
    private GrowingFile file;
    private Object[] constants;
    private int gone;
    private long sequence;
    private long looked;
    private long patience = SHORTEST;
    private InternalRow current;

    GrowingFileReader(FileSpec spec, GrowingFileStream.Start start) {
        super(spec.ticks() ? tick(spec) : null);
        this.spec = spec;
        decoder = spec.decoder();
        width = spec.projection().size();
        try {
            known = new KnownFiles(spec, start);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static InternalRow tick(FileSpec spec) {
        Object[] row = new Object[spec.width() + 2];
        row[row.length - 2] = Decoder.INSERT;
        row[row.length - 1] = TICK;
        return new GenericInternalRow(row);
    }

    @Override
    protected boolean advance() throws IOException {
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
        leave();
        long began = System.nanoTime();
        if (file != null && began - looked < LOOKS && file.reopen()) {
            return true;
        }
        looked = began;
        KnownFile next = known.next();
        patience = Math.max(SHORTEST, REST * (System.nanoTime() - began));
        return next != null && open(next);
    }

    private void leave() {
        if (file != null) {
            reading.position = file.position();
            reading.seen = file.seen();
            reading.print = file.print(reading.position);
        }
    }

    /** Goes on to a file, if it is still there. */
    private boolean open(KnownFile next) throws IOException {
        close();
        file = GrowingFile.open(next, decoder.records());
        if (file == null) {
            return false;
        }
        reading = next;
        known.opened(next);
        constants = FileConstants.of(next.file, spec);
        return true;
    }

    private void take() throws IOException {
        gone = 0;
        try {
            decoder.decode(file.buffer(), file.from(), file.to(), this::add);
        } catch (RuntimeException | IOException e) {
            throw new MalformedInputException(file.place(), e);
        }
        for (; reading.rows > 0; reading.rows--) {
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
    protected long patience() {
        return patience;
    }

    @Override
    protected InternalRow row() {
        return current;
    }

    @Override
    public PartitionOffset getOffset() {
        List<FilePlace> places = new ArrayList<>();
        known.all().forEach(each -> places.add(each.place()));
        KnownFile owed = known.owed();
        if (owed != null) {
            return reached(places, owed.index, owed.rows);
        }
        boolean within = !rows.isEmpty();
        if (file != null) {
            long reached = within ? file.start() : file.position();
            long size = within || !file.isAtEnd() ? Math.max(reading.size(), file.seen()) : reached;
            places.set(reading.index, reading.place(reached, file.print(reached), size));
        }
        int index = reading == null ? -1 : reading.index;
        return reached(places, index, within ? gone : reading == null ? 0 : reading.rows);
    }

    private GrowingFileStream.Reached reached(List<FilePlace> places, int index, int gone) {
        return new GrowingFileStream.Reached(places, index, gone, known.time(), System.currentTimeMillis());
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            file.close();
            file = null;
        }
    }
}
