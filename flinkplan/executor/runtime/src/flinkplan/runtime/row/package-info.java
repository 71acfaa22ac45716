/** Rows as kernels read, keep and emit them: Spark's internal rows, with hidden columns for their kinds and order. */
package flinkplan.runtime.row;
