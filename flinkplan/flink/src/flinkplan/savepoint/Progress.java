package flinkplan.savepoint;

/** Says on standard output how many entries have been read or written, a number a line. */
final class Progress {
    private static long entries;

    private Progress() {}

    /** So many entries more. */
    static void add(int more) {
        entries += more;
        System.out.println(entries);
    }
}
