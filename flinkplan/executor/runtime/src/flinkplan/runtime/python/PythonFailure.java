package flinkplan.runtime.python;

/** A function in Python has failed; the message is what Python says. */
final class PythonFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    PythonFailure(String message) {
        super(message);
    }
}
