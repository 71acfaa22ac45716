package flinkplan.runtime.catalyst;

import java.util.List;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Lists as Spark takes them. */
public final class Sequences {
    private Sequences() {}

    /** The same as Scala has it. */
    public static <T> Seq<T> asScala(List<T> values) {
        return CollectionConverters.asScala(values).toSeq();
    }
}
