package flinkplan.runtime.sink;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;

/** The folders of partitions, whose names hold columns and values. Source: Flink's {@code PartitionPathUtils}. */
final class PartitionPaths {
    private PartitionPaths() {}

    /** Writes as {@code %XX} the characters that a directory's name must not hold. */
    static String escape(String text) {
        StringBuilder escaped = new StringBuilder();
        for (char c : text.toCharArray()) {
            if (c < ' ' || "\"#%'*/:=?\\\u007f{[]^".indexOf(c) >= 0) {
                escaped.append(String.format("%%%02X", (int) c));
            } else {
                escaped.append(c);
            }
        }
        return escaped.toString();
    }

    /** Whether a text is a path {@code key=value/key=value}. */
    static boolean isPath(String text) {
        return Stream.of(text.split("/", -1)).allMatch(folder -> folder.indexOf('=') > 0);
    }

    /** The values of a path {@code key=value/key=value}, by their columns, in its order. */
    static Map<String, String> values(String path) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String folder : path.split("/")) {
            int equals = folder.indexOf('=');
            if (equals > 0) {
                values.put(unescape(folder.substring(0, equals)), unescape(folder.substring(equals + 1)));
            }
        }
        return values;
    }

    private static String unescape(String text) {
        StringBuilder plain = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '%' && i + 2 < text.length() && Character.digit(text.charAt(i + 1), 16) >= 0
                    && Character.digit(text.charAt(i + 2), 16) >= 0) {
                plain.append((char) Integer.parseInt(text.substring(i + 1, i + 3), 16));
                i += 2;
            } else {
                plain.append(c);
            }
        }
        return plain.toString();
    }
}
