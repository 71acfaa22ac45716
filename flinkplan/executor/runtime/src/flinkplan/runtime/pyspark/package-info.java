/** Calls of Python's that replace many calls of PySpark's, or one that does more than a job needs. */
package flinkplan.runtime.pyspark;
