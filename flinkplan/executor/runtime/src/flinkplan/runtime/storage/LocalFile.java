package flinkplan.runtime.storage;

import java.io.BufferedOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.Syncable;

/**
 * A new file of the local disk, made by this process alone.
 *
 * <p>Hadoop runs {@code chmod} on each file and folder that it makes, which is most of what a small file takes.
 */
final class LocalFile extends BufferedOutputStream implements Syncable, StreamCapabilities {
    private final FileOutputStream file;

    private LocalFile(Named named) {
        super(named);
        file = named.file;
    }

    /** Says which file it is that cannot be written. */
    private static final class Named extends OutputStream {
        private final File path;
        final FileOutputStream file;

        Named(File path) throws IOException {
            this.path = path;
            file = new FileOutputStream(path);
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            try {
                file.write(bytes, from, length);
            } catch (IOException e) {
                IOException named = new IOException(path + ": " + e.getMessage());
                named.setStackTrace(e.getStackTrace());
                throw named;
            }
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }

    /** Begins on a file in place of what may be there, and makes its folder. */
    static FSDataOutputStream create(Path path) throws IOException {
        File file = new File(path.toUri().getPath());
        Files.createDirectories(file.toPath().getParent());
        return new FSDataOutputStream(new LocalFile(new Named(file)), null);
    }

    @Override
    public boolean hasCapability(String capability) {
        return capability.equals(HSYNC);
    }

    @Override
    public void hflush() throws IOException {
        flush();
    }

    @Override
    public void hsync() throws IOException {
        flush();
        file.getFD().sync();
    }
}
