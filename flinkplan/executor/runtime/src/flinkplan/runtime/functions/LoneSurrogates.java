package flinkplan.runtime.functions;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Text in which half of a character outside the basic plane may stand alone, as functions that cut UTF-16 leave it.
 *
 * <p>UTF-8 has no such halves. Here one is held in the three bytes that it would have as a character of its own.
 */
public final class LoneSurrogates {
    private static final char UNKNOWN = '\uFFFD';
    private static final int LEAD = 0xED;

    private LoneSurrogates() {}

    /** The bytes of a text. */
    public static UTF8String encode(String text) {
        return hasHalf(text) ? UTF8String.fromBytes(bytes(text)) : UTF8String.fromString(text);
    }

    /** The text of bytes. */
    public static String decode(UTF8String bytes) {
        String text = bytes.toString();
        return text.indexOf(UNKNOWN) < 0 ? text : text(bytes.getBytes());
    }

    private static boolean hasHalf(String text) {
        return text.codePoints().anyMatch(LoneSurrogates::isHalf);
    }

    private static boolean isHalf(int codePoint) {
        return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
    }

    private static byte[] bytes(String text) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        text.codePoints().forEach(point -> {
            if (isHalf(point)) {
                out.write(LEAD);
                out.write(0x80 | point >> 6 & 0x3F);
                out.write(0x80 | point & 0x3F);
            } else {
                out.writeBytes(Character.toString(point).getBytes(StandardCharsets.UTF_8));
            }
        });
        return out.toByteArray();
    }

    private static String text(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        int start = 0;
        for (int i = 0; i + 2 < bytes.length; i++) {
            if ((bytes[i] & 0xFF) == LEAD && (bytes[i + 1] & 0xE0) == 0xA0) {
                text.append(new String(bytes, start, i - start, StandardCharsets.UTF_8));
                text.append((char) (0xD000 | (bytes[i + 1] & 0x3F) << 6 | bytes[i + 2] & 0x3F));
                start = i + 3;
                i += 2;
            }
        }
        return text.append(new String(bytes, start, bytes.length - start, StandardCharsets.UTF_8)).toString();
    }
}
