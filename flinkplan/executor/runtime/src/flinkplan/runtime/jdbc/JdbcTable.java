package flinkplan.runtime.jdbc;

import com.fasterxml.jackson.databind.JsonNode;
import flinkplan.runtime.format.FlinkType;
import java.io.IOException;
import java.io.Serializable;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Collection;
import java.util.Properties;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A table of a database.
 *
 * @param type the columns that are read or written
 */
record JdbcTable(String url, String name, String user, String password, FlinkType type) implements Serializable {
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final long PAUSE_MS = 1000;

    /** Reads {@code {"url", "table", "user", "password", "type"}}; user and password may be null. */
    static JdbcTable of(JsonNode json) {
        return new JdbcTable(
                json.get("url").asText(),
                json.get("table").asText(),
                json.get("user").textValue(),
                json.get("password").textValue(),
                FlinkType.parse(json.get("type")));
    }

    Connection connect() throws SQLException {
        Properties properties = new Properties();
        if (user != null) {
            properties.put("user", user);
            properties.put("password", password);
        }
        Derby.settle();
        try {
            return DriverManager.getConnection(url, properties);
        } catch (SQLException e) {
            SQLException failure = new SQLException(shown(e.getMessage()), e.getSQLState(), e.getErrorCode());
            failure.setStackTrace(e.getStackTrace());
            throw failure;
        }
    }

    /** What a driver says, without the parameters of the URL and the password, which logs must not hold. */
    private String shown(String message) {
        if (message == null) {
            return null;
        }
        String told = message.replace(url, url.replaceFirst("(?s)[?;].*", "").replaceAll("(//[^/:@]*):.*@", "$1:******@"));
        return password == null || password.length() < 4 ? told : told.replace(password, "******");
    }

    /** What the database says of something that cannot be {@code done} with the table. */
    IOException failed(String done, SQLException e) {
        IOException failure = new IOException("the table " + name + " cannot be " + done + ": " + shown(e.getMessage()));
        failure.setStackTrace(e.getStackTrace());
        return failure;
    }

    /** Waits before the next attempt, longer each time. */
    static void pause(int attempt) throws IOException {
        try {
            Thread.sleep(PAUSE_MS * attempt);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    /** Says nothing of the password. */
    @Override
    public String toString() {
        return "JdbcTable[" + name + "]";
    }

    /** The table's name in a statement. */
    String quotedName() {
        return Arrays.stream(name.split("\\.")).map(JdbcTable::quoted).collect(Collectors.joining("."));
    }

    /** The names of columns in a statement, between commas. */
    static String quoted(Collection<String> names) {
        return names.stream().map(JdbcTable::quoted).collect(Collectors.joining(", "));
    }

    /** A name in a statement: as it stands where it is a plain one, as Flink has it, else between quotation marks. */
    static String quoted(String name) {
        return PLAIN.matcher(name).matches() ? name : '"' + name.replace("\"", "\"\"") + '"';
    }
}
