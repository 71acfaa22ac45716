package flinkplan.runtime.window;

/** The times from {@code start} to {@code end}, without the latter; {@link #GLOBAL} has neither. */
public record Window(long start, long end) implements Comparable<Window> {
    static final Window GLOBAL = new Window(Long.MIN_VALUE, Long.MAX_VALUE);

    boolean isGlobal() {
        return end == Long.MAX_VALUE;
    }

    /** The last millisecond. */
    long maxTimestamp() {
        return isGlobal() ? Long.MAX_VALUE : end - 1;
    }

    /** Whether the windows overlap or touch. */
    boolean intersects(Window other) {
        return start <= other.end && end >= other.start;
    }

    @Override
    public int compareTo(Window other) {
        return start != other.start ? Long.compare(start, other.start) : Long.compare(end, other.end);
    }

    Window cover(Window other) {
        return new Window(Math.min(start, other.start), Math.max(end, other.end));
    }

    /** As Flink's, which decides in which order sessions are joined. */
    @Override
    public int hashCode() {
        long bits = start + end;
        bits = (bits ^ (bits >>> 30)) * 0xbf58476d1ce4e5b9L;
        bits = (bits ^ (bits >>> 27)) * 0x94d049bb133111ebL;
        return (int) (bits ^ (bits >>> 31));
    }
}
