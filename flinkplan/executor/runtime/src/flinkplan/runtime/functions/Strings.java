package flinkplan.runtime.functions;

import java.io.UnsupportedEncodingException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/** Functions on text where Spark's answers differ from Flink's. */
public final class Strings {
    private Strings() {}

    /** From a position, counted from the end where it is negative; a length below 0 gives null. */
    public static UTF8String substring(UTF8String text, int position, int length) {
        if (length < 0) {
            return null;
        }
        int size = text.numChars();
        int start = position > 0 ? position - 1 : position < 0 ? size + position : 0;
        if (start < 0 || start >= size) {
            return UTF8String.EMPTY_UTF8;
        }
        return text.substring(start, (int) Math.min(size, (long) start + length));
    }

    /** The first occurrence at or after a position; 0 for none. */
    public static int locate(UTF8String part, UTF8String text, int position) {
        return text.indexOf(part, Math.max(0, position - 1)) + 1;
    }

    /** The nth occurrence from a position, backwards from the end where the position is negative; 0 for none. */
    public static int instr(UTF8String text, UTF8String part, int position, int nth) {
        if (nth < 1) {
            throw new IllegalArgumentException("INSTR looks for an occurrence of number 1 or above, not " + nth);
        }
        if (position == 0) {
            return 0;
        }
        String s = text.toString();
        String p = part.toString();
        boolean forwards = position > 0;
        int at = forwards ? position - 2 : s.length() + position + 1;
        for (int found = 0; found < nth; found++) {
            at = forwards ? s.indexOf(p, at + 1) : at == 0 ? -1 : s.lastIndexOf(p, at - 1);
            if (at < 0) {
                return 0;
            }
        }
        return at + 1;
    }

    /** Replaces as many characters as the replacement has. */
    public static UTF8String overlay(UTF8String text, UTF8String replacement, int position) {
        return overlay(text, replacement, position, replacement.toString().length());
    }

    /** Leaves the text alone where the position lies outside it; drops its rest for a length of 0 or below. */
    public static UTF8String overlay(UTF8String text, UTF8String replacement, int position, int length) {
        String s = LoneSurrogates.decode(text);
        if (position <= 0 || position > s.length()) {
            return text;
        }
        long end = (long) position - 1 + length;
        String rest = length <= 0 || end > s.length() ? "" : s.substring((int) end);
        return LoneSurrogates.encode(s.substring(0, position - 1) + LoneSurrogates.decode(replacement) + rest);
    }

    /** An empty part is found between all characters. */
    public static UTF8String replace(UTF8String text, UTF8String part, UTF8String replacement) {
        String s = LoneSurrogates.decode(text);
        return LoneSurrogates.encode(s.replace(LoneSurrogates.decode(part), LoneSurrogates.decode(replacement)));
    }

    /** Padded on the left or cut to a length in UTF-16 units; null for a negative length or an empty pad. */
    public static UTF8String lpad(UTF8String text, int length, UTF8String pad) {
        String s = LoneSurrogates.decode(text);
        String padding = padding(s, length, LoneSurrogates.decode(pad));
        return padding == null ? null : LoneSurrogates.encode((padding + s).substring(0, length));
    }

    /** As {@link #lpad}, on the right. */
    public static UTF8String rpad(UTF8String text, int length, UTF8String pad) {
        String s = LoneSurrogates.decode(text);
        String padding = padding(s, length, LoneSurrogates.decode(pad));
        return padding == null ? null : LoneSurrogates.encode((s + padding).substring(0, length));
    }

    private static String padding(String text, int length, String pad) {
        if (length < 0 || pad.isEmpty()) {
            return null;
        }
        int missing = Math.max(0, length - text.length());
        return pad.repeat(missing / pad.length() + 1).substring(0, missing);
    }

    /** Upper case after anything but an ASCII letter or digit, else lower case; ASCII only. */
    public static UTF8String initcap(UTF8String text) {
        StringBuilder out = new StringBuilder(text.toString());
        boolean inWord = false;
        for (int i = 0; i < out.length(); i++) {
            char c = out.charAt(i);
            boolean lower = c >= 'a' && c <= 'z';
            boolean upper = c >= 'A' && c <= 'Z';
            if (inWord && upper) {
                out.setCharAt(i, (char) (c - 'A' + 'a'));
            } else if (!inWord && lower) {
                out.setCharAt(i, (char) (c - 'a' + 'A'));
            }
            inWord = lower || upper || c >= '0' && c <= '9';
        }
        return UTF8String.fromString(out.toString());
    }

