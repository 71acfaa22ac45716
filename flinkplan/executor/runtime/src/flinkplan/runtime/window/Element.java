package flinkplan.runtime.window;

import org.apache.spark.sql.catalyst.InternalRow;

/** A row in a window, with its time. */
record Element(InternalRow row, long time) {}
