package flinkplan.runtime.format;

/** Finds the ends of messages that are not just lines; it goes over their bytes once and in order. */
public interface Records {

    /** Starts on a message. */
    void begin();

    /**
     * Goes on through the bytes {@code [at, to)} of a message that begins at {@code from}.
     *
     * @return the place of the line feed or carriage return that ends the message, or -1 where it goes on
     */
    int end(byte[] buffer, int from, int at, int to);
}
