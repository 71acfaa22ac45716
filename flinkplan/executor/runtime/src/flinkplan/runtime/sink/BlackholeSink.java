package flinkplan.runtime.sink;

import org.apache.spark.sql.catalyst.InternalRow;

/** Swallows rows. */
record BlackholeSink() implements RowByRowSink {

    @Override
    public Writer open(String batch, int task, boolean changelog) {
        return new Writer() {
            private long count;

            @Override
            public void write(InternalRow row) {
                count++;
            }

            @Override
            public Written finish() {
                return new Written(count);
            }
        };
    }

    @Override
    public boolean keepsOrder() {
        return false;
    }
}
