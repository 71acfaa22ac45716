package flinkplan.runtime.catalyst;

import java.util.UUID;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;

/** The streaming query that a thread runs. */
public final class RunningQuery {
    private static final String QUERY = "sql.streaming.queryId";

    private RunningQuery() {}

    /** The query that this thread runs in a session; null: none, or the session is null. */
    public static StreamExecution in(SparkSession session) {
        if (session == null) {
            return null;
        }
        String id = session.sparkContext().getLocalProperty(QUERY);
        return id == null ? null : session.sharedState().activeStreamingQueries().get(UUID.fromString(id));
    }
}
