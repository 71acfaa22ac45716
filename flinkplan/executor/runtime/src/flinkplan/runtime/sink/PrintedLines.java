package flinkplan.runtime.sink;

import java.io.PrintStream;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Lines of a task for a standard stream, which takes several at once where they come fast.
 *
 * <p>For each line that is printed by itself the JVM asks the operating system, which takes longer than making the line.
 * A line goes out at once unless another one has just gone; then it waits for others, though not for long.
 */
public final class PrintedLines {
    /** Characters that are printed together: in any encoding they come to 4,096 bytes, which a pipe takes as a whole. */
    private static final int MOST = 1365;

    private static final long LONGEST_WAIT = TimeUnit.MICROSECONDS.toNanos(200);

    private static final ScheduledExecutorService LATER = Executors.newSingleThreadScheduledExecutor(run -> {
        Thread thread = new Thread(run, "flinkplan-printed-lines");
        thread.setDaemon(true);
        return thread;
    });

    private final PrintStream out;
    private final StringBuilder lines = new StringBuilder();
    private long printed = System.nanoTime() - LONGEST_WAIT;
    private boolean isAwaited;

    public PrintedLines(PrintStream out) {
        this.out = out;
    }

    /** Takes a line without its end. */
    public synchronized void add(CharSequence line) {
        if (lines.length() + line.length() >= MOST) {
            print();
        }
        lines.append(line).append(System.lineSeparator());
        long waited = System.nanoTime() - printed;
        if (waited >= LONGEST_WAIT || lines.length() >= MOST) {
            print();
        } else if (!isAwaited) {
            isAwaited = true;
            LATER.schedule(this::printLate, LONGEST_WAIT - waited, TimeUnit.NANOSECONDS);
        }
    }

    private synchronized void printLate() {
        isAwaited = false;
        print();
    }

    /** Prints what is left. */
    public synchronized void print() {
        if (!lines.isEmpty()) {
            out.print(lines);
            lines.setLength(0);
            printed = System.nanoTime();
        }
    }
}
