package flinkplan.runtime.jdbc;

import com.fasterxml.jackson.databind.JsonNode;
import flinkplan.runtime.format.Decoder;
import flinkplan.runtime.format.FlinkType;
import java.io.IOException;
import java.io.Serializable;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Writes rows into a table, so many in a transaction: those of a table without a key are added; of a key the last one
 * counts.
 *
 * @param keys the indexes of the key's columns
 * @param intervalMs how long rows wait for others at the most; 0: until there are so many
 * @param retries how often a transaction is tried again
 */
public record JdbcWriter(JdbcTable table, List<Integer> keys, int rowsAtOnce, long intervalMs, int retries)
        implements Serializable {
    /** Reads what {@link JdbcTable#of} does, and {@code {"primaryKey", "rowsAtOnce", "intervalMs", "retries"}}. */
    public static JdbcWriter of(JsonNode json) {
        List<Integer> keys = new ArrayList<>();
        json.get("primaryKey").forEach(key -> keys.add(key.asInt()));
        int rows = Math.max(json.get("rowsAtOnce").asInt(), 1);
        return new JdbcWriter(
                JdbcTable.of(json),
                keys,
                rows,
                json.get("intervalMs").asLong(),
                json.get("retries").asInt());
    }

    record Change(byte kind, InternalRow row) {
        boolean deletes() {
            return kind == Decoder.DELETE || kind == Decoder.UPDATE_BEFORE;
        }
    }

    /** Begins on rows, whose kind stands behind the columns in a changelog. */
    public JdbcBuffer open(boolean changelog) {
        return new JdbcBuffer(this, changelog);
    }

    List<Object> key(InternalRow row) {
        FlinkType type = table.type();
        return keys.stream().map(key -> JdbcValues.comparable(row, key, type.child(key))).toList();
    }

    void flush(Collection<Change> changes) throws IOException {
        for (int attempt = 0; !changes.isEmpty(); attempt++) {
            try (Connection connection = table.connect()) {
                connection.setAutoCommit(false);
                try {
                    run(connection, changes);
                    connection.commit();
                    return;
                } catch (SQLException e) {
                    connection.rollback();
                    throw e;
                }
            } catch (SQLException e) {
                if (attempt >= retries) {
                    boolean isBatch = e instanceof BatchUpdateException && e.getNextException() != null;
                    throw table.failed("written", isBatch ? e.getNextException() : e);
                }
                JdbcTable.pause(attempt);
            }
        }
    }

    private void run(Connection connection, Collection<Change> changes) throws SQLException {
        List<Integer> all = IntStream.range(0, table.type().size()).boxed().toList();
        if (keys.isEmpty()) {
            execute(connection, insert(), all, changes);
            return;
        }
        List<Change> deleted = changes.stream().filter(Change::deletes).toList();
        List<Change> kept = changes.stream().filter(change -> !change.deletes()).toList();
        List<Integer> values = all.stream().filter(column -> !keys.contains(column)).toList();
        String delete = "DELETE FROM " + table.quotedName() + whereKey();
        execute(connection, delete, keys, values.isEmpty() ? changes : deleted);
        List<Change> added = values.isEmpty() ? kept : withoutRow(connection, values, kept);
        execute(connection, insert(), all, added);
    }

    /** Updates rows; those whose key has none yet. */
    private List<Change> withoutRow(Connection connection, List<Integer> values, List<Change> kept)
            throws SQLException {
        String set = values.stream().map(column -> name(column) + " = ?").collect(Collectors.joining(", "));
        List<Integer> parameters = new ArrayList<>(values);
        parameters.addAll(keys);
        String update = "UPDATE " + table.quotedName() + " SET " + set + whereKey();
        int[] found = execute(connection, update, parameters, kept);
        return IntStream.range(0, kept.size())
                .filter(i -> found[i] == 0)
                .mapToObj(kept::get)
                .toList();
    }

    private String insert() {
        String parameters = table.type().names().stream().map(name -> "?").collect(Collectors.joining(", "));
        String columns = JdbcTable.quoted(table.type().names());
        return "INSERT INTO " + table.quotedName() + " (" + columns + ") VALUES (" + parameters + ")";
    }

    private String whereKey() {
        return keys.stream().map(key -> name(key) + " = ?").collect(Collectors.joining(" AND ", " WHERE ", ""));
    }

    private String name(int column) {
        return JdbcTable.quoted(table.type().names().get(column));
    }

    private int[] execute(Connection connection, String text, List<Integer> columns, Collection<Change> changes)
            throws SQLException {
        if (changes.isEmpty()) {
            return new int[0];
        }
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            for (Change change : changes) {
                for (int i = 0; i < columns.size(); i++) {
                    int column = columns.get(i);
                    JdbcValues.write(statement, i + 1, change.row, column, table.type().child(column));
                }
                statement.addBatch();
            }
            return statement.executeBatch();
        }
    }
}
