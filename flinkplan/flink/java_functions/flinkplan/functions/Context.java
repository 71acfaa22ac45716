package flinkplan.functions;

import java.io.File;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.TaskInfoImpl;
import org.apache.flink.api.common.externalresource.ExternalResourceInfo;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.table.functions.FunctionContext;

/** What functions are told in {@code open}: job parameters; metrics can be used, but are not reported. */
public final class Context extends FunctionContext {
    private final Map<String, String> parameters;
    private final ClassLoader classes;
    private final String task;

    /**
     * @param parameters the job's parameters, {@code pipeline.global-job-parameters}
     * @param task the task's name
     */
    public Context(Map<String, String> parameters, ClassLoader classes, String task) {
        super(null);
        this.parameters = parameters;
        this.classes = classes;
        this.task = task;
    }

    @Override
    public TaskInfo getTaskInfo() {
        return new TaskInfoImpl(task, 1, 0, 1, 0);
    }

    @Override
    public MetricGroup getMetricGroup() {
        return new UnregisteredMetricsGroup();
    }

    @Override
    public File getCachedFile(String name) {
        throw new IllegalArgumentException("there is no cached file '" + name + "': jobs on Spark have none");
    }

    @Override
    public String getJobParameter(String key, String defaultValue) {
        return parameters.getOrDefault(key, defaultValue);
    }

    @Override
    public Set<ExternalResourceInfo> getExternalResourceInfos(String resourceName) {
        return Set.of();
    }

    @Override
    public ClassLoader getUserCodeClassLoader() {
        return classes;
    }
}
