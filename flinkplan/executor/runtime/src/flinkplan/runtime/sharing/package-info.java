/** What several parts of a streaming query read, computed once a micro-batch. */
package flinkplan.runtime.sharing;
