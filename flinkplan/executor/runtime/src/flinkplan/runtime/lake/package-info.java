/** Tables of lakes: rows of the data files that their logs name. */
package flinkplan.runtime.lake;
