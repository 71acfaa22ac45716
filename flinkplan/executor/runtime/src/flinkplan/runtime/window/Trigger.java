package flinkplan.runtime.window;

import java.io.Serializable;
import java.util.Collection;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Decides when a window is handed to its function.
 *
 * <p>The nested class {@code Count} implements a plan's {@code CountTrigger}, and so on; it is constructed with the fields of
 * the plan's trigger, and with the number of a slot if it keeps a number in each window.  Each trigger has a slot of its
 * own, so that triggers can be nested.
 */
public abstract class Trigger implements Serializable {
    static final int CONTINUE = 0;
    static final int FIRE = 1;
    static final int PURGE = 2;

    /** What a trigger knows, and can do, about the window that it is asked about. */
    interface Context {
        long watermark();

        long clock();

        void registerEventTimer(Window window, long time);

        void deleteEventTimer(Window window, long time);

        void registerClockTimer(Window window, long time);

        void deleteClockTimer(Window window, long time);

        /** What the trigger keeps of a window, to be changed. */
        TriggerState state(Window window);

        /** The same, null where there is none. */
        TriggerState existing(Window window);
    }

    /** Whether a window fires once, when the watermark reaches its end, whatever rows came before. */
    boolean firesAtEnd() {
        return false;
    }

    int onElement(InternalRow row, long time, Window window, Context context) {
        return CONTINUE;
    }

    int onEventTime(long time, Window window, Context context) {
        return CONTINUE;
    }

    int onClock(long time, Window window, Context context) {
        return CONTINUE;
    }

    /** Goes on in {@code window}, which takes the place of the others. */
    void onMerge(Window window, Collection<Window> merged, Context context) {}

    void clear(Window window, Context context) {}

    /** When the watermark reaches the window's end. */
    public static final class EventTime extends Trigger {
        @Override
        boolean firesAtEnd() {
            return true;
        }

        @Override
        int onElement(InternalRow row, long time, Window window, Context context) {
            if (window.maxTimestamp() <= context.watermark()) {
                return FIRE;
            }
            context.registerEventTimer(window, window.maxTimestamp());
            return CONTINUE;
        }

        @Override
        int onEventTime(long time, Window window, Context context) {
            return time == window.maxTimestamp() ? FIRE : CONTINUE;
        }

        @Override
        void onMerge(Window window, Collection<Window> merged, Context context) {
            if (window.maxTimestamp() > context.watermark()) {
                context.registerEventTimer(window, window.maxTimestamp());
            }
        }

        @Override
        void clear(Window window, Context context) {
            context.deleteEventTimer(window, window.maxTimestamp());
        }
    }

    /** When the clock reaches the window's end. */
    public static final class ProcessingTime extends Trigger {
        @Override
        int onElement(InternalRow row, long time, Window window, Context context) {
            context.registerClockTimer(window, window.maxTimestamp());
            return CONTINUE;
        }

        @Override
        int onClock(long time, Window window, Context context) {
            return FIRE;
        }

        @Override
        void onMerge(Window window, Collection<Window> merged, Context context) {
            if (window.maxTimestamp() > context.clock()) {
                context.registerClockTimer(window, window.maxTimestamp());
            }
        }

        @Override
        void clear(Window window, Context context) {
            context.deleteClockTimer(window, window.maxTimestamp());
        }
    }

    /** Never. */
    public static final class Never extends Trigger {}

    /** When all input has ended. */
    public static final class EndOfStream extends Trigger {
        @Override
        int onElement(InternalRow row, long time, Window window, Context context) {
            context.registerEventTimer(window, Long.MAX_VALUE);
            return CONTINUE;
        }

        @Override
        int onEventTime(long time, Window window, Context context) {
            return time == Long.MAX_VALUE ? FIRE : CONTINUE;
        }
    }

    /** After so many rows. */
    public static final class Count extends Trigger {
        private final long count;
        private final int slot;

        public Count(long count, int slot) {
            this.count = count;
            this.slot = slot;
        }

        @Override
        int onElement(InternalRow row, long time, Window window, Context context) {
            TriggerState state = context.state(window);
            long seen = state.has(slot) ? state.get(slot) + 1 : 1;
            if (seen >= count) {
                state.clear(slot);
                return FIRE;
            }
            state.set(slot, seen);
            return CONTINUE;
        }

        @Override
        void onMerge(Window window, Collection<Window> merged, Context context) {
            mergeSlots(slot, Long::sum, window, merged, context);
        }

        @Override
        void clear(Window window, Context context) {
            clearSlot(slot, window, context);
        }
    }

    /** At each interval of event time, and at the window's end. */
    public static final class ContinuousEventTime extends Continuous {
        public ContinuousEventTime(long interval, int slot) {
            super(interval, true, slot);
        }
    }

    /** At each interval of the clock, and at the window's end. */
    public static final class ContinuousProcessingTime extends Continuous {
        public ContinuousProcessingTime(long interval, int slot) {
            super(interval, false, slot);
        }
    }

    private abstract static class Continuous extends Trigger {
        private final long interval;
        private final boolean eventTime;
        private final int slot;

        Continuous(long interval, boolean eventTime, int slot) {
            this.interval = interval;
            this.eventTime = eventTime;
            this.slot = slot;
        }

        @Override
        int onElement(InternalRow row, long time, Window window, Context context) {
            if (eventTime) {
                if (window.maxTimestamp() <= context.watermark()) {
                    return FIRE;
                }
                context.registerEventTimer(window, window.maxTimestamp());
            }
            if (!context.state(window).has(slot)) {
                long now = eventTime ? time : context.clock();
                registerNext(now - now % interval, window, context);
            }
            return CONTINUE;
        }

        @Override
        int onEventTime(long time, Window window, Context context) {
            return eventTime ? onTime(time, window, context) : CONTINUE;
        }

