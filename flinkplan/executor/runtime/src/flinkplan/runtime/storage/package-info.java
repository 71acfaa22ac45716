/** Files that are there whole or not at all, also after a crash, and the lock of a checkpoint. */
package flinkplan.runtime.storage;
