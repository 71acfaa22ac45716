package flinkplan.savepoint;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/** The id that Flink gives the operator with a UID: the UID's MurmurHash3 of 128 bits. */
final class OperatorIds {
    private static final long C1 = 0x87c37b91114253d5L;
    private static final long C2 = 0x4cf5ad432745937fL;

    private OperatorIds() {}

    /** The id in hexadecimal. */
    static String of(String uid) {
        byte[] text = uid.getBytes(StandardCharsets.UTF_8);
        ByteBuffer blocks = ByteBuffer.wrap(Arrays.copyOf(text, (text.length / 16 + 1) * 16)).order(ByteOrder.LITTLE_ENDIAN);
        long h1 = 0;
        long h2 = 0;
        for (int i = 0; i < text.length / 16; i++) {
            h1 ^= mixed1(blocks.getLong());
            h1 = Long.rotateLeft(h1, 27) + h2;
            h1 = h1 * 5 + 0x52dce729;
            h2 ^= mixed2(blocks.getLong());
            h2 = Long.rotateLeft(h2, 31) + h1;
            h2 = h2 * 5 + 0x38495ab5;
        }
        h1 ^= mixed1(blocks.getLong());
        h2 ^= mixed2(blocks.getLong());
        h1 ^= text.length;
        h2 ^= text.length;
        h1 += h2;
        h2 += h1;
        h1 = finished(h1);
        h2 = finished(h2);
        h1 += h2;
        h2 += h1;
        byte[] id = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN).putLong(h1).putLong(h2).array();
        return HexFormat.of().formatHex(id);
    }

    private static long mixed1(long k) {
        return Long.rotateLeft(k * C1, 31) * C2;
    }

    private static long mixed2(long k) {
        return Long.rotateLeft(k * C2, 33) * C1;
    }

    private static long finished(long h) {
        long mixed = (h ^ h >>> 33) * 0xff51afd7ed558ccdL;
        mixed = (mixed ^ mixed >>> 33) * 0xc4ceb9fe1a85ec53L;
        return mixed ^ mixed >>> 33;
    }
}
