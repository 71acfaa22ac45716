/** Joins of rows with the rows that an external table has for their keys, and the cache of these. */
package flinkplan.runtime.lookup;
