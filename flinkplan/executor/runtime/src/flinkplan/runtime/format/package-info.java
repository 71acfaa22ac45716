/** Formats of files and messages: rows decoded from bytes and encoded into them. */
package flinkplan.runtime.format;
