/** Joins of changelogs, whose inputs are kept for ever or until a TTL. */
package flinkplan.runtime.join;
