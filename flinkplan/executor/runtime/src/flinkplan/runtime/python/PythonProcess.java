package flinkplan.runtime.python;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A process of Python that answers requests, in frames of a length and as many bytes.
 *
 * <p>Processes stay for the next task with the same program: importing what functions need takes longer than most
 * micro-batches. They end when the JVM does, which closes their input.
 */
public final class PythonProcess {
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int FAILED = -1;
    /** How long a process may be idle before it is ended, when another one is asked for. */
    private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(10);

    private static final Map<Program, Deque<PythonProcess>> IDLE = new HashMap<>();

    /**
     * What a process runs.
     *
     * @param python the interpreter
     * @param path where it looks for modules, as PYTHONPATH
     * @param module what it runs
     * @param frames what it is sent first
     */
    public record Program(String python, String path, String module, List<byte[]> frames) implements Serializable {
        @Override
        public boolean equals(Object other) {
            return other instanceof Program program
                    && python.equals(program.python)
                    && path.equals(program.path)
                    && module.equals(program.module)
                    && Arrays.deepEquals(frames.toArray(), program.frames.toArray());
        }

        @Override
        public int hashCode() {
            return Arrays.deepHashCode(frames.toArray());
        }
    }

    private final Program program;
    private final Process process;
    private final DataOutputStream requests;
    private final DataInputStream answers;
    private long idleSince;

    private PythonProcess(Program program) throws IOException {
        this.program = program;
        ProcessBuilder builder = new ProcessBuilder(program.python, "-m", program.module);
        String inherited = builder.environment().get("PYTHONPATH");
        String path = inherited == null || inherited.isEmpty()
                ? program.path
                : program.path + File.pathSeparator + inherited;
        builder.environment().put("PYTHONPATH", path);
        builder.redirectError(ProcessBuilder.Redirect.INHERIT);
        process = builder.start();
        requests = new DataOutputStream(new BufferedOutputStream(process.getOutputStream(), BUFFER_BYTES));
        answers = new DataInputStream(new BufferedInputStream(process.getInputStream(), BUFFER_BYTES));
        for (byte[] frame : program.frames) {
            send(frame);
        }
    }

    /** A process that runs a program, which nobody else uses before {@link #release}. */
    public static PythonProcess of(Program program) {
        synchronized (IDLE) {
            Deque<PythonProcess> idle = IDLE.getOrDefault(program, new ArrayDeque<>());
            while (!idle.isEmpty()) {
                PythonProcess process = idle.pop();
                if (process.process.isAlive()) {
                    return process;
                }
            }
            endIdle();
        }
        try {
            return new PythonProcess(program);
        } catch (IOException e) {
            throw new UncheckedIOException("Python cannot be started: " + program.python, e);
        }
    }

    private static void endIdle() {
        long now = System.nanoTime();
        for (Deque<PythonProcess> idle : IDLE.values()) {
            while (!idle.isEmpty() && now - idle.peekLast().idleSince > IDLE_NANOS) {
                idle.pollLast().close();
            }
        }
        IDLE.values().removeIf(Deque::isEmpty);
    }

    /** Lets it end: its functions are closed. */
    private void close() {
        try {
            requests.close();
        } catch (IOException e) {
            process.destroy();
        }
    }

    /** Leaves it to others; between requests only. */
    public void release() {
        idleSince = System.nanoTime();
        synchronized (IDLE) {
            IDLE.computeIfAbsent(program, any -> new ArrayDeque<>()).push(this);
        }
    }

    /** Ends it, whatever it does. */
    public void destroy() {
        process.destroyForcibly();
    }

    public void send(byte[] frame) throws IOException {
        requests.writeInt(frame.length);
        requests.write(frame);
    }

    void send(ByteArrayOutputStream frame) throws IOException {
        requests.writeInt(frame.size());
        frame.writeTo(requests);
    }

    /** Has it get what was sent. */
    public void flush() throws IOException {
        requests.flush();
    }

    /** Ends a request: sends an empty frame. */
    public void end() throws IOException {
        requests.writeInt(0);
        requests.flush();
    }

    /** The next frame of an answer. Throws {@link PythonFailure} where Python could not answer. */
    public byte[] receive() throws IOException {
        int length;
        try {
            length = answers.readInt();
        } catch (EOFException e) {
            throw new PythonFailure("the process of Python has ended");
        }
        if (length == FAILED) {
            throw new PythonFailure(new String(answers.readNBytes(answers.readInt()), StandardCharsets.UTF_8));
        }
        byte[] frame = answers.readNBytes(length);
        if (frame.length < length) {
            throw new PythonFailure("the process of Python has ended within an answer");
        }
        return frame;
    }
}
