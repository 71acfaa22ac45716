package flinkplan.runtime.batch;

/** A state of one key. */
interface MemoryState {
    void clear();
}
