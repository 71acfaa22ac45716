package flinkplan.bridge;

import flinkplan.functions.ProcessTypes;
import flinkplan.functions.TableArgument;
import flinkplan.runtime.udf.ProcessHost;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.flink.table.api.TableRuntimeException;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.table.functions.TableSemantics;
import org.apache.flink.types.RowKind;

/** What a process table function learns of a call, and by what it sets timers and clears states. */
final class ProcessContext implements ProcessTableFunction.OnTimerContext {
    private final Map<String, TableArgument> tables = new HashMap<>();
    private final List<String> names;
    private final List<ProcessState> states;
    private final ChangelogMode emitted;
    private final boolean canSetTimers;
    private ProcessHost host;
    private Long time;
    private String timer;

    ProcessContext(ProcessTypes types, List<String> names, List<ProcessState> states, ChangelogMode emitted) {
        this.names = names;
        this.states = states;
        this.emitted = emitted;
        boolean areSets = true;
        for (int i = 0; i < types.declared.size(); i++) {
            TableArgument table = types.tables.get(i);
            if (table != null) {
                tables.put(types.declared.get(i).getName(), table);
                areSets &= Traits.isSet(types.declared.get(i)) && !Traits.passesThrough(types.declared.get(i));
            }
        }
        canSetTimers = areSets && !tables.isEmpty();
    }

    void at(ProcessHost host) {
        this.host = host;
    }

    void begin(Long time, String timer) {
        this.time = time;
        this.timer = timer;
    }

    void check(RowKind kind) {
        if (!emitted.contains(kind)) {
            throw new TableRuntimeException(
                    "it emits a row of the kind " + kind + ", but its changelog mode is " + emitted);
        }
    }

    @Override
    public String currentTimer() {
        return timer;
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> ProcessTableFunction.TimeContext<T> timeContext(Class<T> type) {
        if (type == Instant.class) {
            return (ProcessTableFunction.TimeContext<T>) new Time<>(Instant::ofEpochMilli, Instant::toEpochMilli);
        }
        if (type == LocalDateTime.class) {
            return (ProcessTableFunction.TimeContext<T>) new Time<>(
                    millis -> LocalDateTime.ofInstant(Instant.ofEpochMilli(millis), ZoneOffset.UTC),
                    local -> local.toInstant(ZoneOffset.UTC).toEpochMilli());
        }
        if (type == Long.class) {
            return (ProcessTableFunction.TimeContext<T>) new Time<Long>(millis -> millis, millis -> millis);
        }
        throw new TableRuntimeException("Unsupported conversion class for TimeContext: " + type.getName());
    }

    @Override
    public TableSemantics tableSemanticsFor(String name) {
        TableSemantics table = tables.get(name);
        if (table == null) {
            throw new TableRuntimeException("Unknown table argument: " + name);
        }
        return table;
    }

    @Override
    public void clearState(String name) {
        int position = names.indexOf(name);
        if (position < 0) {
            throw new TableRuntimeException("Unknown state entry: " + name);
        }
        states.get(position).clear();
    }

    @Override
    public void clearAllState() {
        states.forEach(ProcessState::clear);
    }

    @Override
    public void clearAllTimers() {
        if (canSetTimers) {
            host.unregisterAll();
        }
    }

    @Override
    public void clearAll() {
        clearAllState();
        clearAllTimers();
    }

    @Override
    public ChangelogMode getChangelogMode() {
        return emitted;
    }

    private final class Time<T> implements ProcessTableFunction.TimeContext<T> {
        private final Function<Long, T> of;
        private final Function<T, Long> millis;
        private final Long current = time;

        Time(Function<Long, T> of, Function<T, Long> millis) {
            this.of = of;
            this.millis = millis;
        }

        @Override
        public T time() {
            return current == null ? null : of.apply(current);
        }

        @Override
        public T tableWatermark() {
            return timer == null ? currentWatermark() : null;
        }

        @Override
        public T currentWatermark() {
            long watermark = host.watermark();
            return watermark == Long.MIN_VALUE ? null : of.apply(watermark);
        }

        @Override
        public void registerOnTime(String name, T at) {
            check();
            host.register(name, millis.apply(at));
        }

        @Override
        public void registerOnTime(T at) {
            check();
            host.register(null, millis.apply(at));
        }

        private void check() {
            if (!canSetTimers) {
                throw new TableRuntimeException(
                        "Timers are not supported in the current PTF declaration. Only functions all of whose tables "
                                + "have set semantics, without columns that are passed through, have timers.");
            }
        }

        @Override
        public void clearTimer(String name) {
            if (canSetTimers) {
                host.unregister(name);
            }
        }

        @Override
        public void clearTimer(T at) {
            if (canSetTimers) {
                host.unregister(millis.apply(at));
            }
        }

        @Override
        public void clearAllTimers() {
            ProcessContext.this.clearAllTimers();
        }
    }
}
