package flinkplan.bridge;

import flinkplan.runtime.udf.ProcessHost;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.table.api.dataview.ListView;
import org.apache.flink.table.api.dataview.MapView;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.table.data.conversion.RowRowConverter;
import org.apache.flink.table.runtime.typeutils.InternalSerializers;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/** A state of a process table function, as its methods take it. */
abstract class ProcessState {
    protected final int number;
    protected ProcessHost host;
    private boolean isCleared;

    ProcessState(int number) {
        this.number = number;
    }

    /** @param ttl in milliseconds; 0: it never expires */
    static ProcessState of(int number, DataType type, long ttl, ClassLoader classes) {
        if (ListView.class.isAssignableFrom(type.getConversionClass())) {
            return new Elements(number, element(type, 0), classes);
        }
        if (MapView.class.isAssignableFrom(type.getConversionClass())) {
            return new Entries(number, element(type, 0), element(type, 1), classes);
        }
        return new Value(number, type, ttl, classes);
    }

    private static DataType element(DataType view, int position) {
        return view.getChildren().get(0).getChildren().get(position);
    }

    void at(ProcessHost host) {
        this.host = host;
    }

    /** What a call is handed. */
    final Object load() {
        isCleared = false;
        return read();
    }

    /** Ends a call. */
    final void store() {
        if (isCleared) {
            host.clear(number);
        } else {
            write();
        }
    }

    /** Has the state cleared when the call ends. */
    final void clear() {
        isCleared = true;
    }

    abstract Object read();

    abstract void write();

    private static final class Value extends ProcessState {
        private static final int BUFFER = 128;

        private final Converter internal;
        private final DataStructureConverter<Object, Object> external;
        private final Class<?> type;
        private final int width;
        private final TypeSerializer<Object> serializer;
        private final DataOutputSerializer output = new DataOutputSerializer(BUFFER);
        private Object value;
        private byte[] before;

        @SuppressWarnings("unchecked")
        Value(int number, DataType type, long ttl, ClassLoader classes) {
            super(number);
            internal = Converters.internal(type.getLogicalType());
            external = DataStructureConverters.getConverter(type);
            external.open(classes);
            this.type = type.getConversionClass();
            width = LogicalTypeChecks.getFieldCount(type.getLogicalType());
            // a write that changes nothing refreshes no TTL
            serializer = ttl == 0
                    ? null
                    : (TypeSerializer<Object>) (TypeSerializer<?>) InternalSerializers.create(type.getLogicalType());
        }

        @Override
        Object read() {
            Object kept = host.value(number);
            Object row = kept == null ? null : internal.toFlink(kept);
            before = row == null ? null : bytes(row);
            value = row == null ? empty() : external.toExternal(row);
            return value;
        }

        private Object empty() {
            if (type == Row.class) {
                return ((RowRowConverter) (DataStructureConverter<?, ?>) external).createEmptyRow();
            }
            if (type == RowData.class) {
                return new GenericRowData(width);
            }
            try {
                return type.getDeclaredConstructor().newInstance();
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(type.getName() + " has no constructor without arguments", e);
            }
        }

        @Override
        void write() {
            RowData row = (RowData) external.toInternalOrNull(value);
            if (row == null || isEmpty(row)) {
                host.setValue(number, null);
            } else if (before == null || !Arrays.equals(before, bytes(row))) {
                host.setValue(number, internal.toSpark(row));
            }
        }

        private boolean isEmpty(RowData row) {
            for (int i = 0; i < width; i++) {
                if (!row.isNullAt(i)) {
                    return false;
                }
            }
            return row.getRowKind() == RowKind.INSERT;
        }

        private byte[] bytes(Object row) {
            if (serializer == null) {
                return null;
            }
            output.clear();
            try {
                serializer.serialize(row, output);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return output.getCopyOfBuffer();
        }
    }

    private static final class Elements extends ProcessState {
        private final Converter converter;

        Elements(int number, DataType element, ClassLoader classes) {
            super(number);
            converter = Converters.external(element, classes);
        }

        @Override
        Object read() {
            return new HostViews.HostList(host, number, converter);
        }

        @Override
        void write() {}
    }

    private static final class Entries extends ProcessState {
        private final Converter keys;
        private final Converter values;

        Entries(int number, DataType key, DataType value, ClassLoader classes) {
            super(number);
            keys = Converters.external(key, classes);
            values = Converters.external(value, classes);
        }

        @Override
        Object read() {
            return new HostViews.HostMap(host, number, keys, values);
        }

        @Override
        void write() {}
    }
}
