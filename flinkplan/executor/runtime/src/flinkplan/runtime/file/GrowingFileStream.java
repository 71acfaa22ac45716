package flinkplan.runtime.file;

import flinkplan.runtime.source.Lag;
import flinkplan.runtime.source.RealTimeStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.internal.SQLConf;

/** The stream of files that are read as they are written: an offset is a place in each of them. */
final class GrowingFileStream extends RealTimeStream implements ReportsSourceMetrics {
    private final FileSpec spec;
    private final FileLog log;
    private final EndedFiles ended;
    private final String endedLocation;
    private String first;
    private long lag;

    GrowingFileStream(FileSpec spec, String checkpointLocation) {
        this.spec = spec;
        endedLocation = EndedFiles.location(checkpointLocation);
        try {
            log = new FileLog(checkpointLocation);
            ended = new EndedFiles(endedLocation);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * How far a batch has come.
     *
     * @param files those that have been taken up, in order
     * @param current which of them was read last
     * @param rows how many rows of that one's next message have gone out
     * @param time when all files were looked at last, in milliseconds since 1970
     * @param until when the batch has ended, in milliseconds since 1970
     */
    record Reached(List<FilePlace> files, int current, int rows, long time, long until) implements PartitionOffset {}

    /**
     * Where a batch starts.
     *
     * @param files those that have been taken up, also by a batch that failed; {@code current}, {@code rows},
     *     {@code time} and {@code until} are as in {@link Reached}
     * @param failed how far a batch that failed had read files that were gone then, by their numbers
     * @param ended where {@link EndedFiles} stand
     * @param ignoresMissing whether files may be gone before all of their rows were read
     */
    record Start(
            List<FilePlace> files,
            Map<Integer, FilePlace> failed,
            int current,
            int rows,
            long time,
            long until,
            String ended,
            boolean ignoresMissing)
            implements InputPartition {}

    @Override
    public Offset initialOffset() {
        return GrowingFileOffset.INITIAL;
    }

    @Override
    public Offset deserializeOffset(String json) {
        GrowingFileOffset offset = GrowingFileOffset.parse(json);
        try {
            log.check(offset.taken());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return offset;
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start) {
        GrowingFileOffset offset = (GrowingFileOffset) start;
        try {
            if (first == null) {
                first = offset.json();
            } else if (!first.equals(offset.json())) {
                ended.clear();
            }
            List<FilePlace> files = offset.files(log.between(0, offset.taken()));
            log.between(offset.taken(), log.size()).forEach(file -> files.add(new FilePlace(file, 0, 0)));
            Map<Integer, FilePlace> failed = new HashMap<>();
            ended.read().forEach((index, read) -> {
                if (index >= files.size()) {
                    failed.put(files.size(), read);
                    files.add(new FilePlace(read.file(), 0, 0));
                } else if (files.get(index).position() != FilePlace.OVER
                        && files.get(index).position() < read.position()) {
                    failed.put(index, read);
                }
            });
            boolean ignoresMissing = SQLConf.get().ignoreMissingFiles();
            return new InputPartition[] {
                new Start(
                        files,
                        failed,
                        offset.current(),
                        offset.rows(),
                        offset.time(),
                        offset.until(),
                        endedLocation,
                        ignoresMissing)
            };
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Files are on the log before an offset counts them. */
    @Override
    protected Offset reached(PartitionOffset offset) {
        Reached reached = (Reached) offset;
        List<SourceFile> newFiles = reached.files().stream()
                .skip(log.size())
                .map(FilePlace::file)
                .toList();
        try {
            if (!newFiles.isEmpty()) {
                log.append(newFiles);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        lag = reached.files().stream()
                .filter(place -> place.position() != FilePlace.OVER)
                .mapToLong(place -> place.file().size() - place.position())
                .sum();
        return GrowingFileOffset.of(reached, log.between(0, reached.files().size()));
    }

    /** How many bytes of lines were found that are still to be read; see {@link Lag}. */
    @Override
    public Map<String, String> metrics(Optional<Offset> latest) {
        return Lag.of("bytes", spec.path(), lag);
    }

    /** How progress reports name the source. */
    @Override
    public String toString() {
        return "files";
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        FileSpec spec = this.spec;
        return partition -> new GrowingFileReader(spec, (Start) partition);
    }
}
