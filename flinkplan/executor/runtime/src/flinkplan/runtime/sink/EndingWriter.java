package flinkplan.runtime.sink;

import java.io.IOException;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/** Writes the batches of a query, and is told when no more of them come. */
public interface EndingWriter extends VoidFunction2<Dataset<Row>, Long> {

    /** Called behind the last batch of input that ends; again where the process has died before it was noted. */
    default void end() throws IOException {}
}
