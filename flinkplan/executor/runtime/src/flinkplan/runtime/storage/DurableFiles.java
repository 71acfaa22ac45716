package flinkplan.runtime.storage;

import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import org.apache.hadoop.fs.ChecksumFileSystem;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.StreamCapabilities;

/** Files that are there whole or not at all, also after the machine has lost its power. */
public final class DurableFiles {
    private DurableFiles() {}

    /** Writes a file in place of what may be there. */
    public static void write(FileSystem fileSystem, Path file, byte[] content) throws IOException {
        write(fileSystem, file, new ByteArrayInputStream(content));
    }

    /** The same with what is left of a stream. */
    public static void write(FileSystem fileSystem, Path file, InputStream content) throws IOException {
        Path unfinished = new Path(file.getParent(), "." + file.getName() + ".inprogress");
        try (FSDataOutputStream out = create(fileSystem, unfinished)) {
            content.transferTo(out);
            sync(out);
        }
        move(fileSystem, unfinished, file);
    }

    /** A new file; on a local disk without a file of checksums beside it. */
    public static FSDataOutputStream create(FileSystem fileSystem, Path file) throws IOException {
        FileSystem raw = fileSystem instanceof ChecksumFileSystem local ? local.getRawFileSystem() : fileSystem;
        return raw instanceof RawLocalFileSystem ? LocalFile.create(file) : raw.create(file, true);
    }

    /** Has what was written reach the disk, where the file system lets that be asked for. */
    public static void sync(FSDataOutputStream out) throws IOException {
        if (out.hasCapability(StreamCapabilities.HSYNC)) {
            out.hsync();
        }
    }

    /** Renames a file, in place of what may be there. */
    public static void move(FileSystem fileSystem, Path from, Path to) throws IOException {
        fileSystem.delete(to, false);
        if (!fileSystem.rename(from, to)) {
            throw new IOException("cannot rename " + from + " to " + to);
        }
    }

    /** The content of a file; null where there is none. */
    public static byte[] read(FileSystem fileSystem, Path file) throws IOException {
        try (var in = fileSystem.open(file)) {
            return in.readAllBytes();
        } catch (FileNotFoundException e) {
            return null;
        }
    }
}
