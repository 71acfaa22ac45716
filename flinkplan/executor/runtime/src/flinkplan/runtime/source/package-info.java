/** Sources of tables, and the source of the watermarks that no row shows. */
package flinkplan.runtime.source;
