/** Top-N and deduplication of changelogs. */
package flinkplan.runtime.rank;
