package flinkplan.runtime.functions;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;

/**
 * A JSON path: {@code $} and any of
 * {@code .name ['name'] ["a","b"] [0] [-1] [0,2] [1:3] [*] [?(@.a > 1)] .* ..name ..*}.
 *
 * <p>A path is definite unless it holds a wildcard, a filter, a slice, a list of positions, or {@code ..}; an
 * indefinite path gives the list of all it finds. A list of names gives an object of these members.
 */
final class JsonPath {
    /** What a step takes from a value: nothing found is an empty list; null means the step does not fit the value. */
    private interface Step {
        List<Object> from(Object value);
    }

    private final String text;
    private final List<Step> steps = new ArrayList<>();
    private final List<Boolean> branching = new ArrayList<>();
    private int at;

    private JsonPath(String text) {
        this.text = text;
        parse();
    }

    /** Parses a path. Fails with IllegalArgumentException where it is none. */
    static JsonPath of(String text) {
        return new JsonPath(text.trim());
    }

    /** The value found, or the list of values of an indefinite path. Fails where a definite part finds nothing. */
    Object read(Object root) {
        if (root == null) {
            throw new NoSuchElementException("the document is null");
        }
        List<Object> values = Collections.singletonList(root);
        boolean indefinite = false;
        for (int i = 0; i < steps.size(); i++) {
            List<Object> next = new ArrayList<>();
            for (Object value : values) {
                List<Object> found = steps.get(i).from(value);
                boolean nothing = found == null || found.isEmpty() && !branching.get(i);
                if (nothing && !indefinite) {
                    throw new NoSuchElementException("nothing is found at " + text);
                }
                if (found != null) {
                    next.addAll(found);
                }
            }
            values = next;
            indefinite |= branching.get(i);
        }
        return indefinite ? values : values.get(0);
    }

    /** As {@link #read}; where a definite part finds nothing, null, or the empty list of an indefinite path. */
    Object readIfThere(Object root) {
        try {
            return read(root);
        } catch (NoSuchElementException e) {
            return branching.contains(true) ? List.of() : null;
        }
    }

    // ------------------------------------------------------------------ parsing

    private void parse() {
        expect('$');
        while (at < text.length()) {
            boolean everywhere = accept("..");
            if (everywhere) {
                add(true, JsonPath::descendants);
            }
            if (everywhere ? peek() != '[' : accept(".")) {
                name();
            } else {
                expect('[');
                bracket(everywhere);
                expect(']');
            }
        }
    }

