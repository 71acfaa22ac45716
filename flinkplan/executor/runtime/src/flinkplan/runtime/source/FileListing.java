package flinkplan.runtime.source;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;

/** Finds the files of a table, in the order of their paths. */
final class FileListing {
    private final FileSpec spec;
    private final Pattern pattern;
    private final List<SourceFile> found = new ArrayList<>();

    private FileListing(FileSpec spec) {
        this.spec = spec;
        this.pattern = spec.pattern() == null ? null : Pattern.compile(spec.pattern());
    }

    /** All files that are there now. */
    static List<SourceFile> of(FileSpec spec) throws IOException {
        FileListing listing = new FileListing(spec);
        Path root = new Path(spec.path());
        FileSystem fileSystem = root.getFileSystem(SparkHadoopUtil.get().conf());
        if (!fileSystem.exists(root)) {
            throw new FileNotFoundException("there is no file or directory '" + spec.path() + "'");
        }
        listing.list(fileSystem, fileSystem.getFileStatus(root));
        listing.found.sort(Comparator.comparing(SourceFile::path));
        return listing.found;
    }

    private void list(FileSystem fileSystem, FileStatus status) throws IOException {
        if (status.isDirectory()) {
            for (FileStatus child : fileSystem.listStatus(status.getPath())) {
                String name = child.getPath().getName();
                if (!name.startsWith(".") && !name.startsWith("_")) {
                    list(fileSystem, child);
                }
            }
            return;
        }
        SourceFile file = SourceFile.of(status);
        if (isWanted(file)) {
            found.add(file);
        }
    }

    private boolean isWanted(SourceFile file) {
        if (pattern != null && !pattern.matcher(new Path(file.path()).toUri().getPath()).matches()) {
            return false;
        }
        if (spec.only() == null) {
            return true;
        }
        Map<String, String> partition = file.partition();
        return spec.only().stream().anyMatch(wanted -> partition.entrySet().containsAll(wanted.entrySet()));
    }
}
