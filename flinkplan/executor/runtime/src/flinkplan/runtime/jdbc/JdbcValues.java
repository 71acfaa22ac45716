package flinkplan.runtime.jdbc;

import flinkplan.runtime.format.FlinkType;
import flinkplan.runtime.functions.LoneSurrogates;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.sql.Date;
import java.sql.JDBCType;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/** Values of databases and those that Spark holds inside. */
final class JdbcValues {
    private static final long MICROS = 1_000_000, NANOS_PER_MICRO = 1000, NANOS_PER_MILLI = 1_000_000;

    private JdbcValues() {}

    /** The value of a column, counted from 1. */
    static Object read(ResultSet row, int column, FlinkType type) throws SQLException {
        Object value =
                switch (type.root()) {
                    case "BOOLEAN" -> row.getBoolean(column);
                    case "TINYINT" -> row.getByte(column);
                    case "SMALLINT" -> row.getShort(column);
                    case "INT" -> row.getInt(column);
                    case "BIGINT" -> row.getLong(column);
                    case "FLOAT" -> row.getFloat(column);
                    case "DOUBLE" -> row.getDouble(column);
                    case "DECIMAL" -> decimal(row.getBigDecimal(column), type);
                    case "CHAR", "VARCHAR" -> text(row.getString(column));
                    case "BINARY", "VARBINARY" -> row.getBytes(column);
                    case "DATE" -> date(row.getDate(column));
                    case "TIME" -> time(row.getTime(column));
                    case "TIMESTAMP" -> timestamp(row.getTimestamp(column));
                    default -> throw new IllegalArgumentException("no database has values of the type " + type.root());
                };
        return row.wasNull() ? null : value;
    }

    private static Decimal decimal(BigDecimal value, FlinkType type) {
        return value == null
                ? null
                : Decimal.apply(new scala.math.BigDecimal(value), type.precision(), type.scale());
    }

    private static UTF8String text(String value) {
        return value == null ? null : LoneSurrogates.encode(value);
    }

    private static Integer date(Date value) {
        return value == null ? null : (int) value.toLocalDate().toEpochDay();
    }

    private static Integer time(Time value) {
        return value == null ? null : (int) (value.toLocalTime().toNanoOfDay() / NANOS_PER_MILLI);
    }

    private static Long timestamp(Timestamp value) {
        if (value == null) {
            return null;
        }
        LocalDateTime time = value.toLocalDateTime();
        return time.toEpochSecond(ZoneOffset.UTC) * MICROS + time.getNano() / NANOS_PER_MICRO;
    }

    /** Sets the parameter {@code at}, counted from 1, to the value of a column, counted from 0. */
    static void write(PreparedStatement statement, int at, InternalRow row, int column, FlinkType type)
            throws SQLException {
        if (row.isNullAt(column)) {
            statement.setNull(at, sqlType(type).getVendorTypeNumber());
            return;
        }
        switch (type.root()) {
            case "BOOLEAN" -> statement.setBoolean(at, row.getBoolean(column));
            case "TINYINT" -> statement.setByte(at, row.getByte(column));
            case "SMALLINT" -> statement.setShort(at, row.getShort(column));
            case "INT" -> statement.setInt(at, row.getInt(column));
            case "BIGINT" -> statement.setLong(at, row.getLong(column));
            case "FLOAT" -> statement.setFloat(at, row.getFloat(column));
            case "DOUBLE" -> statement.setDouble(at, row.getDouble(column));
            case "DECIMAL" -> statement.setBigDecimal(
                    at, row.getDecimal(column, type.precision(), type.scale()).toJavaBigDecimal());
            case "CHAR", "VARCHAR" -> statement.setString(at, LoneSurrogates.decode(row.getUTF8String(column)));
            case "BINARY", "VARBINARY" -> statement.setBytes(at, row.getBinary(column));
            case "DATE" -> statement.setDate(at, Date.valueOf(LocalDate.ofEpochDay(row.getInt(column))));
            case "TIME" -> statement.setTime(
                    at, Time.valueOf(LocalTime.ofNanoOfDay(row.getInt(column) * NANOS_PER_MILLI)));
            case "TIMESTAMP" -> statement.setTimestamp(
                    at, Timestamp.valueOf(LocalDateTime.of(1970, 1, 1, 0, 0)
                            .plus(row.getLong(column), ChronoUnit.MICROS)));
            default -> throw new IllegalArgumentException("no database has values of the type " + type.root());
        }
    }

    /** The value of a column of a key, which equals that of another row where the database says so. */
    static Object comparable(InternalRow row, int column, FlinkType type) {
        if (row.isNullAt(column)) {
            return JDBCType.NULL;
        }
        return switch (type.root()) {
            case "BOOLEAN" -> row.getBoolean(column);
            case "TINYINT" -> row.getByte(column);
            case "SMALLINT" -> row.getShort(column);
            case "INT", "DATE", "TIME" -> row.getInt(column);
            case "BIGINT", "TIMESTAMP" -> row.getLong(column);
            case "FLOAT" -> row.getFloat(column);
            case "DOUBLE" -> row.getDouble(column);
            case "DECIMAL" -> row.getDecimal(column, type.precision(), type.scale());
            case "BINARY", "VARBINARY" -> ByteBuffer.wrap(row.getBinary(column));
            default -> row.getUTF8String(column);
        };
    }

    private static JDBCType sqlType(FlinkType type) {
        return switch (type.root()) {
            case "INT" -> JDBCType.INTEGER;
            case "FLOAT" -> JDBCType.REAL;
            default -> JDBCType.valueOf(type.root());
        };
    }
}
