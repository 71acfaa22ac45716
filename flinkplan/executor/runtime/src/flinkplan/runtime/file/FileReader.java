package flinkplan.runtime.file;

import flinkplan.runtime.format.Decoder;
import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.source.MalformedInputException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;

/** Reads the rows of one partition: fields, partition columns, metadata, kind, sequence number. */
final class FileReader implements PartitionReader<InternalRow> {
    private final FileSpec spec;
    private final Decoder decoder;
    private final Iterator<Slices.Slice> slices;
    private final ArrayDeque<InternalRow> rows = new ArrayDeque<>();
    private final int width;
    private LineReader lines;
    private Object[] constants;
    private long sequence;
    private long toSkip;
    private InternalRow current;

    FileReader(FileSpec spec, Slices partition) {
        this.spec = spec;
        decoder = spec.decoder();
        slices = partition.slices().iterator();
        width = spec.projection().size();
        sequence = (long) partition.index() << Hidden.PARTITION_SHIFT;
    }

    @Override
    public boolean next() throws IOException {
        while ((current = rows.poll()) == null) {
            if (lines != null && lines.next()) {
                decode();
            } else if (!open()) {
                return false;
            }
        }
        return true;
    }

    private void decode() throws IOException {
        try {
            decoder.decode(lines.buffer(), lines.from(), lines.to(), this::add);
        } catch (RuntimeException | IOException e) {
            throw new MalformedInputException(lines.place(), e);
        }
    }

    private void add(byte kind, Object[] values) {
        if (toSkip > 0) {
            toSkip--;
            return;
        }
        Object[] row = Arrays.copyOf(values, width + constants.length + 2);
        System.arraycopy(constants, 0, row, width, constants.length);
        row[row.length - 2] = kind;
        row[row.length - 1] = sequence++;
        rows.add(new GenericInternalRow(row));
    }

    private boolean open() throws IOException {
        close();
        while (slices.hasNext()) {
            SourceFile file = open(slices.next());
            if (lines != null) {
                constants = FileConstants.of(file, spec);
                return true;
            }
        }
        return false;
    }

    private SourceFile open(Slices.Slice slice) throws IOException {
        try {
            lines = new LineReader(slice, decoder.records());
            toSkip = slice.skipped();
        } catch (FileNotFoundException e) {
            slice.file().missing(e);
        }
        return slice.file();
    }

    @Override
    public InternalRow get() {
        return current;
    }

    @Override
    public void close() throws IOException {
        if (lines != null) {
            lines.close();
            lines = null;
        }
    }
}
