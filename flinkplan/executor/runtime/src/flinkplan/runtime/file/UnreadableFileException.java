package flinkplan.runtime.file;

import java.io.IOException;

/**
 * A file that cannot be read, or whose rows are lost. The message has three lines: the file, what is wrong, how to fix
 * it.
 */
public final class UnreadableFileException extends IOException {
    private static final String OPTION = "--conf spark.sql.files.ignoreMissingFiles=true";

    public UnreadableFileException(String path, String problem, String fix) {
        super(String.join("\n", path, problem, fix));
    }

    /** Rows of a file have gone before they were read. */
    static UnreadableFileException lost(String path, String problem) {
        return new UnreadableFileException(
                path, problem, "put the file back and start the job again; to go on without these rows: " + OPTION);
    }
}
