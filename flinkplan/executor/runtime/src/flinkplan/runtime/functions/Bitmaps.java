package flinkplan.runtime.functions;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;
import org.roaringbitmap.RoaringBitmap;

/** BITMAP: sets of integers, held as Roaring bitmaps in their portable serialization. */
public final class Bitmaps {
    private Bitmaps() {}

    /** The set of an array's elements; NULLs are left out. */
    public static byte[] build(ArrayData values) {
        RoaringBitmap bitmap = new RoaringBitmap();
        for (int i = 0; i < values.numElements(); i++) {
            if (!values.isNullAt(i)) {
                bitmap.add(values.getInt(i));
            }
        }
        return write(bitmap);
    }

    /** The set that bytes are the serialization of; fails for others. */
    public static byte[] check(byte[] bytes) {
        return write(read(bytes));
    }

    public static byte[] and(byte[] left, byte[] right) {
        return write(RoaringBitmap.and(read(left), read(right)));
    }

    public static byte[] andNot(byte[] left, byte[] right) {
        return write(RoaringBitmap.andNot(read(left), read(right)));
    }

    public static byte[] or(byte[] left, byte[] right) {
        return write(RoaringBitmap.or(read(left), read(right)));
    }

    public static byte[] xor(byte[] left, byte[] right) {
        return write(RoaringBitmap.xor(read(left), read(right)));
    }

    public static long cardinality(byte[] bitmap) {
        return read(bitmap).getLongCardinality();
    }

    /** The members in the order of unsigned integers. */
    public static ArrayData toArray(byte[] bitmap) {
        return new GenericArrayData(read(bitmap).toArray());
    }

    /** The members as {@code {1,2,3}}. */
    public static UTF8String text(byte[] bitmap) {
        return UTF8String.fromString(read(bitmap).toString());
    }

    /** The bitmap of a serialization. */
    public static RoaringBitmap read(byte[] bytes) {
        RoaringBitmap bitmap = new RoaringBitmap();
        try {
            bitmap.deserialize(ByteBuffer.wrap(bytes));
        } catch (IOException | RuntimeException e) {
            throw new IllegalArgumentException("Failed to deserialize bitmap from bytes.", e);
        }
        return bitmap;
    }

    /** The serialization of a bitmap; equal bitmaps have the same. */
    public static byte[] write(RoaringBitmap bitmap) {
        bitmap.runOptimize();
        byte[] bytes = new byte[bitmap.serializedSizeInBytes()];
        bitmap.serialize(ByteBuffer.wrap(bytes));
        return bytes;
    }
}