    private void name() {
        if (accept("*")) {
            add(true, JsonPath::children);
            return;
        }
        int start = at;
        while (at < text.length() && ".[".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        if (at == start) {
            throw malformed();
        }
        String name = text.substring(start, at);
        add(false, value -> member(value, name));
    }

    private void bracket(boolean everywhere) {
        if (accept("*")) {
            add(true, JsonPath::children);
        } else if (accept("?(")) {
            JsonFilter.Condition condition = JsonFilter.of(untilClosed());
            add(true, value -> everywhere && value instanceof List ? List.of() : passing(value, condition));
        } else if (peek() == '\'' || peek() == '"') {
            List<String> names = new ArrayList<>();
            do {
                names.add(quoted());
            } while (accept(","));
            String only = names.get(0);
            add(false, names.size() > 1 ? value -> members(value, names) : value -> member(value, only));
        } else {
            positions();
        }
    }

    /** The text up to the parenthesis that closes what has been opened. */
    private String untilClosed() {
        int start = at;
        char quote = 0;
        for (int depth = 1; at < text.length(); at++) {
            char c = text.charAt(at);
            if (quote != 0 || c == '\'' || c == '"') {
                quote = quote == 0 ? c : c == quote ? 0 : quote;
                continue;
            }
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (depth == 0) {
                return text.substring(start, at++);
            }
        }
        throw malformed();
    }

    private void positions() {
        List<Integer> positions = new ArrayList<>();
        Integer first = number();
        if (accept(":")) {
            Integer end = number();
            add(true, value -> slice(value, first, end));
            return;
        }
        for (Integer position = first; ; position = number()) {
            if (position == null) {
                throw malformed();
            }
            positions.add(position);
            if (!accept(",")) {
                break;
            }
        }
        int only = positions.get(0);
        boolean isList = positions.size() > 1;
        add(isList, isList ? value -> elements(value, positions) : value -> element(value, only));
    }

    private String quoted() {
        char quote = text.charAt(at++);
        StringBuilder name = new StringBuilder();
        while (at < text.length() && text.charAt(at) != quote) {
            if (text.charAt(at) == '\\' && at + 1 < text.length()) {
                at++;
            }
            name.append(text.charAt(at++));
        }
        expect(quote);
        return name.toString();
    }

    private Integer number() {
        skipBlanks();
        int start = at;
        while (at < text.length() && "-0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return at == start ? null : Integer.valueOf(text.substring(start, at));
    }

    private void add(boolean branches, Step step) {
        steps.add(step);
        branching.add(branches);
    }

    private char peek() {
        skipBlanks();
        return at < text.length() ? text.charAt(at) : '\0';
    }

    private boolean accept(String token) {
        skipBlanks();
        boolean isNext = text.startsWith(token, at);
        at += isNext ? token.length() : 0;
        return isNext;
    }

    private void expect(char c) {
        if (!accept(String.valueOf(c))) {
            throw malformed();
        }
    }

    private void skipBlanks() {
        while (at < text.length() && text.charAt(at) == ' ') {
            at++;
        }
    }

    private IllegalArgumentException malformed() {
        return new IllegalArgumentException("the JSON path '" + text + "' is malformed at character " + (at + 1));
    }

    // ------------------------------------------------------------------ steps

    private static List<Object> member(Object value, String name) {
        if (!(value instanceof Map<?, ?> map)) {
            return null;
        }
        return map.containsKey(name) ? Collections.singletonList(map.get(name)) : List.of();
    }

    /** The members of these names, as an object. */
    private static List<Object> members(Object value, List<String> names) {
        if (!(value instanceof Map<?, ?> map)) {
            return null;
        }
        Map<String, Object> members = new LinkedHashMap<>();
        names.stream().filter(map::containsKey).forEach(name -> members.put(name, map.get(name)));
        return List.of(members);
    }

    private static List<Object> element(Object value, int position) {
        if (!(value instanceof List<?> list)) {
            return null;
        }
        int index = position < 0 ? list.size() + position : position;
        return index < 0 || index >= list.size() ? List.of() : Collections.singletonList(list.get(index));
    }

    private static List<Object> elements(Object value, List<Integer> positions) {
        return value instanceof List ? positions.stream().flatMap(p -> element(value, p).stream()).toList() : null;
    }

    private static List<Object> slice(Object value, Integer first, Integer end) {
        if (!(value instanceof List<?> list)) {
            return null;
        }
        int from = bound(first == null ? 0 : first, list.size());
        int to = bound(end == null ? list.size() : end, list.size());
        return from >= to ? List.of() : new ArrayList<>(list.subList(from, to));
    }

    private static int bound(int position, int size) {
        return Math.max(0, Math.min(size, position < 0 ? size + position : position));
    }

    /** The elements that pass, or the object itself where it does. */
    private static List<Object> passing(Object value, JsonFilter.Condition condition) {
        if (value instanceof Map) {
            return condition.holds(value) ? List.of(value) : List.of();
        }
        if (!(value instanceof List<?> list)) {
            return null;
        }
        List<Object> matching = new ArrayList<>(list);
        matching.removeIf(element -> !condition.holds(element));
        return matching;
    }

    private static List<Object> children(Object value) {
        if (value instanceof Map<?, ?> map) {
            return new ArrayList<>(map.values());
        }
        return value instanceof List<?> list ? new ArrayList<>(list) : List.of();
    }

    /** The value and all values below it, parents first. */
    private static List<Object> descendants(Object value) {
        List<Object> all = new ArrayList<>();
        all.add(value);
        for (Object child : children(value)) {
            if (child instanceof Map || child instanceof List) {
                all.addAll(descendants(child));
            }
        }
        return all;
    }
}
