package flinkplan.runtime.watermark;

/** A value in the plan of a streaming query that begins each batch with the watermark reached by the batch before. */
public interface Resumable {
    /**
     * The value for one batch; this one stays as it is.
     *
     * @param batch the number of the batch that begins
     * @param watermark Flink's watermark of the whole query then (epoch milliseconds); the lowest number: none yet, or
     *     all input has ended
     */
    Object resumed(long batch, long watermark);
}
