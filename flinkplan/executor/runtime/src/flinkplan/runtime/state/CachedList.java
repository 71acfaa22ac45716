package flinkplan.runtime.state;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.ttl.ListStateImplWithTTL;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** A list a key: what is appended needs nothing of what is there. */
final class CachedList extends CachedState<CachedList.Content> implements ListState<InternalRow> {
    private final ListState<InternalRow> state;

    CachedList(StateCache cache, ListState<InternalRow> state, StructType value, Lifetime lifetime) {
        super(cache, value, lifetime);
        this.state = state;
    }

    /** The rows that have been read, unless others have taken their place, and those behind them. */
    static final class Content {
        private List<Entry> stored;
        private boolean isReplaced;
        private final List<Entry> added = new ArrayList<>();
    }

    @Override
    Content unread() {
        return new Content();
    }

    @Override
    public boolean exists() {
        return get().hasNext();
    }

    @Override
    public Iterator<InternalRow> get() {
        Content content = content();
        if (content.stored == null) {
            content.stored = stored();
        }
        List<InternalRow> rows = new ArrayList<>(content.stored.size() + content.added.size());
        for (List<Entry> entries : List.of(content.stored, content.added)) {
            for (Entry entry : entries) {
                InternalRow row = entry.live();
                if (row != null) {
                    rows.add(row);
                }
            }
        }
        return CollectionConverters.asScala(rows.iterator());
    }

    private List<Entry> stored() {
        List<Entry> entries = new ArrayList<>();
        if (expires()) {
            ((ListStateImplWithTTL<InternalRow>) state)
                    .getTTLValues()
                    .foreach(found -> entries.add(read(found._1(), (Long) found._2())));
        } else {
            state.get().foreach(row -> entries.add(read(row, Long.MAX_VALUE)));
        }
        return entries;
    }

    @Override
    public void put(Object array) {
        clear();
        appendList(array);
    }

    @Override
    public void appendValue(InternalRow value) {
        content().added.add(changed(value));
    }

    @Override
    public void appendList(Object array) {
        List<Entry> added = content().added;
        Arrays.stream((InternalRow[]) array).map(this::changed).forEach(added::add);
    }

    @Override
    public void clear() {
        Content content = content();
        content.stored = List.of();
        content.isReplaced = true;
        content.added.clear();
    }

    @Override
    void write(Content content) {
        if (content.isReplaced) {
            state.clear();
        }
        for (int from = 0, to; from < content.added.size(); from = to) {
            long end = content.added.get(from).end;
            to = from + 1;
            while (to < content.added.size() && content.added.get(to).end == end) {
                to++;
            }
            append(content.added.subList(from, to), end);
        }
    }

    /** Appends rows that expire at the same time. */
    private void append(List<Entry> entries, long end) {
        if (end > Lifetime.now()) {
            endsAt(end);
            state.appendList(entries.stream().map(entry -> entry.row).toArray(InternalRow[]::new));
        }
    }
}
