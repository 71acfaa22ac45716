/** Flink's watermarks: those of sources, of a query, and of the batches before; and the count of late rows. */
package flinkplan.runtime.watermark;
