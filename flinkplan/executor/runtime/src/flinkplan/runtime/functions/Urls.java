package flinkplan.runtime.functions;

import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.unsafe.types.UTF8String;

/** URLs and internet addresses. */
public final class Urls {
    private Urls() {}

    /** A part of a URL by its name; null where the text is no URL or has no such part. */
    public static UTF8String part(UTF8String text, UTF8String part) {
        URL url = parse(text);
        return url == null ? null : UTF8String.fromString(part(url, part.toString()));
    }

    /** The value of a key of the query; the part must be QUERY. */
    public static UTF8String part(UTF8String text, UTF8String part, UTF8String key) {
        URL url = parse(text);
        if (url == null || url.getQuery() == null || !part.toString().equals("QUERY")) {
            return null;
        }
        Matcher m = Pattern.compile("(?:&|^)" + Pattern.quote(key.toString()) + "=([^&]*)").matcher(url.getQuery());
        return m.find() ? UTF8String.fromString(m.group(1)) : null;
    }

    public static UTF8String encode(UTF8String text) {
        return UTF8String.fromString(URLEncoder.encode(text.toString(), StandardCharsets.UTF_8));
    }

    /** Null for a malformed escape. */
    public static UTF8String decode(UTF8String text) {
        try {
            return UTF8String.fromString(URLDecoder.decode(text.toString(), StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** The number of an IPv4 address of one to four bytes, of which the last is the lowest; null for others. */
    public static Long inetAton(UTF8String text) {
        String[] parts = text.toString().split("\\.", -1);
        if (parts.length > 4) {
            return null;
        }
        long address = 0;
        for (int i = 0; i < parts.length; i++) {
            if (!parts[i].matches("\\d{1,9}") || Integer.parseInt(parts[i]) > 255) {
                return null;
            }
            address |= Long.parseLong(parts[i]) << (i == parts.length - 1 ? 0 : 24 - 8 * i);
        }
        return address;
    }

    /** The dotted form of an IPv4 address; null out of range. */
    public static UTF8String inetNtoa(long address) {
        if (address < 0 || address >= 1L << 32) {
            return null;
        }
        return UTF8String.fromString(
                (address >> 24) + "." + (address >> 16 & 255) + "." + (address >> 8 & 255) + "." + (address & 255));
    }

    private static URL parse(UTF8String text) {
        try {
            return new URL(text.toString());
        } catch (MalformedURLException e) {
            return null;
        }
    }

    private static String part(URL url, String part) {
        return switch (part) {
            case "HOST" -> url.getHost();
            case "PATH" -> url.getPath();
            case "QUERY" -> url.getQuery();
            case "REF" -> url.getRef();
            case "PROTOCOL" -> url.getProtocol();
            case "FILE" -> url.getFile();
            case "AUTHORITY" -> url.getAuthority();
            case "USERINFO" -> url.getUserInfo();
            default -> null;
        };
    }
}
