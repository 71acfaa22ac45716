package flinkplan.runtime.functions;

import java.io.IOException;
import java.time.ZoneOffset;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.types.variant.Variant;
import org.apache.spark.types.variant.VariantBuilder;
import org.apache.spark.types.variant.VariantUtil;
import org.apache.spark.unsafe.types.UTF8String;

/** VARIANT: values that know their types, held as (value, metadata) in Parquet's encoding. */
public final class Variants {
    private Variants() {}

    /** The value that JSON denotes; where keys may occur twice, the last one counts. Fails for what is no JSON. */
    public static InternalRow parse(UTF8String json, boolean allowDuplicateKeys) {
        InternalRow parsed = tryParse(json, allowDuplicateKeys);
        if (parsed == null) {
            throw new IllegalArgumentException("Failed to parse json string: " + json);
        }
        return parsed;
    }

    /** The value that JSON denotes; null for what is no JSON. */
    public static InternalRow tryParse(UTF8String json, boolean allowDuplicateKeys) {
        try {
            return row(VariantBuilder.parseJson(json.toString(), allowDuplicateKeys));
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }

    /** The value of an object's field; null for none; fails for other values. */
    public static InternalRow field(InternalRow row, UTF8String name) {
        Variant variant = variant(row);
        if (variant.getType() != VariantUtil.Type.OBJECT) {
            throw new IllegalArgumentException(
                    "String key access on variant requires an object variant, but a non-object variant was provided.");
        }
        return row(variant.getFieldByKey(name.toString()));
    }

    /** The element of an array at a position from 1; null for none; fails for other values. */
    public static InternalRow element(InternalRow row, int position) {
        Variant variant = variant(row);
        if (variant.getType() != VariantUtil.Type.ARRAY) {
            throw new IllegalArgumentException(
                    "Integer index access on variant requires an array variant, but a non-array variant was provided.");
        }
        return row(variant.getElementAtIndex(position - 1));
    }

    /** The value as JSON. */
    public static UTF8String text(InternalRow row) {
        return UTF8String.fromString(variant(row).toJson(ZoneOffset.UTC));
    }

    private static Variant variant(InternalRow row) {
        return new Variant(row.getBinary(0), row.getBinary(1));
    }

    private static InternalRow row(Variant variant) {
        return variant == null
                ? null
                : new GenericInternalRow(new Object[] {variant.getValue(), variant.getMetadata()});
    }
}
