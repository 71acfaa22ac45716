package flinkplan.runtime.window;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * Which windows a row belongs to.
 *
 * <p>The nested class {@code Tumbling} implements a plan's assigners of the kind {@code tumbling}, and so on; it is constructed
 * with the fields of the plan's assigner and whether windows end by event time.
 */
public abstract class Assigner implements Serializable {
    private final boolean eventTime;

    Assigner(boolean eventTime) {
        this.eventTime = eventTime;
    }

    final boolean eventTime() {
        return eventTime;
    }

    boolean merges() {
        return false;
    }

    /** The windows of a row of this time, in Flink's order; {@code gap}: the row's own. */
    abstract List<Window> assign(long time, long gap);

    private static long start(long time, long step, long offset) {
        return time - Math.floorMod(time - offset, step);
    }

    /** Windows of one size, side by side. */
    public static final class Tumbling extends Assigner {
        private final long size;
        private final long offset;

        public Tumbling(long size, long offset, boolean eventTime) {
            super(eventTime);
            this.size = size;
            this.offset = offset;
        }

        @Override
        List<Window> assign(long time, long gap) {
            long start = start(time, size, offset);
            return List.of(new Window(start, start + size));
        }
    }

    /** Windows of one size, a new one each slide. */
    public static final class Sliding extends Assigner {
        private final long size;
        private final long slide;
        private final long offset;

        public Sliding(long size, long slide, long offset, boolean eventTime) {
            super(eventTime);
            this.size = size;
            this.slide = slide;
            this.offset = offset;
        }

        @Override
        List<Window> assign(long time, long gap) {
            List<Window> windows = new ArrayList<>();
            for (long start = start(time, slide, offset); start > time - size; start -= slide) {
                windows.add(new Window(start, start + size));
            }
            return windows;
        }
    }

    /** Windows that end when no row came for the gap, which each row brings along. */
    public static final class Session extends Assigner {
        public Session(boolean eventTime) {
            super(eventTime);
        }

        @Override
        boolean merges() {
            return true;
        }

        @Override
        List<Window> assign(long time, long gap) {
            if (gap <= 0) {
                throw new IllegalArgumentException("Dynamic session time gap must satisfy 0 < gap");
            }
            return List.of(new Window(time, time + gap));
        }
    }

    /** All rows of a key in one window. */
    public static final class Global extends Assigner {
        public Global(boolean eventTime) {
            super(eventTime);
        }

        @Override
        List<Window> assign(long time, long gap) {
            return List.of(Window.GLOBAL);
        }
    }
}
