package flinkplan.runtime.storage;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Keeps a checkpoint to one job. The lock goes with the process that writes there, however that ends. */
public final class CheckpointLock implements AutoCloseable {
    /** Closing any channel of a file gives up this process's lock on it, so a second one must not even be opened. */
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private final Path file;
    private final FileChannel channel;

    private CheckpointLock(Path file, FileChannel channel) {
        this.file = file;
        this.channel = channel;
    }

    /** The lock on a file, which is made where there is none; null while another job has it. */
    public static CheckpointLock tryAcquire(String name) throws IOException {
        Path file = Path.of(name).toAbsolutePath().normalize();
        if (!HELD.add(file)) {
            return null;
        }
        FileChannel channel = null;
        boolean isLocked = false;
        try {
            channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            isLocked = channel.tryLock() != null;
            return isLocked ? new CheckpointLock(file, channel) : null;
        } finally {
            if (!isLocked) {
                HELD.remove(file);
                if (channel != null) {
                    channel.close();
                }
            }
        }
    }

    @Override
    public void close() throws IOException {
        if (HELD.remove(file)) {
            channel.close();
        }
    }
}
