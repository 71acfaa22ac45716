package flinkplan.runtime.window;

import java.io.Serializable;

/** How long, in milliseconds, each state is kept after it was written last; 0: for ever. */
public record Ttls(long contents, long merged, long trigger, long windowState, long globalState)
        implements Serializable {
    static boolean isOver(long writtenAt, long ttl, long now) {
        return ttl > 0 && writtenAt + ttl <= now;
    }
}
