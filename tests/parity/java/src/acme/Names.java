package acme;

import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.table.api.dataview.ListView;
import org.apache.flink.table.api.dataview.MapView;
import org.apache.flink.table.functions.AggregateFunction;

/** How often each name is there, and which have been taken back: with views of both kinds, retract and merge. */
public class Names extends AggregateFunction<String, Names.Acc> {
    public static class Acc {
        public MapView<String, Integer> counts = new MapView<>();
        public ListView<String> retracted = new ListView<>();
        public Integer rows;
    }

    @Override public Acc createAccumulator() { return new Acc(); }

    @Override public String getValue(Acc a) {
        Map<String, Integer> sorted = new TreeMap<>();
        int retracted = 0;
        try {
            for (Map.Entry<String, Integer> e : a.counts.entries()) sorted.put(e.getKey(), e.getValue());
            for (String s : a.retracted.get()) retracted++;
        } catch (Exception e) { throw new RuntimeException(e); }
        return a.rows == null ? null : a.rows + sorted.toString() + retracted;
    }

    private void add(Acc a, String s, int n) throws Exception {
        Integer old = a.counts.get(s);
        int now = (old == null ? 0 : old) + n;
        if (now == 0) a.counts.remove(s); else a.counts.put(s, now);
        a.rows = (a.rows == null ? 0 : a.rows) + n;
    }

    public void accumulate(Acc a, String s) throws Exception { if (s != null) add(a, s, 1); }

    public void retract(Acc a, String s) throws Exception {
        if (s == null) return;
        add(a, s, -1);
        a.retracted.add(s);
    }

    public void merge(Acc a, Iterable<Acc> others) throws Exception {
        for (Acc o : others) {
            for (Map.Entry<String, Integer> e : o.counts.entries()) add(a, e.getKey(), e.getValue());
            for (String s : o.retracted.get()) a.retracted.add(s);
        }
    }
}
