/** Tables over files, read whole or while they are still written: their files, lines and places in them. */
package flinkplan.runtime.file;
