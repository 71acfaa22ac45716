package flinkplan.runtime.source;

import java.io.IOException;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.net.URLDecoder;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;

/** A file to read; {@code modified} in milliseconds since 1970. */
record SourceFile(String path, long size, long modified) implements Serializable {

    static SourceFile of(FileStatus status) {
        return new SourceFile(status.getPath().toString(), status.getLen(), status.getModificationTime());
    }

    /** The file as it is now. */
    SourceFile now() throws IOException {
        Path file = new Path(path);
        return of(file.getFileSystem(SparkHadoopUtil.get().conf()).getFileStatus(file));
    }

    /** The partition values in the path's {@code key=value} directories. */
    Map<String, String> partition() {
        Map<String, String> values = new LinkedHashMap<>();
        for (String segment : new Path(path).getParent().toUri().getPath().split("/")) {
            int equals = segment.indexOf('=');
            if (equals > 0) {
                values.put(unescape(segment.substring(0, equals)), unescape(segment.substring(equals + 1)));
            }
        }
        return values;
    }

    private static final Pattern ESCAPED = Pattern.compile("(?:%[0-9A-Fa-f]{2})+");

    /** The text whose bytes may be written as {@code %XX}; any other % stands for itself. */
    private static String unescape(String text) {
        return ESCAPED.matcher(text)
                .replaceAll(
                        match -> Matcher.quoteReplacement(URLDecoder.decode(match.group(), StandardCharsets.UTF_8)));
    }
}
