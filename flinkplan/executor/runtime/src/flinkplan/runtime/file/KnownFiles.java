package flinkplan.runtime.file;

import flinkplan.runtime.file.FileListing.Listed;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;

/**
 * The files that a task of real-time mode reads: finds new ones, and those to which something was added.
 *
 * <p>A file is known by its inode, so that it may get another name; in file systems without inodes by its path. It is
 * another file if it has become shorter, or holds something else than was read.
 */
final class KnownFiles {
    /** While files are renamed a listing may miss some: one is gone when it has been missed for so long. */
    private static final long GRACE = TimeUnit.SECONDS.toNanos(1);

    /** How much the clocks of this machine and of a file system may differ, in milliseconds. */
    private static final long SLACK = 1000;

    /** By how much the times of local files may be late, in milliseconds. */
    private static final long COARSE = 10;

    private final FileSpec spec;
    private final GrowingFileStream.Start start;
    private final EndedFiles ended;
    private final String root;
    private final List<KnownFile> all = new ArrayList<>();
    private final ArrayDeque<KnownFile> pending = new ArrayDeque<>();

    /** A file of whose next message some rows have gone out: it goes before all others. */
    private KnownFile owed;

    private boolean isFile;
    private long time;

    KnownFiles(FileSpec spec, GrowingFileStream.Start start) throws IOException {
        this.spec = spec;
        this.start = start;
        ended = new EndedFiles(start.ended());
        time = start.time();
        Path path = new Path(spec.path());
        FileSystem fileSystem = path.getFileSystem(SparkHadoopUtil.get().conf());
        root = fileSystem.makeQualified(path).toString();
        start.files().forEach(this::know);
        start.failed().forEach((index, place) -> all.get(index).failed = place);
        if (start.current() >= 0 && start.rows() > 0) {
            owed = all.get(start.current());
            owed.rows = start.rows();
        }
    }

    private KnownFile know(FilePlace place) {
        KnownFile file = new KnownFile(all.size(), place);
        all.add(file);
        isFile |= place.file().path().equals(root);
        return file;
    }

    List<KnownFile> all() {
        return all;
    }

    /** The file of which rows are still to come before any other's; null: none. */
    KnownFile owed() {
        return owed;
    }

    /** When all of the files were looked at last, in milliseconds since 1970. */
    long time() {
        return time;
    }

    /** A file that is new, or to which something has been added; null: there is none now. */
    KnownFile next() throws IOException {
        if (pending.isEmpty()) {
            look();
        }
        return pending.poll();
    }

    /** Says that the next message of a file is about to be read. */
    void opened(KnownFile file) {
        if (file == owed) {
            owed = null;
        }
    }

    private void look() throws IOException {
        long now = System.currentTimeMillis();
        List<Listed> listing = FileListing.all(spec, isFile);
        Set<KnownFile> here = new HashSet<>();
        match(listing, here);
        if (isFile && all.stream().anyMatch(file -> isMissed(file, here) && file.file.inode() != 0)) {
            match(FileListing.beside(new SourceFile(root, 0, 0, 0), spec), here);
        }
        Map<String, KnownFile> last = new HashMap<>();
        all.stream().filter(file -> !file.isOver).forEach(file -> last.put(file.file.path(), file));
        for (KnownFile file : all) {
            if (isMissed(file, here)) {
                miss(file, now, last.get(file.file.path()) != file);
            }
        }
        if (owed != null) {
            pending.removeIf(file -> file != owed);
        }
        time = now;
    }

    private static boolean isMissed(KnownFile file, Set<KnownFile> here) {
        return !file.isOver && !here.contains(file);
    }

    /** An inode of a device. */
    private record Identity(long device, long inode) {
        static Identity of(Listed listed) {
            return new Identity(listed.device(), listed.file().inode());
        }
    }

    /** Finds out which of the known files those are that were found; {@code here} takes these. */
    private void match(List<Listed> listing, Set<KnownFile> here) throws IOException {
        Map<Long, KnownFile> byInode = new HashMap<>();
        Map<String, KnownFile> byPath = new HashMap<>();
        for (KnownFile file : all) {
            if (!file.isOver && !here.contains(file)) {
                byPath.put(file.file.path(), file);
                if (file.file.inode() != 0) {
                    byInode.put(file.file.inode(), file);
                }
            }
        }
        Set<Identity> taken = new HashSet<>();
        List<Listed> renamed = new ArrayList<>();
        for (Listed listed : listing) {
            KnownFile file = byInode.get(listed.file().inode());
            boolean hasName = file != null && file.file.path().equals(listed.file().path());
            if (hasName && isContinued(file, listed.file(), here)) {
                taken.add(Identity.of(listed));
            } else {
                renamed.add(listed);
            }
        }
        List<Listed> others = new ArrayList<>();
        for (Listed listed : renamed) {
            KnownFile file = byInode.get(listed.file().inode());
            if (listed.file().inode() != 0 && taken.contains(Identity.of(listed))) {
                continue; // another name of a file
            }
            if (file != null && isMissed(file, here) && isContinued(file, listed.file(), here)) {
                taken.add(Identity.of(listed));
            } else if (listed.isWanted()) {
                others.add(listed);
            }
        }
        for (Listed listed : others) {
            if (listed.file().inode() == 0 || taken.add(Identity.of(listed))) {
                KnownFile file = byPath.get(listed.file().path());
                if (file == null || !isMissed(file, here) || !isContinued(file, listed.file(), here)) {
                    begin(listed.file(), here);
                }
            }
        }
    }

