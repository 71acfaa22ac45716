/** What Spark has counted of a batch, by the sources and operators of the query. */
package flinkplan.runtime.progress;
