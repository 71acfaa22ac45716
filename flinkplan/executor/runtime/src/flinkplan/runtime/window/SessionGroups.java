package flinkplan.runtime.window;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/** Groups the rows of a key, which come in the order of their times, to sessions. */
final class SessionGroups {
    private final BiConsumer<Window, List<Element>> out;
    private Window session;
    private List<Element> rows;

    /** @param out is handed each session and its rows */
    SessionGroups(BiConsumer<Window, List<Element>> out) {
        this.out = out;
    }

    /** Adds a row, with the window that is its own. */
    void add(Window own, Element element) {
        if (session != null && session.intersects(own)) {
            session = session.cover(own);
        } else {
            end();
            session = own;
            rows = new ArrayList<>();
        }
        rows.add(element);
    }

    /** Says that there are no more. */
    void end() {
        if (session != null) {
            out.accept(session, rows);
        }
    }
}
