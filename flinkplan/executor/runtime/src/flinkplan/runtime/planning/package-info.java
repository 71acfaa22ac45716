/** What Spark makes of a streaming query before it is run, kept from one micro-batch to the next. */
package flinkplan.runtime.planning;