    private void begin(SourceFile listed, Set<KnownFile> here) throws IOException {
        if (LineReader.isCompressed(listed.path())) {
            throw new UnreadableFileException(
                    listed.name(),
                    "real-time mode reads no compressed files",
                    "leave it out: 'source.path.regex-pattern' is an expression for the paths of the files to read");
        }
        KnownFile file = know(new FilePlace(listed, 0, 0));
        here.add(file);
        file.isListed = true;
        offer(file);
    }

    /** Whether a file that was found is a known one, which may have grown; if not, that one may be over. */
    private boolean isContinued(KnownFile file, SourceFile listed, Set<KnownFile> here) throws IOException {
        boolean isSame;
        try {
            isSame = isSame(file, listed);
        } catch (FileNotFoundException e) {
            here.add(file); // it has gone just now, as the next look will show
            return true;
        }
        if (!isSame) {
            if (file.file.inode() == listed.inode()) {
                end(file);
            }
            return false;
        }
        here.add(file);
        boolean isChanged = isChanged(file, listed);
        file.file = listed;
        file.failed = null;
        file.isListed = true;
        file.isAbsent = false;
        if (isChanged && listed.size() <= file.seen) {
            file.seen = file.position;
        }
        offer(file);
        return true;
    }

    private void offer(KnownFile file) {
        if (file.file.size() > file.seen) {
            pending.add(file);
        }
    }

    private boolean isChanged(KnownFile file, SourceFile listed) {
        return file.isListed
                ? listed.modified() != file.file.modified() || listed.size() != file.file.size()
                : listed.modified() >= start.time() - SLACK;
    }

    private boolean isSame(KnownFile file, SourceFile listed) throws IOException {
        if (listed.size() < (file.isBehind() ? file.size() : file.position)) {
            return false;
        }
        FilePlace failed = file.failed;
        if (failed != null && !GrowingFile.holds(listed, failed.position(), failed.print())) {
            return false;
        }
        if (file.print == 0) {
            return true; // nothing was read of it, or in an older version
        }
        boolean isMoved = !listed.path().equals(file.file.path());
        boolean isReplaced = listed.inode() != file.file.inode();
        boolean isChanged = isChanged(file, listed);
        if (isMoved && listed.size() == file.position && isLater(file, listed)) {
            return false; // its inode is used again, for the same content
        }
        return !isMoved && !isReplaced && !isChanged || GrowingFile.holds(listed, file.position, file.print);
    }

    /** Whether a file was written when a known one was gone already, or at least had been read to its end. */
    private boolean isLater(KnownFile file, SourceFile listed) {
        if (file.isAbsent) {
            return listed.modified() >= file.absentTime - COARSE;
        }
        return !file.isListed && listed.modified() > start.until() + SLACK;
    }

    /** @param isReplaced whether another file has got its name, by which it could come back */
    private void miss(KnownFile file, long time, boolean isReplaced) throws IOException {
        long now = System.nanoTime();
        if (!file.isAbsent) {
            file.isAbsent = true;
            file.absentSince = now;
            file.absentTime = time;
            pending.remove(file);
            note(file);
        } else if (now - file.absentSince > GRACE) {
            if (file.isBehind()) {
                lose(file, "the file was deleted or moved away before all of it was read");
            } else if (isReplaced) {
                over(file);
            } else if (file.file.inode() != 0) {
                // its inode may be used again
                file.file = new SourceFile(file.file.path(), file.file.size(), file.file.modified(), 0);
            }
        }
    }

    private void end(KnownFile file) throws IOException {
        note(file);
        if (file.isBehind()) {
            lose(file, "the file was truncated or replaced before all of it was read");
        }
        over(file);
    }

    private void lose(KnownFile file, String what) throws IOException {
        if (!start.ignoresMissing()) {
            String problem = String.format(
                    "%s: bytes %d to %d of it are missing", what, file.position, file.size());
            throw UnreadableFileException.lost(file.file.name(), problem);
        }
        over(file);
    }

    private void over(KnownFile file) {
        file.isOver = true;
        pending.remove(file);
        opened(file);
    }

    /** Has the checkpoint know which rows went out of a file that is gone, and have to come again after a failure. */
    private void note(KnownFile file) throws IOException {
        if (file.position > file.began) {
            ended.add(file);
        }
    }
}
