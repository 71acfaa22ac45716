package flinkplan.runtime.file;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.read.InputPartition;

/**
 * The pieces of files that one task reads, in order.
 *
 * @param index the place of this partition among those of the batch
 */
record Slices(int index, List<Slice> slices) implements InputPartition {
    private static final long SMALL = 8L << 20;
    private static final int MOST_OF_A_FILE = 8;

    /** The lines of {@code file} that start in the bytes {@code [start, end)}, without their first rows. */
    record Slice(SourceFile file, long start, long end, long skipped) implements Serializable {}

    /** Cuts parts of files into as many partitions as tasks are to read them. */
    static Slices[] of(List<FilePart> parts, FileSpec spec) {
        long total = parts.stream().mapToLong(FilePart::size).sum();
        return of(parts, total / tasks(total) + 1, spec);
    }

    /** How many tasks are to read so many bytes, unless {@code spark.sql.files.minPartitionNum} says it. */
    private static int tasks(long total) {
        SparkSession session = SparkSession.active();
        int own = total <= SMALL ? 1 : session.sparkContext().defaultParallelism();
        return Integer.parseInt(session.conf().get("spark.sql.files.minPartitionNum", String.valueOf(own)));
    }

    /**
     * Cuts parts of files into partitions of about {@code share} bytes.
     *
     * <p>Where it is not each line end that ends a message, who reads a piece goes over the file up to it, which costs
     * a tenth of decoding that: such files are cut into a few pieces only. Flink does not cut them, so they stay whole
     * where rows are late by what was read before, as does a part whose first rows have been read.
     */
    private static Slices[] of(List<FilePart> parts, long share, FileSpec spec) {
        boolean byLines = spec.isCutByLines();
        List<Slices> partitions = new ArrayList<>();
        List<Slice> current = new ArrayList<>();
        long room = share;
        for (FilePart part : parts) {
            SourceFile file = part.file();
            boolean whole =
                    !byLines && spec.isTimed() || LineReader.isCompressed(file.path()) || part.skipped() > 0;
            long least = byLines ? 1 : file.size() / MOST_OF_A_FILE + 1;
            long last = part.end();
            for (long start = part.from(); start < Math.max(last, part.from() + 1); ) {
                long end = whole ? last : Math.min(last, start + Math.max(room, least));
                current.add(new Slice(file, start, end, part.skipped()));
                room -= end - start;
                start = Math.max(end, start + 1);
                if (room <= 0) {
                    partitions.add(new Slices(partitions.size(), current));
                    current = new ArrayList<>();
                    room = share;
                }
            }
        }
        if (!current.isEmpty()) {
            partitions.add(new Slices(partitions.size(), current));
        }
        return partitions.toArray(Slices[]::new);
    }
}
