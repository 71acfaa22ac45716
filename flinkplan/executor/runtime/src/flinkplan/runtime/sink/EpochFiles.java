package flinkplan.runtime.sink;

import com.fasterxml.jackson.databind.ObjectMapper;
import flinkplan.runtime.storage.DurableFiles;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.streaming.StreamingQueryListener;

/**
 * What readers of a table's folder see of a query in real-time mode: the files of each epoch once it is committed.
 *
 * <p>An epoch that comes again after a failure ends elsewhere than before, so that its files are shown only when Spark
 * has committed it; then they are whole, as every task has finished before. Until all are moved they are found again.
 */
final class EpochFiles implements Serializable {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final long NONE = -1;

    private final String path;
    private final String checkpoint;

    EpochFiles(String path, String checkpoint) {
        this.path = path;
        this.checkpoint = checkpoint;
    }

    /** A name that no other epoch of any query has. */
    static String name(String query, long epoch) {
        return String.format("%s-%010d", query, epoch);
    }

    /** Called by each task that has written its part of an epoch: a task that comes again takes its place. */
    void finish(String epoch, List<Publication.Staged> files) throws IOException {
        Path staging = Publication.staging(path, epoch);
        for (Publication.Staged file : files) {
            Path finished = new Path(staging + "/" + file.finished());
            DurableFiles.move(fileSystem(staging), new Path(staging + "/" + file.staged()), finished);
        }
    }

    /** Takes up where an earlier run has ended: shows what it had committed, and removes what it had not. */
    void restore() throws IOException {
        publish();
        for (FileStatus staging : stagings()) {
            fileSystem(staging.getPath()).delete(staging.getPath(), true);
        }
    }

    /** Shows readers the files of all epochs that are committed. */
    synchronized void publish() throws IOException {
        long committed = committed();
        for (FileStatus staging : stagings()) {
            if (epoch(staging.getPath()) <= committed) {
                publish(staging.getPath());
            }
        }
    }

    private void publish(Path staging) throws IOException {
        FileSystem fileSystem = fileSystem(staging);
        RemoteIterator<LocatedFileStatus> files = fileSystem.listFiles(staging, true);
        String root = fileSystem.makeQualified(staging) + "/";
        while (files.hasNext()) {
            Path file = files.next().getPath();
            if (!Publication.Staged.isFinished(file.getName())) {
                continue;
            }
            String directory = file.getParent().toString().substring(root.length() - 1);
            Path target = new Path(path + directory, Publication.Staged.shown(file.getName()));
            fileSystem.mkdirs(target.getParent());
            DurableFiles.move(fileSystem, file, target);
        }
        fileSystem.delete(staging, true);
    }

    /** The folders in which this query has files that are not shown. */
    private FileStatus[] stagings() throws IOException {
        String query = query();
        Path table = new Path(path);
        FileSystem fileSystem = fileSystem(table);
        if (query == null || !fileSystem.exists(table)) {
            return new FileStatus[0];
        }
        String prefix = Publication.staging(path, query).getName() + "-";
        return fileSystem.listStatus(table, file -> file.getName().startsWith(prefix));
    }

    private static long epoch(Path staging) {
        String name = staging.getName();
        return Long.parseLong(name.substring(name.lastIndexOf('-') + 1));
    }

    /** The query's id, which Spark keeps beside its progress; null before it has one. */
    private String query() throws IOException {
        Path metadata = new Path(checkpoint, "metadata");
        byte[] content = DurableFiles.read(fileSystem(metadata), metadata);
        return content == null ? null : MAPPER.readTree(content).get("id").asText();
    }

    private long committed() throws IOException {
        Path commits = new Path(checkpoint, "commits");
        FileSystem fileSystem = fileSystem(commits);
        if (!fileSystem.exists(commits)) {
            return NONE;
        }
        long last = NONE;
        for (FileStatus commit : fileSystem.listStatus(commits, file -> file.getName().matches("\\d+"))) {
            last = Math.max(last, Long.parseLong(commit.getPath().getName()));
        }
        return last;
    }

    /** What publishes when Spark tells that an epoch has ended. */
    StreamingQueryListener listener() {
        return new StreamingQueryListener() {
            @Override
            public void onQueryStarted(QueryStartedEvent event) {}

            @Override
            public void onQueryProgress(QueryProgressEvent event) {
                try {
                    publish();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }

            @Override
            public void onQueryTerminated(QueryTerminatedEvent event) {}
        };
    }

    private static FileSystem fileSystem(Path path) throws IOException {
        return path.getFileSystem(SparkHadoopUtil.get().conf());
    }
}
