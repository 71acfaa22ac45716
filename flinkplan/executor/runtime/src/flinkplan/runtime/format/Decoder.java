package flinkplan.runtime.format;

import java.io.IOException;
import java.io.Serializable;

/** Turns one message (a line of a file, or what {@link #records} finds) into rows. */
public interface Decoder extends Serializable {

    /** Takes the rows of a message. */
    interface Rows {
        /** {@code kind}: 0 +I, 1 -U, 2 +U, 3 -D; {@code values} as Spark holds them inside. */
        void add(byte kind, Object[] values);
    }

    byte INSERT = 0, UPDATE_BEFORE = 1, UPDATE_AFTER = 2, DELETE = 3;

    /**
     * Decodes the bytes {@code [from, to)} of {@code buffer}.
     *
     * @throws IOException where the message is malformed and the table does not ignore that
     */
    void decode(byte[] buffer, int from, int to, Rows rows) throws IOException;

    /** What cuts a file into messages; null where each line is one. */
    default Records records() {
        return null;
    }
}
