package flinkplan.runtime.jdbc;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.math.BigDecimal;
import java.sql.Date;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Time;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What must hold of the rows that a database is asked for. Source: Flink's {@code
 * JdbcFilterPushdownPreparedStatementVisitor}.
 *
 * @param text conditions between AND, with parameters for constants; empty: there are none
 */
record JdbcFilter(String text, List<Constant> constants) implements Serializable {
    private static final Set<String> BETWEEN = Set.of("=", "<", "<=", ">", ">=", "<>", "AND", "OR", "LIKE");
    private static final Set<String> BEHIND = Set.of("IS NULL", "IS NOT NULL");

    /** A constant as it is written, of a type of Flink's. */
    private record Constant(String type, String value) implements Serializable {

        void set(PreparedStatement statement, int at) throws SQLException {
            switch (type) {
                case "BOOLEAN" -> statement.setBoolean(at, Boolean.parseBoolean(value));
                case "TINYINT", "SMALLINT", "INT" -> statement.setInt(at, Integer.parseInt(value));
                case "BIGINT" -> statement.setLong(at, Long.parseLong(value));
                case "FLOAT", "DOUBLE" -> statement.setDouble(at, Double.parseDouble(value));
                case "DECIMAL" -> statement.setBigDecimal(at, new BigDecimal(value));
                case "CHAR", "VARCHAR" -> statement.setString(at, value);
                case "DATE" -> statement.setDate(at, Date.valueOf(value));
                case "TIME" -> statement.setTime(at, Time.valueOf(value));
                case "TIMESTAMP" -> statement.setTimestamp(at, Timestamp.valueOf(value));
                default -> throw new IllegalArgumentException("no database has constants of the type " + type);
            }
        }
    }

    /** Reads a list of {@code {"operator", "operands": […]}}, {@code {"column"}} and {@code {"type", "value"}}. */
    static JdbcFilter of(JsonNode json) {
        List<Constant> constants = new ArrayList<>();
        List<String> parts = new ArrayList<>();
        json.forEach(part -> parts.add(text(part, constants)));
        return new JdbcFilter(String.join(" AND ", parts), constants);
    }

    private static String text(JsonNode json, List<Constant> constants) {
        if (json.has("column")) {
            return JdbcTable.quoted(json.get("column").asText());
        }
        if (json.has("type")) {
            constants.add(new Constant(json.get("type").asText(), json.get("value").asText()));
            return "?";
        }
        String operator = json.get("operator").asText();
        String left = text(json.get("operands").get(0), constants);
        if (BEHIND.contains(operator)) {
            return "(" + left + " " + operator + ")";
        }
        if (!BETWEEN.contains(operator)) {
            throw new IllegalArgumentException("no database is asked for " + operator);
        }
        String right = text(json.get("operands").get(1), constants);
        String escape = operator.equals("LIKE") && json.get("operands").size() > 2
                ? " ESCAPE " + text(json.get("operands").get(2), constants)
                : "";
        return "(" + left + " " + operator + " " + right + escape + ")";
    }

    /** The clause of a condition, which may be empty, and of a filter. */
    static String where(String condition, JdbcFilter filter) {
        String both = Stream.of(condition, filter.text)
                .filter(part -> !part.isEmpty())
                .collect(Collectors.joining(" AND "));
        return both.isEmpty() ? "" : " WHERE " + both;
    }

    /** Sets the parameters, of which the first is {@code at}; the one behind the last. */
    int set(PreparedStatement statement, int at) throws SQLException {
        for (Constant constant : constants) {
            constant.set(statement, at++);
        }
        return at;
    }
}
