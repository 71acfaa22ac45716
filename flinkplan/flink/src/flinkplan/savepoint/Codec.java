package flinkplan.savepoint;

import java.io.IOException;
import java.util.List;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * How the values of a serializer are read and what they are in a table.
 *
 * <p>Values come in the form that the serializer reads, which is Flink's internal one for those of SQL.
 */
abstract class Codec {
    /** A field of a row. */
    record Field(String name, Codec codec) {}

    /** The type as SQL writes it. */
    abstract String type();

    /** A column for values. */
    abstract Vector vector();

    /** Reads a value. */
    abstract Object read(DataInputView in) throws IOException;

    /** Appends a value, which may be null, to a column of {@link #vector()}. */
    abstract void append(Object value, Vector column) throws IOException;

    /** Writes a value. */
    abstract void write(Object value, DataOutputView out) throws IOException;

    /** The value of a row of a column, null for NULL, in the form in which {@link #write} takes it. */
    final Object value(Vector column, int row) throws IOException {
        return column.isNull(row) ? null : present(column, row);
    }

    /** The value of a row that is not NULL. */
    abstract Object present(Vector column, int row) throws IOException;

    /** The fields of a row; none for another value. */
    List<Field> fields() {
        return List.of();
    }

    /** Whether the value is a row, which may have no field. */
    boolean isRow() {
        return false;
    }

    /** The serializer whose bytes are carried as they are; empty where values are decoded. */
    String opaque() {
        return "";
    }
}
