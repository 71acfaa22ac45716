package flinkplan.functions;

import java.lang.invoke.MethodHandle;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.UserDefinedFunction;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.inference.TypeInferenceUtil;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LogicalType;

/** Values of calls whose arguments are constants, which Flink computes when it compiles a plan. */
final class Constants {
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final DateTimeFormatter TIME = new DateTimeFormatterBuilder()
            .appendPattern("HH:mm:ss")
            .appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true)
            .toFormatter(Locale.ROOT);
    private static final DateTimeFormatter TIMESTAMP = new DateTimeFormatterBuilder()
            .append(DateTimeFormatter.ISO_LOCAL_DATE)
            .appendLiteral(' ')
            .append(TIME)
            .toFormatter(Locale.ROOT);

    private Constants() {}

    /**
     * @param call as {@link CallTypes#of} takes it; {@code values} are the arguments, as literals in plans have them
     * @return {@code value}, as a literal has it, or {@code error}
     */
    static ObjectNode evaluate(Loaded loaded, JsonNode call) {
        ObjectNode answer = new ObjectMapper().createObjectNode();
        try {
            UserDefinedFunction function = loaded.function(call.get("class").asText());
            TypeInferenceUtil.Result types = CallTypes.of(loaded, function, call);
            List<DataType> arguments = types.getExpectedArgumentTypes();
            List<Class<?>> classes = new ArrayList<>();
            Object[] values = new Object[arguments.size()];
            for (int i = 0; i < values.length; i++) {
                classes.add(arguments.get(i).getConversionClass());
                Object internal = internal(call.get("values").get(i), arguments.get(i).getLogicalType());
                values[i] = converter(arguments.get(i), loaded).toExternalOrNull(internal);
            }
            MethodHandle eval = Methods.bound(function, "eval", classes);
            function.open(new Context(Map.of(), loaded.classes(), "constant"));
            Object external;
            try {
                external = eval.invokeWithArguments(values);
            } finally {
                function.close();
            }
            DataType result = types.getOutputDataType();
            put(answer, converter(result, loaded).toInternalOrNull(external), result.getLogicalType());
        } catch (Throwable e) { // also what the function's own code raises
            answer.removeAll();
            answer.put("error", Signatures.message(e));
        }
        return answer;
    }

    private static DataStructureConverter<Object, Object> converter(DataType type, Loaded loaded) {
        DataStructureConverter<Object, Object> converter = DataStructureConverters.getConverter(type);
        converter.open(loaded.classes());
        return converter;
    }

    private static Object internal(JsonNode value, LogicalType type) {
        if (value == null || value.isNull()) {
            return null;
        }
        String text = value.asText();
        switch (type.getTypeRoot()) {
            case BOOLEAN:
                return value.asBoolean();
            case TINYINT:
                return Byte.valueOf(text);
            case SMALLINT:
                return Short.valueOf(text);
            case INTEGER:
                return Integer.valueOf(text);
            case BIGINT:
                return Long.valueOf(text);
            case FLOAT:
                return Float.valueOf(text);
            case DOUBLE:
                return Double.valueOf(text);
            case DECIMAL:
                DecimalType decimal = (DecimalType) type;
                return DecimalData.fromBigDecimal(new BigDecimal(text), decimal.getPrecision(), decimal.getScale());
            case CHAR:
            case VARCHAR:
                return StringData.fromString(text);
            case BINARY:
            case VARBINARY:
                return Base64.getDecoder().decode(text);
            case DATE:
                return (int) LocalDate.parse(text).toEpochDay();
            case TIME_WITHOUT_TIME_ZONE:
                return (int) (LocalTime.parse(text).toNanoOfDay() / NANOS_PER_MILLI);
            case TIMESTAMP_WITHOUT_TIME_ZONE:
                return TimestampData.fromLocalDateTime(LocalDateTime.parse(text.replace(' ', 'T')));
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return TimestampData.fromInstant(
                        LocalDateTime.parse(text.replace(' ', 'T')).toInstant(ZoneOffset.UTC));
            default:
                throw new IllegalArgumentException("there are no literals of " + type);
        }
    }

    private static void put(ObjectNode answer, Object value, LogicalType type) {
        if (value == null) {
            answer.putNull("value");
            return;
        }
        switch (type.getTypeRoot()) {
            case BOOLEAN:
                answer.put("value", (Boolean) value);
                break;
            case BINARY:
            case VARBINARY:
                answer.put("value", Base64.getEncoder().encodeToString((byte[]) value));
                break;
            case DATE:
                answer.put("value", LocalDate.ofEpochDay((Integer) value).toString());
                break;
            case TIME_WITHOUT_TIME_ZONE:
                answer.put("value", LocalTime.ofNanoOfDay((Integer) value * NANOS_PER_MILLI).format(TIME));
                break;
            case DECIMAL:
                answer.put("value", ((DecimalData) value).toBigDecimal().toPlainString());
                break;
            case TIMESTAMP_WITHOUT_TIME_ZONE:
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                answer.put("value", ((TimestampData) value).toLocalDateTime().format(TIMESTAMP));
                break;
            default:
                answer.put("value", value.toString());
        }
    }
}
