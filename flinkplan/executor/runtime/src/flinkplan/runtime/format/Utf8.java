package flinkplan.runtime.format;

import java.io.CharConversionException;
import java.nio.charset.StandardCharsets;

/** Texts in UTF-8, refused where they are not. Source: Jackson's {@code UTF8Reader}, by which Flink reads CSV. */
final class Utf8 {
    private static final int SHOWN = 200;

    private Utf8() {}

    /** The text of the bytes {@code [from, to)}. */
    static String decode(byte[] buffer, int from, int to) throws CharConversionException {
        check(buffer, from, to);
        return new String(buffer, from, to - from, StandardCharsets.UTF_8);
    }

    private static void check(byte[] buffer, int from, int to) throws CharConversionException {
        for (int i = from; i < to; i++) {
            if (buffer[i] >= 0) {
                continue;
            }
            int first = buffer[i] & 0xFF;
            int more = first < 0xC0 || first >= 0xF8 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
            if (more == 0) {
                throw new CharConversionException(String.format("Invalid UTF-8 start byte 0x%02x", first));
            }
            for (int last = i + more; i < last; ) {
                if (++i == to) {
                    throw new CharConversionException("Unexpected end in the middle of a multi-byte UTF-8 character");
                }
                if ((buffer[i] & 0xC0) != 0x80) {
                    throw new CharConversionException(String.format("Invalid UTF-8 middle byte 0x%02x", buffer[i]));
                }
            }
        }
    }

    /** A message for an error: as it is where it is short, else how it begins. */
    static String shown(byte[] buffer, int from, int to) {
        if (to - from <= SHOWN) {
            return new String(buffer, from, to - from, StandardCharsets.UTF_8);
        }
        String start = new String(buffer, from, SHOWN, StandardCharsets.UTF_8);
        return String.format("%s… (%,d bytes)", start.replaceAll("\uFFFD+$", ""), to - from);
    }
}
