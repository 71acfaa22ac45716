package acme;

import java.math.BigDecimal;
import java.time.*;
import java.util.*;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.table.annotation.*;
import org.apache.flink.table.api.*;
import org.apache.flink.table.api.dataview.*;
import org.apache.flink.table.catalog.DataTypeFactory;
import org.apache.flink.table.data.*;
import org.apache.flink.table.functions.*;
import org.apache.flink.table.types.inference.*;
import org.apache.flink.types.*;

public class Echo extends ScalarFunction {
    public Object eval(Object a, String type) { return a == null ? null : type.equals("INT") ? (Object) Integer.valueOf(a.toString()) : a.toString(); }
    @Override
    public TypeInference getTypeInference(DataTypeFactory factory) {
        return TypeInference.newBuilder()
            .inputTypeStrategy(InputTypeStrategies.sequence(InputTypeStrategies.ANY, InputTypeStrategies.and(InputTypeStrategies.LITERAL, InputTypeStrategies.explicit(DataTypes.STRING().notNull()))))
            .outputTypeStrategy(call -> {
                String type = call.getArgumentValue(1, String.class).orElse("STRING");
                return Optional.of(type.equals("INT") ? DataTypes.INT() : DataTypes.STRING());
            }).build();
    }
}
