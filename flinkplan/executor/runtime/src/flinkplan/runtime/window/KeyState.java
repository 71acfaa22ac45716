package flinkplan.runtime.window;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** All that is kept of one key while its rows are worked on. */
final class KeyState {
    /** A time at which something is to be done for a window. */
    record Timer(long time, Window window) implements Comparable<Timer> {
        @Override
        public int compareTo(Timer other) {
            return time != other.time ? Long.compare(time, other.time) : window.compareTo(other.window);
        }
    }

    /** A number that is kept, and when it was written. */
    static final class Counter {
        long count;
        long writtenAt;

        Counter(long count, long writtenAt) {
            this.count = count;
            this.writtenAt = writtenAt;
        }
    }

    /** What a trigger keeps, and when it was written. */
    static final class Kept {
        final TriggerState state;
        long writtenAt;

        Kept(TriggerState state, long writtenAt) {
            this.state = state;
            this.writtenAt = writtenAt;
        }
    }

    /** Contents by window; of windows that merge, by the one that stands for them in the state. */
    final Map<Window, Contents> contents = new LinkedHashMap<>();

    /** Of windows that merge, the one whose contents each has. */
    final TreeMap<Window, Window> merged = new TreeMap<>();

    long mergedAt;

    final Map<Window, Kept> triggers = new LinkedHashMap<>();
    final TreeSet<Timer> eventTimers = new TreeSet<>();
    final TreeSet<Timer> clockTimers = new TreeSet<>();
    final Map<Window, Counter> firings = new LinkedHashMap<>();
    Counter keyFirings;

    /** The lateness by which timers for the end of windows are set. */
    long lateness;

    /** The watermark that the key has seen. */
    long watermark = Long.MIN_VALUE;

    /** The time for which the state store is to call back; {@link Long#MAX_VALUE}: none. */
    long scheduled = Long.MAX_VALUE;

    /** Drops what is older than its TTL, as if it had never been written; but for contents. */
    void forgetExpired(Ttls ttls, long now) {
        if (Ttls.isOver(mergedAt, ttls.merged(), now)) {
            merged.clear();
        }
        triggers.values().removeIf(kept -> Ttls.isOver(kept.writtenAt, ttls.trigger(), now));
        firings.values().removeIf(counter -> Ttls.isOver(counter.writtenAt, ttls.windowState(), now));
        if (keyFirings != null && Ttls.isOver(keyFirings.writtenAt, ttls.globalState(), now)) {
            keyFirings = null;
        }
    }

    boolean isEmpty() {
        return contents.isEmpty()
                && merged.isEmpty()
                && triggers.isEmpty()
                && eventTimers.isEmpty()
                && clockTimers.isEmpty()
                && firings.isEmpty()
                && keyFirings == null;
    }
}
