package flinkplan.savepoint;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.PlanReference;
import org.apache.flink.table.api.TableEnvironment;

/**
 * Runs plans whose tables give no rows, and stops each with a savepoint: it shows by which serializers, and under which
 * names, the plan's operators keep their states. One cluster in this process runs all of them.
 */
final class EmptySavepoint implements AutoCloseable {
    private static final int ATTEMPTS = 600;
    private static final long PAUSE_MILLIS = 50;
    /** The type of nodes whose rows are in the plan, which end. */
    private static final String VALUES = "\"stream-exec-values_";
    private static final Map<String, String> CLUSTER =
            Map.of(
                    "rest.address", "localhost",
                    "rest.bind-address", "localhost",
                    "rest.bind-port", "0",
                    "taskmanager.memory.network.min", "32mb",
                    "taskmanager.memory.network.max", "32mb",
                    "taskmanager.memory.managed.size", "64mb");
    private static final Map<String, String> JOB =
            Map.of(
                    "execution.target", "remote",
                    "parallelism.default", "1",
                    "state.backend.type", "hashmap",
                    "execution.checkpointing.storage", "jobmanager",
                    "restart-strategy.type", "disable");

    private MiniCluster cluster;

    /**
     * Takes the savepoint of a plan.
     *
     * @param plan the file of the plan
     * @param options those of the session
     * @param folder where to put it
     * @return the savepoint's folder
     */
    String take(Path plan, JsonNode options, Path folder) throws Exception {
        Configuration configuration = new Configuration();
        for (Map.Entry<String, JsonNode> option : options.properties()) {
            configuration.setString(option.getKey(), option.getValue().asText());
        }
        CLUSTER.forEach(configuration::setString);
        JOB.forEach(configuration::setString);
        configuration.setString("rest.port", String.valueOf(port()));
        EnvironmentSettings settings =
                EnvironmentSettings.newInstance().inStreamingMode().withConfiguration(configuration).build();
        TableEnvironment environment = TableEnvironment.create(settings);
        String text = Files.readString(plan);
        JobClient job =
                environment
                        .loadPlan(PlanReference.fromJsonString(text))
                        .execute()
                        .getJobClient()
                        .orElseThrow();
        try {
            if (text.contains(VALUES)) {
                awaitEndOfValues(job);
            }
            return savepoint(job, folder.toUri().toString());
        } finally {
            job.cancel().get(1, TimeUnit.MINUTES);
        }
    }

    /** The port of the cluster, which the first call starts. */
    private int port() throws Exception {
        if (cluster == null) {
            Configuration configuration = new Configuration();
            CLUSTER.forEach(configuration::setString);
            cluster = new MiniCluster(new MiniClusterConfiguration.Builder().setConfiguration(configuration).build());
            cluster.start();
        }
        return cluster.getRestAddress().get().getPort();
    }

    @Override
    public void close() throws Exception {
        if (cluster != null) {
            cluster.close();
        }
    }

    /** Waits until the sources of VALUES, which alone end, have done so: the savepoint says which operators they end. */
    private void awaitEndOfValues(JobClient job) throws Exception {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            boolean runs = true, hasEnded = false;
            for (var vertex : cluster.getExecutionGraph(job.getJobID()).get().getVerticesTopologically()) {
                ExecutionState state = vertex.getAggregateState();
                hasEnded |= state == ExecutionState.FINISHED;
                runs &= state == ExecutionState.RUNNING || state == ExecutionState.FINISHED;
            }
            if (runs && hasEnded || job.getJobStatus().get().isTerminalState()) {
                return;
            }
            Thread.sleep(PAUSE_MILLIS);
        }
    }

    /** Takes a savepoint as soon as all tasks run. */
    private static String savepoint(JobClient job, String folder) throws Exception {
        for (int attempt = 0; ; attempt++) {
            try {
                return job.triggerSavepoint(folder, SavepointFormatType.CANONICAL).get(1, TimeUnit.MINUTES);
            } catch (ExecutionException e) {
                JobStatus status = job.getJobStatus().get();
                if (status.isTerminalState() || attempt == ATTEMPTS) {
                    job.getJobExecutionResult().get();
                    throw e;
                }
                Thread.sleep(PAUSE_MILLIS);
            }
        }
    }
}
