package flinkplan.runtime.format;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The punctuation of a CSV table: how a line is split, and when a value is quoted. */
final class CsvSyntax implements Serializable {
    private static final int NONE = -1;
    private static final int ASCII = 128;
    private static final int LONGEST_UNQUOTED = 24;
    private static final Pattern UNICODE = Pattern.compile("\\\\u+(\\p{XDigit}{4})");

    final char delimiter;
    final int quote;
    final int escape;
    final String elementDelimiter;
    final String nullLiteral;
    private final boolean comments;
    private final boolean trims;

    CsvSyntax(FormatOptions options) {
        delimiter = unescaped(options.get("field-delimiter", ","));
        quote = options.is("disable-quote-character") ? NONE : options.get("quote-character", "\"").charAt(0);
        escape = options.has("escape-character") ? options.get("escape-character", "").charAt(0) : NONE;
        elementDelimiter = options.get("array-element-delimiter", ";");
        nullLiteral = options.get("null-literal", null);
        comments = options.is("allow-comments");
        trims = options.is("trim-spaces");
    }

    private static char unescaped(String character) {
        Matcher unicode = UNICODE.matcher(character);
        if (unicode.matches()) {
            return (char) Integer.parseInt(unicode.group(1), 16);
        }
        return (character.length() == 1 ? character : character.translateEscapes()).charAt(0);
    }

    /** The character that an escape stands for. */
    private static char meaning(char escaped) {
        return switch (escaped) {
            case '0' -> '\0';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            default -> escaped;
        };
    }

    /** Whether the line is a comment, before whose sign spaces may stand, or blank where there may be comments. */
    boolean isSkipped(String line) {
        return comments && (line.isBlank() || line.stripLeading().startsWith("#"));
    }

    boolean isNull(String text) {
        return text.equals(nullLiteral);
    }

    boolean isNull(byte[] buffer, int from, int to) {
        return nullLiteral != null && nullLiteral.length() == to - from && isNull(Ascii.text(buffer, from, to));
    }

    /** What finds the fields of everyday records; null where the punctuation is not so simple. */
    CsvFields fields() {
        boolean simple = escape == NONE && !comments && !trims && delimiter < ASCII && quote < ASCII;
        return simple ? new CsvFields(delimiter, quote == NONE ? ASCII : quote) : null;
    }

    /** The elements of an array or nested row written into one field. */
    List<String> elements(String text) {
        List<String> elements = new ArrayList<>();
        if (text.isEmpty()) {
            return elements;
        }
        int from = 0;
        for (int at; (at = text.indexOf(elementDelimiter, from)) >= 0; from = at + elementDelimiter.length()) {
            elements.add(text.substring(from, at));
        }
        elements.add(text.substring(from));
        return elements;
    }

    /** The fields of a line. */
    List<String> split(String line) throws IOException {
        List<String> fields = new ArrayList<>();
        int at = 0;
        while (true) {
            StringBuilder field = new StringBuilder();
            at = trims ? pastSpaces(line, at) : at;
            if (at < line.length() && line.charAt(at) == quote) {
                at = quoted(line, at + 1, field);
                fields.add(field.toString());
            } else {
                at = plain(line, at, field);
                fields.add(trims ? field.toString().stripTrailing() : field.toString());
            }
            if (at >= line.length()) {
                return fields;
            }
            at++;
        }
    }

    private static int pastSpaces(String line, int from) {
        int at = from;
        while (at < line.length() && line.charAt(at) == ' ') {
            at++;
        }
        return at;
    }

    private int plain(String line, int from, StringBuilder field) {
        int at = from;
        while (at < line.length() && line.charAt(at) != delimiter) {
            boolean escaped = line.charAt(at) == escape && at + 1 < line.length();
            field.append(escaped ? meaning(line.charAt(++at)) : line.charAt(at));
            at++;
        }
        return at;
    }

    private int quoted(String line, int from, StringBuilder field) throws IOException {
        int at = from;
        while (at < line.length()) {
            char c = line.charAt(at++);
            if (c == escape && at < line.length()) {
                field.append(meaning(line.charAt(at++)));
            } else if (c != quote) {
                field.append(c);
            } else if (at < line.length() && line.charAt(at) == quote) {
                field.append((char) quote);
                at++;
            } else {
                while (at < line.length() && line.charAt(at) != delimiter) {
                    if (line.charAt(at++) > ' ') {
                        throw new IOException("Expected column separator character after a quoted value");
                    }
                }
                return at;
            }
        }
        throw new IOException("Missing closing quote for value");
    }

    /** What finds the records of a file. */
    Records records() {
        return new CsvRecords(delimiter, quote, escape, comments, trims);
    }

    /**
     * Writes a text, quoted where it could be misread.
     *
     * <p>Whether it could is judged as loosely as by Jackson's generator: long texts, and those with any character
     * up to the greatest of the punctuation or with a backslash, are quoted.
     */
    void write(String text, StringBuilder out) {
        if (quote == NONE || !needsQuotes(text)) {
            out.append(text);
            return;
        }
        out.append((char) quote);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == quote || c == escape) {
                out.append(c);
            }
            out.append(c);
        }
        out.append((char) quote);
    }

    private boolean needsQuotes(String text) {
        int safe = Math.max(Math.max(delimiter, quote), '\r') + 1;
        return text.length() > LONGEST_UNQUOTED || text.chars().anyMatch(c -> c < safe || c == escape || c == '\\');
    }
}
