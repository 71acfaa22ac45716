package flinkplan.runtime.format;

import java.io.CharConversionException;
import java.nio.charset.StandardCharsets;

/**
 * Texts in UTF-8, refused where they are not. Source: Jackson's {@code UTF8Reader}, by which Flink reads CSV.
 *
 * <p>As there, characters may be written in more bytes than they need, and halves of surrogate pairs by themselves.
 */
final class Utf8 {
    private static final int SHOWN = 200;

    private Utf8() {}

    /** The text of the bytes {@code [from, to)}. */
    static String decode(byte[] buffer, int from, int to) throws CharConversionException {
        return isStrict(buffer, from, to)
                ? new String(buffer, from, to - from, StandardCharsets.UTF_8)
                : characters(buffer, from, to);
    }

    /** Whether Java reads the same, which would put a sign in the place of characters that are written in odd ways. */
    private static boolean isStrict(byte[] buffer, int from, int to) throws CharConversionException {
        boolean isStrict = true;
        for (int i = from; i < to; i++) {
            if (buffer[i] >= 0) {
                continue;
            }
            int first = buffer[i] & 0xFF;
            int more = first < 0xC0 || first >= 0xF8 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
            if (more == 0) {
                throw new CharConversionException(String.format("Invalid UTF-8 start byte 0x%02x", first));
            }
            for (int next = i + 1; next <= i + more; next++) {
                if (next == to) {
                    throw new CharConversionException("Unexpected end in the middle of a multi-byte UTF-8 character");
                }
                if ((buffer[next] & 0xC0) != 0x80) {
                    throw new CharConversionException(String.format("Invalid UTF-8 middle byte 0x%02x", buffer[next]));
                }
            }
            isStrict &= isStrict(first, buffer[i + 1] & 0xFF);
            i += more;
        }
        return isStrict;
    }

    /** Whether a character that begins with these bytes is one of Unicode, and not longer than it need be. */
    private static boolean isStrict(int first, int second) {
        return switch (first) {
            case 0xC0, 0xC1 -> false;
            case 0xE0 -> second >= 0xA0;
            case 0xED -> second < 0xA0;
            case 0xF0 -> second >= 0x90;
            case 0xF4 -> second < 0x90;
            default -> first < 0xF4;
        };
    }

    private static String characters(byte[] buffer, int from, int to) {
        StringBuilder text = new StringBuilder(to - from);
        for (int i = from; i < to; ) {
            int first = buffer[i++];
            if (first >= 0) {
                text.append((char) first);
            } else if ((first & 0xE0) == 0xC0) {
                text.append((char) ((first & 0x1F) << 6 | buffer[i++] & 0x3F));
            } else if ((first & 0xF0) == 0xE0) {
                text.append((char) ((first & 0x0F) << 12 | (buffer[i++] & 0x3F) << 6 | buffer[i++] & 0x3F));
            } else {
                int high = (first & 0x0F) << 18 | (buffer[i++] & 0x3F) << 12;
                int point = high | (buffer[i++] & 0x3F) << 6 | buffer[i++] & 0x3F;
                point -= Character.MIN_SUPPLEMENTARY_CODE_POINT;
                text.append((char) (Character.MIN_HIGH_SURROGATE + (point >> 10)));
                text.append((char) (Character.MIN_LOW_SURROGATE | point & 0x3FF));
            }
        }
        return text.toString();
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
