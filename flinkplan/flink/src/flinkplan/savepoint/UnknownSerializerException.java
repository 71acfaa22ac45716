package flinkplan.savepoint;

import java.io.IOException;
import java.io.InvalidClassException;

/** A serializer that is not known, so that nothing behind its snapshot can be read. */
final class UnknownSerializerException extends IOException {
    private static final long serialVersionUID = 1L;

    final String serializer;

    private UnknownSerializerException(String serializer, IOException cause) {
        super(cause.getMessage(), cause);
        this.serializer = serializer;
    }

    /** What went wrong as such an exception where a class is missing, else as it is. */
    static IOException of(IOException error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof ClassNotFoundException) {
                return new UnknownSerializerException(cause.getMessage(), error);
            }
            if (cause instanceof InvalidClassException invalid && invalid.classname != null) {
                return new UnknownSerializerException(invalid.classname, error);
            }
        }
        return error;
    }
}
