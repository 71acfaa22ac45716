package flinkplan.runtime.pattern;

import org.apache.spark.sql.catalyst.InternalRow;

/**
 * A row that matches may refer to.
 *
 * @param number its place among the rows of its key
 * @param time when it happened, or came (ms)
 */
public record MatchedRow(long number, long time, InternalRow values) {}
