package flinkplan.runtime.sink;

import flinkplan.runtime.format.Encoder;
import flinkplan.runtime.format.FlinkType;
import flinkplan.runtime.format.PartitionValues;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Writes a batch of rows as files under a directory, idempotently: the names are made of the batch's, a file
 *  is written under a hidden name first, and one that is already there is replaced.
 *
 * @param partitions the partition columns' names; their values are the last columns of a row
 */
record FileSink(
    String path,
    Encoder encoder,
    int width,
    List<String> partitions,
    List<FlinkType> partitionTypes,
    String defaultPartition)
    implements RowSink {

  @Override
  public long write(String batch, int task, boolean changelog, Iterator<InternalRow> rows) throws IOException {
    Map<String, Part> parts = new HashMap<>();
    long count = 0;
    while (rows.hasNext()) {
      InternalRow row = rows.next();
      byte kind = changelog ? row.getByte(width) : 0;
      Part part = parts.get(directory(row));
      if (part == null) {
        part = new Part(directory(row), String.format("part-%s-%05d", batch, task));
        parts.put(directory(row), part);
      }
      encoder.encode(kind, row, part.out);
      count++;
    }
    for (Part part : parts.values()) {
      part.finish();
    }
    return count;
  }

  /** The directory of a row's partition. */
  private String directory(InternalRow row) {
    if (partitions.isEmpty()) {
      return path;
    }
    List<String> segments = new ArrayList<>(List.of(path));
    int first = width - partitions.size();
    for (int i = 0; i < partitions.size(); i++) {
      String value = PartitionValues.format(row, first + i, partitionTypes.get(i));
      boolean absent = value == null || value.isBlank();
      segments.add(escape(partitions.get(i)) + "=" + (absent ? defaultPartition : escape(value)));
    }
    return String.join("/", segments);
  }

  /** Writes as {@code %XX} the characters that a directory's name must not hold. */
  private static String escape(String text) {
    StringBuilder escaped = new StringBuilder();
    for (char c : text.toCharArray()) {
      if (c < ' ' || "\"#%'*/:=?\\\u007f{[]^".indexOf(c) >= 0) {
        escaped.append(String.format("%%%02X", (int) c));
      } else {
        escaped.append(c);
      }
    }
    return escaped.toString();
  }

  private static final class Part {
    private final FileSystem fileSystem;
    private final Path target;
    private final Path unfinished;
    final OutputStream out;

    Part(String directory, String name) throws IOException {
      target = new Path(new Path(directory), name);
      unfinished = new Path(new Path(directory), "." + name + ".inprogress");
      fileSystem = target.getFileSystem(SparkHadoopUtil.get().conf());
      fileSystem.setWriteChecksum(false);
      out = new BufferedOutputStream(fileSystem.create(unfinished, true), 1 << 16);
    }

    void finish() throws IOException {
      out.close();
      fileSystem.delete(target, false);
      if (!fileSystem.rename(unfinished, target)) {
        throw new IOException("cannot rename " + unfinished + " to " + target);
      }
    }
  }
}
