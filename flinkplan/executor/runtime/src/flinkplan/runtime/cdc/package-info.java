/** Change data capture: rows of snapshots and logs of databases, of the files in which the driver keeps them. */
package flinkplan.runtime.cdc;
