import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.api.java.tuple.Tuple5;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.assigners.SlidingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.WindowAssigner;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;
import org.apache.flink.api.common.typeinfo.TypeHint;

/**
 * The windows of windows.py as DataStream programs: FLIGHTS ROUNDS KIND… prints a line of seconds for each kind.
 *
 * <p>Flights are lines of CSV; the columns are those of data.py.
 */
public final class FlinkWindows {
    private static final int TIME = 2, TAILNUM = 7, ORIGIN = 8, DISTANCE = 11;
    private static final DateTimeFormatter FORMAT = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss");

    private FlinkWindows() {}

    public static void main(String[] arguments) throws Exception {
        for (int kind = 2; kind < arguments.length; kind++) {
            StringBuilder line = new StringBuilder();
            for (int round = 0; round < Integer.parseInt(arguments[1]); round++) {
                long begin = System.nanoTime();
                run(arguments[0], arguments[kind]);
                line.append((System.nanoTime() - begin) / 1e9).append(' ');
            }
            System.out.println(line);
        }
    }

    private static void run(String flights, String kind) throws Exception {
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
        environment.setParallelism(2);
        environment.getConfig().enableObjectReuse();
        FileSource<String> files = FileSource.forRecordStreamFormat(new TextLineInputFormat(), new Path(flights))
                .build();
        boolean isSession = kind.equals("session");
        int key = isSession ? TAILNUM : ORIGIN;
        DataStream<Tuple3<String, Long, Integer>> rows = environment
                .fromSource(files, WatermarkStrategy.noWatermarks(), "flights")
                .map(line -> parsed(line, key))
                .returns(new TypeHint<Tuple3<String, Long, Integer>>() {})
                .filter(row -> !row.f0.isEmpty())
                .assignTimestampsAndWatermarks(
                        WatermarkStrategy.<Tuple3<String, Long, Integer>>forBoundedOutOfOrderness(
                                        Duration.ofMinutes(1))
                                .withTimestampAssigner((row, before) -> row.f1));
        rows.keyBy(row -> row.f0)
                .window(windows(kind))
                .aggregate(new Departures(), new WithWindow())
                .sinkTo(new DiscardingSink<>());
        environment.execute(kind);
    }

    private static WindowAssigner<Object, TimeWindow> windows(String kind) {
        return switch (kind) {
            case "tumbling" -> TumblingEventTimeWindows.of(Duration.ofHours(1));
            case "sliding" -> SlidingEventTimeWindows.of(Duration.ofHours(10), Duration.ofHours(1));
            default -> EventTimeSessionWindows.withGap(Duration.ofHours(6));
        };
    }

    private static Tuple3<String, Long, Integer> parsed(String line, int key) {
        String[] cells = line.split(",", -1);
        long time = LocalDateTime.parse(cells[TIME], FORMAT).toInstant(ZoneOffset.UTC).toEpochMilli();
        return Tuple3.of(cells[key], time, Integer.valueOf(cells[DISTANCE]));
    }

    /** COUNT and SUM. */
    private static final class Departures
            implements AggregateFunction<Tuple3<String, Long, Integer>, Tuple2<Long, Integer>, Tuple2<Long, Integer>> {
        @Override
        public Tuple2<Long, Integer> createAccumulator() {
            return Tuple2.of(0L, 0);
        }

        @Override
        public Tuple2<Long, Integer> add(Tuple3<String, Long, Integer> row, Tuple2<Long, Integer> total) {
            total.f0++;
            total.f1 += row.f2;
            return total;
        }

        @Override
        public Tuple2<Long, Integer> getResult(Tuple2<Long, Integer> total) {
            return total;
        }

        @Override
        public Tuple2<Long, Integer> merge(Tuple2<Long, Integer> a, Tuple2<Long, Integer> b) {
            return Tuple2.of(a.f0 + b.f0, a.f1 + b.f1);
        }
    }

    /** The key before, the bounds behind. */
    private static final class WithWindow
            extends ProcessWindowFunction<
                    Tuple2<Long, Integer>, Tuple5<String, Long, Integer, Long, Long>, String, TimeWindow> {
        @Override
        public void process(
                String key,
                Context context,
                Iterable<Tuple2<Long, Integer>> totals,
                Collector<Tuple5<String, Long, Integer, Long, Long>> out) {
            TimeWindow window = context.window();
            for (Tuple2<Long, Integer> total : totals) {
                out.collect(Tuple5.of(key, total.f0, total.f1, window.getStart(), window.getEnd()));
            }
        }
    }
}
