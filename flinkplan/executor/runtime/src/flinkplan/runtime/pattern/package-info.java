/** Patterns of {@code MATCH_RECOGNIZE}, compiled to states, and the matches that have begun. */
package flinkplan.runtime.pattern;
