package flinkplan.runtime.jdbc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where Derby looks for its settings: in an empty folder of this process.
 *
 * <p>Without one it obeys a file {@code derby.properties} in the folder that the job was started in, which may have
 * come with a plan, and writes its log there.
 */
final class Derby {
    private static final String HOME = "derby.system.home";

    private Derby() {}

    /** Names the folder, unless somebody has named one. */
    static synchronized void settle() {
        if (System.getProperty(HOME) != null) {
            return;
        }
        try {
            Path home = Files.createTempDirectory("flinkplan-derby-");
            home.toFile().deleteOnExit();
            home.resolve("derby.log").toFile().deleteOnExit();
            System.setProperty(HOME, home.toString());
        } catch (IOException e) {
            throw new IllegalStateException("there is no folder for Derby's log", e);
        }
    }
}
