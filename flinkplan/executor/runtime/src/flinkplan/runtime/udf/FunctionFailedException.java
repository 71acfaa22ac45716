package flinkplan.runtime.udf;

/** A function of the user has raised an exception. */
public final class FunctionFailedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public FunctionFailedException(String message, Throwable cause) {
        super(message, cause);
    }
}
