package flinkplan.runtime.source;

import flinkplan.runtime.python.PythonMethods;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;

/** A stream whose positions the driver's own Python answers for: an offset is whatever JSON it makes of them. */
public abstract class PositionStream
        implements MicroBatchStream, SupportsTriggerAvailableNow, ReportsSourceMetrics {
    private static final Map<String, PythonMethods> OFFERED = new ConcurrentHashMap<>();

    private final PythonMethods positions;
    private final String unit;
    private final List<String> stream;

    /**
     * @param unit what {@link Lag} counts
     * @param stream a text of JSON by which Python knows the stream, if it needs to: the last argument of its methods
     */
    protected PositionStream(PythonMethods positions, String unit, String... stream) {
        this.positions = positions;
        this.unit = unit;
        this.stream = List.of(stream);
    }

    /** Takes who answers for a stream's positions, and gives the name by which one source finds it. */
    public static String offer(BiFunction<String, String, String> python) {
        String name = UUID.randomUUID().toString();
        OFFERED.put(name, new PythonMethods(python));
        return name;
    }

    /** Who answers under a name, for one source; null where there is no name. */
    public static PythonMethods offered(String name) {
        return name == null ? null : OFFERED.remove(name);
    }

    /** A position as Spark keeps it. */
    protected static final class Position extends Offset {
        private final String json;

        public Position(String json) {
            this.json = json;
        }

        @Override
        public String json() {
            return json;
        }
    }

    /** What a method of Python's says to positions. */
    protected final String ask(String method, String... arguments) {
        return positions.ask(
                method, Stream.concat(Stream.of(arguments), stream.stream()).toArray(String[]::new));
    }

    @Override
    public Offset initialOffset() {
        return new Position(ask("initial"));
    }

    @Override
    public Offset deserializeOffset(String json) {
        return new Position(json);
    }

    @Override
    public void prepareForTriggerAvailableNow() {
        ask("stop_at_what_is_there");
    }

    @Override
    public Offset latestOffset() {
        throw new UnsupportedOperationException("latestOffset(Offset, ReadLimit) is called instead");
    }

    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
        return new Position(ask("latest", start.json()));
    }

    /** What is waited for, and how many messages do; and how much is behind what was read, see {@link Lag}. */
    @Override
    public Map<String, String> metrics(Optional<Offset> latest) {
        Map<String, String> metrics = new TreeMap<>();
        String position = latest.map(Offset::json).orElse("{}");
        if (RangeSource.parse(position).path("waits").asInt(0) > 0) {
            RangeSource.parse(ask("waiting", position))
                    .properties()
                    .forEach(entry -> metrics.put(entry.getKey(), entry.getValue().asText()));
        }
        RangeSource.parse(ask("lag", position))
                .properties()
                .forEach(entry ->
                        metrics.put(Lag.key(unit, entry.getKey()), entry.getValue().asText()));
        return metrics;
    }

    @Override
    public void commit(Offset end) {
        ask("commit", end.json());
    }

    @Override
    public void stop() {
        ask("close");
    }
}
