package flinkplan.runtime.window;

import java.io.Serializable;
import java.util.List;

/**
 * Takes rows out of a window before or after its function.
 *
 * <p>The nested class {@code Count} implements a plan's {@code CountEvictor}, and so on; it is constructed with the fields of
 * the plan's evictor, and last whether it evicts after the function.
 */
public abstract class Evictor implements Serializable {
    private final boolean after;

    Evictor(boolean after) {
        this.after = after;
    }

    abstract void evict(List<Element> elements);

    final void before(List<Element> elements) {
        if (!after) {
            evict(elements);
        }
    }

    final void after(List<Element> elements) {
        if (after) {
            evict(elements);
        }
    }

    /** Keeps the last rows to arrive. */
    public static final class Count extends Evictor {
        private final long count;

        public Count(long count, boolean after) {
            super(after);
            this.count = count;
        }

        @Override
        void evict(List<Element> elements) {
            if (elements.size() > count) {
                elements.subList(0, (int) (elements.size() - count)).clear();
            }
        }
    }

    /** Keeps the rows that are less than {@code size} before the latest one. */
    public static final class Time extends Evictor {
        private final long size;

        public Time(long size, boolean after) {
            super(after);
            this.size = size;
        }

        @Override
        void evict(List<Element> elements) {
            if (elements.isEmpty() || elements.get(0).time() == Long.MIN_VALUE) {
                return; // rows without times
            }
            long latest = elements.stream().mapToLong(Element::time).max().getAsLong();
            elements.removeIf(element -> element.time() <= latest - size);
        }
    }

    /** Keeps the rows whose delta to the last one to arrive is below the threshold. */
    public static final class Delta extends Evictor {
        private final PairFunction delta;
        private final double threshold;

        public Delta(double threshold, PairFunction delta, boolean after) {
            super(after);
            this.delta = delta;
            this.threshold = threshold;
        }

        @Override
        void evict(List<Element> elements) {
            if (!elements.isEmpty()) {
                Element last = elements.get(elements.size() - 1);
                elements.removeIf(element -> delta.number(element.row(), last.row()) >= threshold);
            }
        }
    }
}
