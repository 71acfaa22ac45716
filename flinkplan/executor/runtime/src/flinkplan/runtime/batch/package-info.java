/** Bounded input: kernels over all rows of one key after the other, with states in memory; Spark's joins by hash. */
package flinkplan.runtime.batch;
