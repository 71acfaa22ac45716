package flinkplan.runtime.sink;

import flinkplan.runtime.format.Encoder;
import flinkplan.runtime.format.FlinkType;
import flinkplan.runtime.format.PartitionValues;
import flinkplan.runtime.storage.DurableFiles;
import java.io.BufferedOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Writes a batch of rows as files, one for each task and partition, which {@link Publication} shows to readers.
 *
 * @param partitions the partition columns' names; their values are the last columns of a row
 * @param fileSize a file with more bytes takes up no more rows, but another one does
 */
record FileSink(
        String path,
        Encoder encoder,
        int width,
        List<String> partitions,
        List<FlinkType> partitionTypes,
        String defaultPartition,
        long fileSize)
        implements RowByRowSink {

    @Override
    public Writer open(String batch, int task, boolean changelog) {
        return new Files(Publication.staging(path, batch), Publication.fileName(batch, String.format("%05d", task)), changelog);
    }

    private final class Files implements Writer {
        private final Map<String, Part> parts = new HashMap<>();
        private final Map<String, Integer> rolled = new HashMap<>();
        private final List<Publication.Staged> finished = new ArrayList<>();
        private final Path staging;
        private final String name;
        private final boolean changelog;
        private long count;

        Files(Path staging, String name, boolean changelog) {
            this.staging = staging;
            this.name = name;
            this.changelog = changelog;
        }

        @Override
        public void write(InternalRow row) throws IOException {
            byte kind = changelog ? row.getByte(width) : 0;
            String directory = directory(row);
            Part part = parts.get(directory);
            if (part != null && part.out.bytes > fileSize) {
                finish(part);
                rolled.merge(directory, 1, Integer::sum);
                part = null;
            }
            if (part == null) {
                int number = rolled.getOrDefault(directory, 0);
                part = new Part(staging, directory, number == 0 ? name : name + "-" + number);
                parts.put(directory, part);
            }
            encoder.encode(kind, row, part.out);
            count++;
        }

        private void finish(Part part) throws IOException {
            part.finish();
            finished.add(part.staged);
        }

        @Override
        public Written finish() throws IOException {
            for (Part part : parts.values()) {
                finish(part);
            }
            return new Written(count, finished);
        }

        @Override
        public void close() throws IOException {
            for (Part part : parts.values()) {
                part.file.close();
            }
        }
    }

    /** The directory of a row's partition below the table's, with a slash behind; empty where there are none. */
    private String directory(InternalRow row) {
        StringBuilder directory = new StringBuilder();
        int first = width - partitions.size();
        for (int i = 0; i < partitions.size(); i++) {
            String value = PartitionValues.format(row, first + i, partitionTypes.get(i));
            boolean absent = value == null || value.isBlank();
            directory.append(PartitionPaths.escape(partitions.get(i))).append('=');
            directory.append(absent ? defaultPartition : PartitionPaths.escape(value)).append('/');
        }
        return directory.toString();
    }

    private static final class Part {
        final Publication.Staged staged;
        final FSDataOutputStream file;
        final Counting out;

        Part(Path staging, String directory, String name) throws IOException {
            staged = Publication.Staged.of(directory, name);
            Path path = new Path(staging + "/" + staged.staged());
            file = DurableFiles.create(path.getFileSystem(SparkHadoopUtil.get().conf()), path);
            out = new Counting(new BufferedOutputStream(file, 1 << 16));
        }

        void finish() throws IOException {
            out.flush();
            DurableFiles.sync(file);
            file.close();
        }
    }

    private static final class Counting extends FilterOutputStream {
        long bytes;

        Counting(OutputStream out) {
            super(out);
        }

        @Override
        public void write(int b) throws IOException {
            out.write(b);
            bytes++;
        }

        @Override
        public void write(byte[] content, int from, int length) throws IOException {
            out.write(content, from, length);
            bytes += length;
        }
    }
}
