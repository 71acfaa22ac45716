package flinkplan.runtime.source;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/**
 * Where the stream of a table of several sources goes on with the last one.
 *
 * <p>Its sources say on the driver, when Spark asks them how far they can be read, that they have ended, and that the
 * last one begins; and ask whether they may. All of that stands in their offsets, so that they say it again after a
 * restart.
 */
public final class Switch implements BooleanSupplier {
    private static final Map<String, Switch> NAMED = new ConcurrentHashMap<>();

    private final String table;
    private final String name = UUID.randomUUID().toString();
    private final List<Switch> before = new ArrayList<>();
    private final Set<String> reading = ConcurrentHashMap.newKeySet();
    private volatile boolean isPassed;

    /** @param table what is waited for, for people */
    public Switch(String table) {
        this.table = table;
    }

    /** The one with this name, for a source in Java; once. */
    public static Switch named(String name) {
        return name == null ? null : NAMED.remove(name);
    }

    /** The name by which a source in Java finds it. */
    public String offer() {
        NAMED.put(name, this);
        return name;
    }

    /** What is waited for. */
    public String table() {
        return table;
    }

    /** Has another one be reached before. */
    public void follow(Switch other) {
        before.add(other);
    }

    /** Has a source be waited for that does not end with the first batch. */
    public void expect(String source) {
        reading.add(source);
    }

    /** Says that a source has ended with the batch that is planned. */
    public void end(String source) {
        reading.remove(source);
    }

    /** Whether all sources but the last one have ended. */
    public boolean isReached() {
        return reading.isEmpty() && before.stream().allMatch(Switch::isReached);
    }

    /** Says that the last source begins behind the batch that is planned, or has begun. */
    public void go() {
        isPassed = true;
    }

    /** Whether the last source has begun. */
    @Override
    public boolean getAsBoolean() {
        return isPassed;
    }
}
