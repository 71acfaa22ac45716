package flinkplan.runtime.window;

import java.io.Serializable;

/** How long, in milliseconds, each state is kept after it was written last; 0: for ever. */
public record Ttls(long contents, long merged, long trigger, long windowState, long globalState)
        implements Serializable {
    /** The longest TTL of the states that are kept; {@code merges}, {@code counts}: whether windows and firings are. */
    long longest(boolean merges, boolean counts) {
        long[] used = {
            contents,
            merges ? merged : contents,
            trigger,
            counts ? windowState : contents,
            counts ? globalState : contents
        };
        long longest = 0;
        for (long ttl : used) {
            if (ttl == 0) {
                return 0;
            }
            longest = Math.max(longest, ttl);
        }
        return longest;
    }

    static boolean isOver(long writtenAt, long ttl, long now) {
        return ttl > 0 && writtenAt + ttl <= now;
    }
}
