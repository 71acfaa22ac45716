package flinkplan.runtime.window;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * Which windows a row belongs to.
 *
 * @param kind tumbling, sliding, session or global
 * @param size of a window, or the gap of a session where rows have none of their own
 */
public record Assigner(String kind, long size, long slide, long offset, boolean eventTime) implements Serializable {
    boolean merges() {
        return kind.equals("session");
    }

    /** The windows of a row of this time, in Flink's order; {@code gap}: the row's own. */
    List<Window> assign(long time, long gap) {
        switch (kind) {
            case "global":
                return List.of(Window.GLOBAL);
            case "session":
                if (gap <= 0) {
                    throw new IllegalArgumentException("Dynamic session time gap must satisfy 0 < gap");
                }
                return List.of(new Window(time, time + gap));
            case "tumbling":
                long only = start(time, size);
                return List.of(new Window(only, only + size));
            default:
                List<Window> windows = new ArrayList<>();
                for (long start = start(time, slide); start > time - size; start -= slide) {
                    windows.add(new Window(start, start + size));
                }
                return windows;
        }
    }

    private long start(long time, long step) {
        return time - Math.floorMod(time - offset, step);
    }
}
