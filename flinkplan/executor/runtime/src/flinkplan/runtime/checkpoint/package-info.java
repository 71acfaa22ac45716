/** Checkpoints as something to write: queries whose states are filled before their first rows. */
package flinkplan.runtime.checkpoint;
