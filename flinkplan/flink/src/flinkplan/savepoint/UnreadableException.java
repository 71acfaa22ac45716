package flinkplan.savepoint;

import java.io.IOException;

/** Something in a savepoint that is not decoded. */
final class UnreadableException extends IOException {
    private static final long serialVersionUID = 1L;

    UnreadableException(String message) {
        super(message);
    }
}
