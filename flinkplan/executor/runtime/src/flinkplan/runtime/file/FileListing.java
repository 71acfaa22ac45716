package flinkplan.runtime.file;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;

/**
 * Finds the files of a table, in the order of their paths.
 *
 * <p>Local folders are listed by Java: Hadoop knows no inodes, and no names with a colon.
 */
final class FileListing {
    private static final String ATTRIBUTES = "unix:isDirectory,size,lastModifiedTime,ino,dev";

    private static final boolean HAS_INODES = java.nio.file.FileSystems.getDefault()
            .supportedFileAttributeViews()
            .contains("unix");

    private final FileSpec spec;
    private final Pattern pattern;
    private final List<Listed> found = new ArrayList<>();

    /**
     * A file that is there.
     *
     * @param device the number of the device that its inode belongs to
     * @param isWanted whether it belongs to the table; others are looked at for files that got new names
     */
    record Listed(SourceFile file, long device, boolean isWanted) {}

    private FileListing(FileSpec spec) {
        this.spec = spec;
        this.pattern = spec.pattern() == null ? null : Pattern.compile(spec.pattern());
    }

    /** All files of the table that are there now. */
    static List<SourceFile> of(FileSpec spec) throws IOException {
        FileListing listing = new FileListing(spec);
        if (!listing.list(spec.path())) {
            throw new FileNotFoundException("there is no file or directory '" + spec.path() + "'");
        }
        List<SourceFile> files = new ArrayList<>();
        for (Listed listed : listing.sorted()) {
            if (listed.isWanted()) {
                files.add(listed.file());
            }
        }
        return files;
    }

    /**
     * All files in the table's folders that are there now, also those that are not of the table.
     *
     * @param isFile whether the table is over one file, which need not be there while it gets another name
     */
    static List<Listed> all(FileSpec spec, boolean isFile) throws IOException {
        FileListing listing = new FileListing(spec);
        boolean isThere = listing.list(spec.path());
        if (!isThere && !isFile) {
            throw new FileNotFoundException("there is no file or directory '" + spec.path() + "'");
        }
        return listing.sorted();
    }

    /** The files beside one that is a table of its own. */
    static List<Listed> beside(SourceFile file, FileSpec spec) throws IOException {
        FileListing listing = new FileListing(spec);
        Path folder = new Path(file.path()).getParent();
        FileSystem fileSystem = folder.getFileSystem(SparkHadoopUtil.get().conf());
        if (isLocal(fileSystem)) {
            listing.list(folder.toString(), local(folder), false);
        }
        List<Listed> files = new ArrayList<>();
        for (Listed listed : listing.sorted()) {
            if (!listed.file().path().equals(file.path())) {
                files.add(new Listed(listed.file(), listed.device(), false));
            }
        }
        return files;
    }

    /** One file as it is now. */
    static SourceFile status(FileSystem fileSystem, Path path) throws IOException {
        return isLocal(fileSystem) ? attributes(path.toString(), local(path)).file : of(fileSystem.getFileStatus(path));
    }

    private static boolean isLocal(FileSystem fileSystem) {
        return HAS_INODES && "file".equals(fileSystem.getUri().getScheme());
    }

    private static java.nio.file.Path local(Path path) {
        return java.nio.file.Path.of(path.toUri().getPath());
    }

    private static SourceFile of(FileStatus status) {
        return new SourceFile(status.getPath().toString(), status.getLen(), status.getModificationTime(), 0);
    }

    private List<Listed> sorted() {
        found.sort(Comparator.comparing(listed -> listed.file().path()));
        return found;
    }

    /** Lists what is at a path; false where nothing is. */
    private boolean list(String path) throws IOException {
        Path root = new Path(path);
        FileSystem fileSystem = root.getFileSystem(SparkHadoopUtil.get().conf());
        Path qualified = fileSystem.makeQualified(root);
        try {
            if (isLocal(fileSystem)) {
                visit(qualified.toString(), local(qualified), true);
            } else {
                list(fileSystem, fileSystem.getFileStatus(root));
            }
            return true;
        } catch (FileNotFoundException | NoSuchFileException e) {
            return false;
        }
    }

    private record Attributes(SourceFile file, long device, boolean isDirectory) {}

    private static Attributes attributes(String name, java.nio.file.Path path) throws IOException {
        Map<String, Object> values;
        try {
            values = Files.readAttributes(path, ATTRIBUTES);
        } catch (NoSuchFileException e) {
            throw new FileNotFoundException(name);
        }
        SourceFile file = new SourceFile(
                name,
                (Long) values.get("size"),
                ((FileTime) values.get("lastModifiedTime")).toMillis(),
                (Long) values.get("ino"));
        return new Attributes(file, (Long) values.get("dev"), (Boolean) values.get("isDirectory"));
    }

    private void visit(String name, java.nio.file.Path path, boolean goesDown) throws IOException {
        Attributes found = attributes(name, path);
        if (!found.isDirectory) {
            add(found.file, found.device);
        } else if (goesDown) {
            list(name, path, true);
        }
    }

    private void list(String folder, java.nio.file.Path path, boolean goesDown) throws IOException {
        try (DirectoryStream<java.nio.file.Path> children = Files.newDirectoryStream(path)) {
            for (java.nio.file.Path child : children) {
                String name = child.getFileName().toString();
                try {
                    if (!isHidden(name)) {
                        visit(folder.endsWith("/") ? folder + name : folder + "/" + name, child, goesDown);
                    }
                } catch (FileNotFoundException | NoSuchFileException | NotDirectoryException e) {
                    // it has gone since the folder was opened
                    continue;
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    /** Of a name in another encoding Java makes a text that names no file. */
    private static void checkDecoded(SourceFile file) throws IOException {
        if (file.path().indexOf('\uFFFD') >= 0) {
            String encoding = System.getProperty("sun.jnu.encoding");
            throw new UnreadableFileException(
                    file.name(),
                    "the name of the file is not in the encoding of file names, " + encoding,
                    encoding.equalsIgnoreCase("UTF-8")
                            ? "rename it to a name in UTF-8"
                            : "set the environment variable LC_ALL=C.UTF-8 for Spark's processes");
        }
    }

    private static boolean isHidden(String name) {
        return name.startsWith(".") || name.startsWith("_");
    }

    private void list(FileSystem fileSystem, FileStatus status) throws IOException {
        if (!status.isDirectory()) {
            add(of(status), 0);
            return;
        }
        for (FileStatus child : fileSystem.listStatus(status.getPath())) {
            if (!isHidden(child.getPath().getName())) {
                try {
                    list(fileSystem, child);
                } catch (FileNotFoundException e) {
                    // it has gone since the folder was listed
                    continue;
                }
            }
        }
    }

    private void add(SourceFile file, long device) throws IOException {
        boolean isWanted = isWanted(file);
        if (isWanted) {
            checkDecoded(file);
        }
        found.add(new Listed(file, device, isWanted));
    }

    private boolean isWanted(SourceFile file) {
        if (pattern != null && !pattern.matcher(file.name()).matches()) {
            return false;
        }
        if (spec.only() == null) {
            return true;
        }
        Map<String, String> partition = file.partition();
        return spec.only().stream().anyMatch(wanted -> partition.entrySet().containsAll(wanted.entrySet()));
    }
}
