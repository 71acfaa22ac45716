package flinkplan.runtime.lake;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.StreamSupport;
import org.apache.hadoop.fs.Path;
import org.apache.spark.paths.SparkPath;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.VariantExtraction;
import org.apache.spark.sql.execution.datasources.FilePartition;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.v2.parquet.ParquetScan;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.collection.immutable.Map$;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Parquet files as a log tells of them: each an object of JSON with its {@code path}, {@code bytes} and
 * {@code partition}, the texts of its values by column.
 *
 * @param stored the columns that files have
 * @param partitions those that the log has for each file
 */
record DataFiles(StructType stored, StructType partitions) {

    /** @param partitions how many of the last columns are those of partitions */
    static DataFiles of(StructType columns, int partitions) {
        StructField[] fields = columns.fields();
        int first = fields.length - partitions;
        return new DataFiles(
                new StructType(Arrays.copyOfRange(fields, 0, first)),
                new StructType(Arrays.copyOfRange(fields, first, fields.length)));
    }

    static long bytes(JsonNode files) {
        return StreamSupport.stream(files.spliterator(), false)
                .mapToLong(file -> file.get("bytes").asLong())
                .sum();
    }

    /** What tasks read of files, in the order of these. */
    InputPartition[] plan(JsonNode files) {
        SparkSession session = SparkSession.active();
        SQLConf conf = session.sessionState().conf();
        long open = conf.filesOpenCostInBytes();
        long all = bytes(files) + files.size() * open;
        int tasks = session.sparkContext().defaultParallelism();
        long most = Math.min(conf.filesMaxPartitionBytes(), Math.max(open, all / tasks));
        List<PartitionedFile> parts = new ArrayList<>();
        for (JsonNode file : files) {
            SparkPath path = SparkPath.fromPath(new Path(file.get("path").asText()));
            InternalRow values = values(file.get("partition"), conf.sessionLocalTimeZone());
            long bytes = file.get("bytes").asLong();
            for (long start = 0; start < bytes; start += most) {
                long length = Math.min(most, bytes - start);
                parts.add(new PartitionedFile(values, path, start, length, new String[0], 0, bytes, Map$.MODULE$.empty()));
            }
        }
        var planned = FilePartition.getFilePartitions(session, CollectionConverters.asScala(parts).toSeq(), most);
        return CollectionConverters.asJava(planned).toArray(InputPartition[]::new);
    }

    private InternalRow values(JsonNode texts, String zone) {
        Object[] values = new Object[partitions.size()];
        for (int i = 0; i < values.length; i++) {
            StructField column = partitions.fields()[i];
            JsonNode text = texts.path(column.name());
            if (text.isTextual()) {
                Literal literal = new Literal(UTF8String.fromString(text.asText()), DataTypes.StringType);
                values[i] = new Cast(literal, column.dataType(), Option.apply(zone)).eval(InternalRow.empty());
            }
        }
        return new GenericInternalRow(values);
    }

    /** Spark's own readers of Parquet. */
    PartitionReaderFactory readers() {
        SparkSession session = SparkSession.active();
        var nothing = CollectionConverters.asScala(List.<org.apache.spark.sql.catalyst.expressions.Expression>of()).toSeq();
        return new ParquetScan(
                        session,
                        session.sessionState().newHadoopConf(),
                        null,
                        stored,
                        stored,
                        partitions,
                        new Filter[0],
                        CaseInsensitiveStringMap.empty(),
                        Option.empty(),
                        nothing,
                        nothing,
                        new VariantExtraction[0])
                .createReaderFactory();
    }
}
