package flinkplan.runtime.jdbc;

import flinkplan.runtime.format.FlinkType;
import flinkplan.runtime.row.Hidden;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;

/** Reads the rows of a part of a table. */
final class JdbcReader implements PartitionReader<InternalRow> {
    private final JdbcSource.JdbcScan scan;
    private final JdbcSource.Part part;
    private final FlinkType type;
    private long sequence;
    private Connection connection;
    private ResultSet rows;

    JdbcReader(JdbcSource.JdbcScan scan, JdbcSource.Part part) {
        this.scan = scan;
        this.part = part;
        type = scan.table().type();
        sequence = (long) part.index() << Hidden.PARTITION_SHIFT;
    }

    @Override
    public boolean next() throws IOException {
        try {
            if (rows == null) {
                rows = query();
            }
            return rows.next();
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    private ResultSet query() throws SQLException {
        connection = scan.table().connect();
        connection.setAutoCommit(scan.autoCommit());
        String columns = type.size() == 0 ? "1" : JdbcTable.quoted(type.names());
        String text = "SELECT " + columns + " FROM " + scan.table().quotedName();
        boolean isPart = scan.column() != null;
        String within = isPart ? JdbcTable.quoted(scan.column()) + " BETWEEN ? AND ?" : "";
        PreparedStatement statement = connection.prepareStatement(text + JdbcFilter.where(within, scan.filter()));
        statement.setFetchSize(scan.fetchSize());
        if (isPart) {
            statement.setLong(1, part.lower());
            statement.setLong(2, part.upper());
        }
        scan.filter().set(statement, isPart ? 3 : 1);
        return statement.executeQuery();
    }

    @Override
    public InternalRow get() {
        try {
            Object[] values = new Object[type.size() + 1];
            for (int i = 0; i < type.size(); i++) {
                values[i] = JdbcValues.read(rows, i + 1, type.child(i));
            }
            values[type.size()] = sequence++;
            return new GenericInternalRow(values);
        } catch (SQLException e) {
            throw new UncheckedIOException(failed(e));
        }
    }

    private IOException failed(SQLException e) {
        return scan.table().failed("read", e);
    }

    @Override
    public void close() throws IOException {
        if (connection == null) {
            return;
        }
        try (Connection used = connection) {
            if (!used.getAutoCommit()) {
                used.rollback();
            }
        } catch (SQLException e) {
            throw failed(e);
        }
    }
}
