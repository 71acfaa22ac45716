package flinkplan.runtime.file;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.Serializable;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.ChecksumFileSystem;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.internal.SQLConf;

/**
 * A file to read.
 *
 * @param path a URI whose special characters are not escaped, as Hadoop writes paths
 * @param size in bytes
 * @param modified in milliseconds since 1970
 * @param inode its number in the local file system; 0 where there is none, and in checkpoints of older versions
 */
record SourceFile(String path, long size, long modified, long inode) implements Serializable {

    /** The file as it is now. */
    SourceFile now() throws IOException {
        Path file = new Path(path);
        return FileListing.status(file.getFileSystem(SparkHadoopUtil.get().conf()), file);
    }

    /**
     * Opens the file, on a local disk without looking for Hadoop's file of checksums beside it where there can be none:
     * with a colon its name would be no path for Hadoop.
     *
     * @param isGrowing whether it is written meanwhile
     */
    FSDataInputStream open(boolean isGrowing) throws IOException {
        Path file = new Path(path);
        FileSystem fileSystem = file.getFileSystem(SparkHadoopUtil.get().conf());
        boolean isPlain = isGrowing || file.getName().indexOf(':') >= 0;
        return (isPlain && fileSystem instanceof ChecksumFileSystem local ? local.getRawFileSystem() : fileSystem)
                .open(file);
    }

    /** The path without the file system. */
    String name() {
        return new Path(path).toUri().getPath();
    }

    /**
     * Says that the file has gone since it was listed, unless the session's {@code spark.sql.files.ignoreMissingFiles}
     * lets such files be left out.
     */
    void missing(FileNotFoundException cause) throws IOException {
        if (!SQLConf.get().ignoreMissingFiles()) {
            String problem = "the file was deleted or renamed after it had been listed, before all of it was read";
            IOException lost = UnreadableFileException.lost(name(), problem);
            lost.initCause(cause);
            throw lost;
        }
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
