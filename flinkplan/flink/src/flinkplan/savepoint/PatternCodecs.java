package flinkplan.savepoint;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Codecs of what the operator of MATCH_RECOGNIZE keeps, by the names of its serializers: the library of patterns need
 * not be there.
 *
 * <p>Sources: {@code NFAStateSerializer}, {@code Lockable.LockableTypeSerializer} and those of the shared buffer.
 */
final class PatternCodecs {
    private static final String BUFFER = "org.apache.flink.cep.nfa.sharedbuffer.";

    private PatternCodecs() {}

    /** The codec of a serializer; null for one that is none of these. */
    static Codec of(TypeSerializer<?> serializer) throws UnreadableException {
        return switch (serializer.getClass().getName()) {
            case "org.apache.flink.cep.nfa.NFAStateSerializer" -> tuple(list(match(serializer)), list(match(serializer)));
            case BUFFER + "EventId$EventIdSerializer" -> event();
            case BUFFER + "NodeId$NodeIdSerializer" -> node();
            case BUFFER + "SharedBufferNodeSerializer" -> list(lockable(edge()));
            case BUFFER + "Lockable$LockableTypeSerializer" -> lockable(SerializerCodec.of(element(serializer)));
            default -> null;
        };
    }

    /**
     * A match that has begun: its state, last node, version, the times of its first row and, since Flink 1.16, of its
     * last one, and the first row.
     */
    private static Codec match(TypeSerializer<?> states) throws UnreadableException {
        List<Codec> fields = new ArrayList<>(List.of(SerializerCodec.of(StringSerializer.INSTANCE), node(), version()));
        fields.add(number());
        if (SerializerCodec.field(states.getClass(), "supportsPreviousTimestamp", states, Boolean.class)) {
            fields.add(number());
        }
        fields.add(new Optional(event()));
        return new CompositeCodecs.Tuples(fields);
    }

    /** A row by its number among those of its time. */
    private static Codec event() throws UnreadableException {
        return tuple(integer(), number());
    }

    /** A row as one of a variable. */
    private static Codec node() throws UnreadableException {
        return new Optional(tuple(event(), SerializerCodec.of(StringSerializer.INSTANCE)));
    }

    /** What leads from a row to the one before, in matches of a version. */
    private static Codec edge() throws UnreadableException {
        return tuple(node(), version());
    }

    private static Codec version() throws UnreadableException {
        return list(integer());
    }

    private static Codec lockable(Codec element) throws UnreadableException {
        return tuple(integer(), element);
    }

    private static Codec integer() throws UnreadableException {
        return SerializerCodec.of(IntSerializer.INSTANCE);
    }

    private static Codec number() throws UnreadableException {
        return SerializerCodec.of(LongSerializer.INSTANCE);
    }

    private static Codec tuple(Codec... fields) {
        return new CompositeCodecs.Tuples(Arrays.asList(fields));
    }

    private static Codec list(Codec element) {
        return new CompositeCodecs.Lists(element);
    }

    private static TypeSerializer<?> element(TypeSerializer<?> lockable) throws UnreadableException {
        return SerializerCodec.field(lockable.getClass(), "elementSerializer", lockable, TypeSerializer.class);
    }

    /** A value behind a byte that says whether there is one. */
    private static final class Optional extends Codec {
        private final Codec value;

        Optional(Codec value) {
            this.value = value;
        }

        @Override
        String type() {
            return value.type();
        }

        @Override
        Vector vector() {
            return value.vector();
        }

        @Override
        Object read(DataInputView in) throws IOException {
            return in.readByte() == 0 ? null : value.read(in);
        }

        @Override
        void append(Object read, Vector column) throws IOException {
            value.append(read, column);
        }

        @Override
        void write(Object written, DataOutputView out) throws IOException {
            out.writeByte(written == null ? 0 : 1);
            if (written != null) {
                value.write(written, out);
            }
        }

        @Override
        Object present(Vector column, int row) throws IOException {
            return value.present(column, row);
        }
    }
}
