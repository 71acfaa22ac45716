package flinkplan.runtime.jdbc;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import flinkplan.runtime.format.FlinkType;
import flinkplan.runtime.lookup.Lookup;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * Asks a table of a database for the rows of keys, several at once: by a union of the queries of each, so that only the
 * database says which values are equal.
 *
 * @param filter what must hold of the rows beside
 * @param keys the columns of the key, by their places among those that are read
 * @param retries how often a query is tried again
 */
public record JdbcLookup(JdbcTable table, JdbcFilter filter, List<Integer> keys, int retries) implements Lookup {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final int KEYS_AT_ONCE = 32;

    /** Reads what {@link JdbcTable#of} does, and {@code {"filters", "keys", "retries"}}. */
    public static JdbcLookup of(String json) throws JsonProcessingException {
        JsonNode spec = MAPPER.readTree(json);
        List<Integer> keys = new ArrayList<>();
        spec.get("keys").forEach(key -> keys.add(key.asInt()));
        JdbcFilter filter = JdbcFilter.of(spec.get("filters"));
        return new JdbcLookup(JdbcTable.of(spec), filter, keys, spec.get("retries").asInt());
    }

    private FlinkType keyType(int index) {
        return table.type().child(keys.get(index));
    }

    @Override
    public Object identity(InternalRow key) {
        return IntStream.range(0, keys.size())
                .mapToObj(i -> JdbcValues.comparable(key, i, keyType(i)))
                .toList();
    }

    @Override
    public Session open() {
        return new Asking();
    }

    private String query(int count) {
        String columns = JdbcTable.quoted(table.type().names());
        String equal = keys.stream()
                .map(key -> JdbcTable.quoted(table.type().names().get(key)) + " = ?")
                .collect(Collectors.joining(" AND "));
        String rows = columns + " FROM " + table.quotedName() + JdbcFilter.where(equal, filter);
        return IntStream.range(0, count)
                .mapToObj(i -> "SELECT " + i + ", " + rows)
                .collect(Collectors.joining(" UNION ALL "));
    }

    /** The connection of one task. */
    private final class Asking implements Session {
        private Connection connection;

        @Override
        public List<List<InternalRow>> rows(List<InternalRow> asked) throws IOException {
            List<List<InternalRow>> matches = new ArrayList<>();
            for (int start = 0; start < asked.size(); start += KEYS_AT_ONCE) {
                matches.addAll(answered(asked.subList(start, Math.min(start + KEYS_AT_ONCE, asked.size()))));
            }
            return matches;
        }

        private List<List<InternalRow>> answered(List<InternalRow> asked) throws IOException {
            for (int attempt = 0; ; attempt++) {
                try {
                    return query(asked);
                } catch (SQLException e) {
                    if (attempt >= retries) {
                        throw table.failed("looked up", e);
                    }
                    reconnect();
                    JdbcTable.pause(attempt);
                }
            }
        }

        private List<List<InternalRow>> query(List<InternalRow> asked) throws SQLException {
            if (connection == null) {
                connection = table.connect();
            }
            List<List<InternalRow>> matches = new ArrayList<>();
            asked.forEach(key -> matches.add(new ArrayList<>()));
            try (PreparedStatement statement = connection.prepareStatement(JdbcLookup.this.query(asked.size()))) {
                int parameter = 1;
                for (InternalRow key : asked) {
                    for (int i = 0; i < keys.size(); i++) {
                        JdbcValues.write(statement, parameter++, key, i, keyType(i));
                    }
                    parameter = filter.set(statement, parameter);
                }
                try (ResultSet rows = statement.executeQuery()) {
                    while (rows.next()) {
                        matches.get(rows.getInt(1)).add(row(rows));
                    }
                }
            }
            return matches;
        }

        private InternalRow row(ResultSet rows) throws SQLException {
            FlinkType type = table.type();
            Object[] values = new Object[type.size()];
            for (int i = 0; i < values.length; i++) {
                values[i] = JdbcValues.read(rows, i + 2, type.child(i));
            }
            return new GenericInternalRow(values);
        }

        private void reconnect() throws IOException {
            try {
                if (connection != null && !connection.isValid(1)) {
                    Connection broken = connection;
                    connection = null;
                    broken.close();
                }
            } catch (SQLException e) {
                throw table.failed("looked up", e);
            }
        }

        @Override
        public void close() throws IOException {
            try {
                if (connection != null) {
                    connection.close();
                }
            } catch (SQLException e) {
                throw table.failed("looked up", e);
            }
        }
    }
}
