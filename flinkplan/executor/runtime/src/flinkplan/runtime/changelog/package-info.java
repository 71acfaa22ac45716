/** Kernels that make a complete changelog of upserts, or upserts of a changelog. */
package flinkplan.runtime.changelog;
