/** Aggregations of changelogs without windows, and the accumulators of aggregate functions. */
package flinkplan.runtime.aggregate;
