package flinkplan.runtime.join;

/** What is emitted of rows and their matches. */
public enum JoinKind {
    INNER,
    LEFT,
    RIGHT,
    FULL,
    SEMI,
    ANTI;

    /** Whether rows are emitted together with their matches, not alone. */
    public boolean pairs() {
        return this != SEMI && this != ANTI;
    }

    /** Whether left rows without a match are emitted, padded. */
    public boolean keepsLeft() {
        return this == LEFT || this == FULL;
    }

    /** Whether right rows are. */
    public boolean keepsRight() {
        return this == RIGHT || this == FULL;
    }
}