    /** The first byte of the text, signed; 0 for an empty text. */
    public static int ascii(UTF8String text) {
        return text.numBytes() == 0 ? 0 : text.getByte(0);
    }

    /** The character of a code's last byte; none for a negative code. */
    public static UTF8String chr(long code) {
        return UTF8String.fromString(code < 0 ? "" : String.valueOf((char) (code & 0xFF)));
    }

    public static UTF8String toBase64(byte[] data) {
        return UTF8String.fromBytes(Base64.getEncoder().encode(data));
    }

    public static UTF8String fromBase64(UTF8String text) {
        return UTF8String.fromBytes(Base64.getDecoder().decode(text.getBytes()));
    }

    public static byte[] encode(UTF8String text, UTF8String charset) throws UnsupportedEncodingException {
        return text.toString().getBytes(charset.toString());
    }

    public static UTF8String decode(byte[] data, UTF8String charset) throws UnsupportedEncodingException {
        return UTF8String.fromString(new String(data, charset.toString()));
    }

    /** Null for what is no hexadecimal text. Of an odd number of digits the first is dropped for a zero byte. */
    public static byte[] unhex(UTF8String text) {
        String s = text.toString();
        byte[] out = new byte[(s.length() + 1) / 2];
        int odd = s.length() % 2;
        for (int i = odd; i < s.length(); i += 2) {
            int high = Character.digit(s.charAt(i), 16);
            int low = Character.digit(s.charAt(i + 1), 16);
            if (high < 0 || low < 0) {
                return null;
            }
            out[i / 2 + odd] = (byte) (high << 4 | low);
        }
        return odd == 1 && Character.digit(s.charAt(0), 16) < 0 ? null : out;
    }

    /** Parts between separators; no parts of an empty text; characters where the separator is empty. */
    public static ArrayData split(UTF8String text, UTF8String separator) {
        List<String> parts = parts(LoneSurrogates.decode(text), LoneSurrogates.decode(separator));
        return new GenericArrayData(parts.stream().map(LoneSurrogates::encode).toArray());
    }

    /** The part at an index from 0; null where there is none. An empty separator stands for blanks. */
    public static UTF8String splitIndex(UTF8String text, UTF8String separator, int index) {
        String s = LoneSurrogates.decode(text);
        List<String> parts = separator.numBytes() == 0 ? betweenBlanks(s) : parts(s, LoneSurrogates.decode(separator));
        return index < 0 || index >= parts.size() ? null : LoneSurrogates.encode(parts.get(index));
    }

    public static boolean isDigit(UTF8String text) {
        return text.numBytes() > 0 && text.toString().chars().allMatch(Character::isDigit);
    }

    public static boolean isAlpha(UTF8String text) {
        return text.numBytes() > 0 && text.toString().chars().allMatch(Character::isLetter);
    }

    public static boolean isDecimal(UTF8String text) {
        try {
            Double.parseDouble(text.toString());
            return true;
        } catch (NumberFormatException e) {
            return false;
        }
    }

    private static List<String> betweenBlanks(String text) {
        List<String> parts = new ArrayList<>();
        int start = 0;
        for (int i = 0; i < text.length(); i++) {
            if (Character.isWhitespace(text.charAt(i))) {
                parts.add(text.substring(start, i));
                start = i + 1;
            }
        }
        if (!text.isEmpty()) {
            parts.add(text.substring(start));
        }
        return parts;
    }

    private static List<String> parts(String text, String separator) {
        List<String> parts = new ArrayList<>();
        if (text.isEmpty()) {
            return parts;
        }
        if (separator.isEmpty()) {
            text.chars().forEach(c -> parts.add(String.valueOf((char) c)));
            return parts;
        }
        int start = 0;
        for (int at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, start)) {
            parts.add(text.substring(start, at));
            start = at + separator.length();
        }
        parts.add(text.substring(start));
        return parts;
    }
}
