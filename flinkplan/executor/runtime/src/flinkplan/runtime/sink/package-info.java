/** Writers of tables: each batch once, or row by row. */
package flinkplan.runtime.sink;
