package flinkplan.bridge;

import flinkplan.runtime.udf.ProcessHost;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.flink.table.api.dataview.ListView;
import org.apache.flink.table.api.dataview.MapView;

/** Views of lists and maps whose entries are kept where the function is called. */
final class HostViews {
    private HostViews() {}

    /** A list; it holds no NULL, as in Flink. */
    static final class HostList extends ListView<Object> {
        private final ProcessHost host;
        private final int number;
        private final Converter converter;

        HostList(ProcessHost host, int number, Converter converter) {
            this.host = host;
            this.number = number;
            this.converter = converter;
        }

        @Override
        public List<Object> getList() {
            List<Object> list = new ArrayList<>();
            host.elements(number).forEach(element -> list.add(converter.toFlinkOrNull(element)));
            return list;
        }

        @Override
        public void setList(List<Object> list) {
            host.clear(number);
            addAll(list);
        }

        @Override
        public Iterable<Object> get() {
            return getList();
        }

        @Override
        public void add(Object value) {
            host.append(number, converter.toSpark(Objects.requireNonNull(value, "a ListView holds no null")));
        }

        @Override
        public void addAll(List<Object> list) {
            list.forEach(this::add);
        }

        @Override
        public boolean remove(Object value) {
            List<Object> list = getList();
            boolean isRemoved = list.remove(value);
            if (isRemoved) {
                setList(list);
            }
            return isRemoved;
        }

        @Override
        public void clear() {
            host.clear(number);
        }
    }

    /** A map. */
    static final class HostMap extends MapView<Object, Object> {
        private final ProcessHost host;
        private final int number;
        private final Converter keys;
        private final Converter values;

        HostMap(ProcessHost host, int number, Converter keys, Converter values) {
            this.host = host;
            this.number = number;
            this.keys = keys;
            this.values = values;
        }

        @Override
        public Map<Object, Object> getMap() {
            Map<Object, Object> map = new java.util.LinkedHashMap<>();
            entries().forEach(entry -> map.put(entry.getKey(), entry.getValue()));
            return map;
        }

        @Override
        public void setMap(Map<Object, Object> map) {
            host.clear(number);
            putAll(map);
        }

        @Override
        public Object get(Object key) {
            return values.toFlinkOrNull(host.get(number, keys.toSparkOrNull(key)));
        }

        @Override
        public void put(Object key, Object value) {
            host.put(number, keys.toSparkOrNull(key), values.toSparkOrNull(value));
        }

        @Override
        public void putAll(Map<Object, Object> map) {
            map.forEach(this::put);
        }

        @Override
        public void remove(Object key) {
            host.remove(number, keys.toSparkOrNull(key));
        }

        @Override
        public boolean contains(Object key) {
            return host.contains(number, keys.toSparkOrNull(key));
        }

        @Override
        public Iterable<Map.Entry<Object, Object>> entries() {
            List<Map.Entry<Object, Object>> entries = new ArrayList<>();
            for (Map.Entry<Object, Object> kept : host.entries(number)) {
                Object key = keys.toFlinkOrNull(kept.getKey());
                entries.add(new Entry(key, values.toFlinkOrNull(kept.getValue())));
            }
            return entries;
        }

        @Override
        public Iterable<Object> keys() {
            List<Object> all = new ArrayList<>();
            entries().forEach(entry -> all.add(entry.getKey()));
            return all;
        }

        @Override
        public Iterable<Object> values() {
            List<Object> all = new ArrayList<>();
            entries().forEach(entry -> all.add(entry.getValue()));
            return all;
        }

        @Override
        public Iterator<Map.Entry<Object, Object>> iterator() {
            Iterator<Map.Entry<Object, Object>> entries = entries().iterator();
            return new Iterator<>() {
                private Object last;

                @Override
                public boolean hasNext() {
                    return entries.hasNext();
                }

                @Override
                public Map.Entry<Object, Object> next() {
                    Map.Entry<Object, Object> entry = entries.next();
                    last = entry.getKey();
                    return entry;
                }

                @Override
                public void remove() {
                    HostMap.this.remove(last);
                }
            };
        }

        @Override
        public boolean isEmpty() {
            return !entries().iterator().hasNext();
        }

        @Override
        public void clear() {
            host.clear(number);
        }

        /** An entry whose value is written where it is kept. */
        private final class Entry implements Map.Entry<Object, Object> {
            private final Object key;
            private Object value;

            Entry(Object key, Object value) {
                this.key = key;
                this.value = value;
            }

            @Override
            public Object getKey() {
                return key;
            }

            @Override
            public Object getValue() {
                return value;
            }

            @Override
            public Object setValue(Object changed) {
                Object former = value;
                put(key, changed);
                value = changed;
                return former;
            }
        }
    }
}