        @Override
        int onClock(long time, Window window, Context context) {
            return eventTime ? CONTINUE : onTime(time, window, context);
        }

        private int onTime(long time, Window window, Context context) {
            if (time == window.maxTimestamp()) {
                return FIRE;
            }
            TriggerState state = context.state(window);
            if (state.has(slot) && state.get(slot) == time) {
                state.clear(slot);
                boolean endless = eventTime && window.isGlobal() && context.watermark() == Long.MAX_VALUE;
                if (!endless) { // input has ended, and the window never will: one last firing
                    registerNext(time, window, context);
                }
                return FIRE;
            }
            return CONTINUE;
        }

        private void registerNext(long time, Window window, Context context) {
            long next = Math.min(time + interval, window.maxTimestamp());
            TriggerState state = context.state(window);
            state.set(slot, state.has(slot) ? Math.min(state.get(slot), next) : next);
            register(window, next, context);
        }

        private void register(Window window, long time, Context context) {
            if (eventTime) {
                context.registerEventTimer(window, time);
            } else {
                context.registerClockTimer(window, time);
            }
        }

        @Override
        void onMerge(Window window, Collection<Window> merged, Context context) {
            mergeSlots(slot, Math::min, window, merged, context);
            TriggerState state = context.existing(window);
            if (state != null && state.has(slot)) {
                register(window, state.get(slot), context);
            }
        }

        @Override
        void clear(Window window, Context context) {
            TriggerState state = context.existing(window);
            if (state != null && state.has(slot)) {
                if (eventTime) {
                    context.deleteEventTimer(window, state.get(slot));
                } else {
                    context.deleteClockTimer(window, state.get(slot));
                }
                state.clear(slot);
            }
        }
    }

    /** When a row differs by more than the threshold from that of the last firing. */
    public static final class Delta extends Trigger {
        private final PairFunction delta;
        private final double threshold;

        public Delta(double threshold, PairFunction delta) {
            this.delta = delta;
            this.threshold = threshold;
        }

        @Override
        int onElement(InternalRow row, long time, Window window, Context context) {
            TriggerState state = context.state(window);
            if (state.row() == null) {
                state.setRow(row);
                return CONTINUE;
            }
            if (delta.number(state.row(), row) > threshold) {
                state.setRow(row);
                return FIRE;
            }
            return CONTINUE;
        }

        @Override
        void clear(Window window, Context context) {
            TriggerState state = context.existing(window);
            if (state != null) {
                state.setRow(null);
            }
        }
    }

    /** As another one, whose firings drop the window's rows. */
    public static final class Purging extends Trigger {
        private final Trigger nested;

        public Purging(Trigger nested) {
            this.nested = nested;
        }

        @Override
        int onElement(InternalRow row, long time, Window window, Context context) {
            return purging(nested.onElement(row, time, window, context));
        }

        @Override
        int onEventTime(long time, Window window, Context context) {
            return purging(nested.onEventTime(time, window, context));
        }

        @Override
        int onClock(long time, Window window, Context context) {
            return purging(nested.onClock(time, window, context));
        }

        private static int purging(int result) {
            return (result & FIRE) != 0 ? FIRE | PURGE : result;
        }

        @Override
        void onMerge(Window window, Collection<Window> merged, Context context) {
            nested.onMerge(window, merged, context);
        }

        @Override
        void clear(Window window, Context context) {
            nested.clear(window, context);
        }
    }

    /** As another one, and when some time has passed by the clock. */
    public static final class ProcessingTimeout extends Trigger {
        private final Trigger nested;
        private final long interval;
        private final boolean resets;
        private final boolean clears;
        private final int slot;

        public ProcessingTimeout(Trigger nested, long interval, boolean resets, boolean clears, int slot) {
            this.nested = nested;
            this.interval = interval;
            this.resets = resets;
            this.clears = clears;
            this.slot = slot;
        }

        @Override
        int onElement(InternalRow row, long time, Window window, Context context) {
            int result = nested.onElement(row, time, window, context);
            if ((result & FIRE) != 0) {
                clear(window, context);
                return result;
            }
            TriggerState state = context.state(window);
            if (state.has(slot) && resets) {
                context.deleteClockTimer(window, state.get(slot));
                state.clear(slot);
            }
            if (!state.has(slot)) {
                state.set(slot, context.clock() + interval);
                context.registerClockTimer(window, state.get(slot));
            }
            return result;
        }

        @Override
        int onEventTime(long time, Window window, Context context) {
            return fired(nested.onEventTime(time, window, context), window, context);
        }

        @Override
        int onClock(long time, Window window, Context context) {
            return fired(nested.onClock(time, window, context), window, context);
        }

        private int fired(int result, Window window, Context context) {
            if (clears) {
                clear(window, context);
            }
            return FIRE | (result & PURGE);
        }

        @Override
        void clear(Window window, Context context) {
            TriggerState state = context.existing(window);
            if (state != null && state.has(slot)) {
                context.deleteClockTimer(window, state.get(slot));
                state.clear(slot);
            }
            nested.clear(window, context);
        }
    }

    private static void clearSlot(int slot, Window window, Context context) {
        TriggerState state = context.existing(window);
        if (state != null) {
            state.clear(slot);
        }
    }

    private static void mergeSlots(
            int slot,
            java.util.function.LongBinaryOperator merge,
            Window window,
            Collection<Window> merged,
            Context context) {
        for (Window other : merged) {
            TriggerState from = context.existing(other);
            if (from != null && from.has(slot)) {
                long number = from.get(slot);
                from.clear(slot);
                TriggerState to = context.state(window);
                to.set(slot, to.has(slot) ? merge.applyAsLong(to.get(slot), number) : number);
            }
        }
    }
}
