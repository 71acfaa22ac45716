package flinkplan.runtime.time;

import flinkplan.runtime.kernel.States;
import flinkplan.runtime.row.Rows;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.collection.Iterator;

/** The states of accumulators, of which each window of a key has its own: maps whose keys begin with the window. */
final class WindowStates implements States {
    private static final StructType WINDOW = new StructType()
            .add("start", DataTypes.LongType, false)
            .add("end", DataTypes.LongType, false);

    private final States states;
    private InternalRow window;

    WindowStates(States states) {
        this.states = states;
    }

    /** Turns to another window. */
    void turnTo(long start, long end) {
        window = Rows.of(start, end);
    }

    @Override
    public MapState<InternalRow, InternalRow> mapState(String name, StructType key, StructType value, long ttl) {
        StructType both = new StructType().add("window", WINDOW, false).add("key", key, false);
        return new WindowMap(states.mapState(name, both, value, ttl), key.length());
    }

    private final class WindowMap implements MapState<InternalRow, InternalRow> {
        private final MapState<InternalRow, InternalRow> all;
        private final int width;

        WindowMap(MapState<InternalRow, InternalRow> all, int width) {
            this.all = all;
            this.width = width;
        }

        private InternalRow key(InternalRow key) {
            return Rows.of(window, key);
        }

        private boolean isOfWindow(InternalRow key) {
            InternalRow of = key.getStruct(0, 2);
            return of.getLong(0) == window.getLong(0) && of.getLong(1) == window.getLong(1);
        }

        @Override
        public boolean exists() {
            return keys().hasNext();
        }

        @Override
        public InternalRow getValue(InternalRow key) {
            return all.getValue(key(key));
        }

        @Override
        public boolean containsKey(InternalRow key) {
            return all.containsKey(key(key));
        }

        @Override
        public void updateValue(InternalRow key, InternalRow value) {
            all.updateValue(key(key), value);
        }

        @Override
        public Iterator<Tuple2<InternalRow, InternalRow>> iterator() {
            return all.iterator()
                    .filter(entry -> isOfWindow(entry._1()))
                    .map(entry -> new Tuple2<>(entry._1().getStruct(1, width), entry._2()));
        }

        @Override
        public Iterator<InternalRow> keys() {
            return iterator().map(Tuple2::_1);
        }

        @Override
        public Iterator<InternalRow> values() {
            return iterator().map(Tuple2::_2);
        }

        @Override
        public void removeKey(InternalRow key) {
            all.removeKey(key(key));
        }

        @Override
        public void clear() {
            keys().toSeq().foreach(key -> {
                removeKey(key);
                return null;
            });
        }
    }
}
