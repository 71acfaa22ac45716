package flinkplan.runtime.planning;

import java.lang.reflect.Field;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;

/**
 * Hadoop's settings, which are serialized in each micro-batch for each operator with state.
 *
 * <p>With each setting Hadoop keeps the files that it comes from, and compresses their names, those of a thousand settings
 * one by one. Nobody asks a task for them.
 */
final class SentSettings {
    private SentSettings() {}

    /** Forgets where the settings come from, where this Hadoop keeps it as the one that is known. */
    static void forgetSources(Configuration settings) {
        try {
            Field sources = Configuration.class.getDeclaredField("updatingResource");
            sources.setAccessible(true);
            ((Map<?, ?>) sources.get(settings)).clear();
        } catch (ReflectiveOperationException e) {
            // sent with them, as they would be without this
        }
    }
}
