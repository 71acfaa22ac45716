/** Tables of databases: read once, looked up by keys, and written. */
package flinkplan.runtime.jdbc;
