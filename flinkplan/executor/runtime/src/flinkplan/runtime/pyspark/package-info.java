/**
 * Calls of Python's that replace many calls of PySpark's, or one that does more than a job needs; what its JVM need not
 * look for.
 */
package flinkplan.runtime.pyspark;
