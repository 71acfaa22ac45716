package flinkplan.runtime.file;

import java.io.CharConversionException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PushbackInputStream;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.apache.commons.io.input.ReaderInputStream;

/**
 * A file of text in UTF-8, whichever Unicode encoding its first bytes show.
 *
 * <p>Source: Jackson's {@code CsvParserBootstrapper}, by which Flink reads CSV: a byte order mark, else zeros where the
 * first character has them in UTF-16 and UTF-32.
 */
final class Utf8Input {
    private static final int UTF_8_MARK = 0xEFBBBF;

    /** The file, without its byte order mark. */
    final InputStream in;

    /** How many bytes before the text were left out; negative where the bytes are not those of the file. */
    final int skipped;

    Utf8Input(InputStream file) throws IOException {
        byte[] first = file.readNBytes(4);
        PushbackInputStream whole = new PushbackInputStream(file, 4);
        whole.unread(first);
        Encoding encoding = first.length == 4 ? ofFour(ByteBuffer.wrap(first).getInt())
                : first.length >= 2 ? ofTwo((first[0] & 0xFF) << 8 | first[1] & 0xFF) : null;
        if (encoding == null) {
            in = whole;
            skipped = 0;
            return;
        }
        whole.skipNBytes(encoding.mark);
        boolean isUtf8 = encoding.name.equals("UTF-8");
        skipped = isUtf8 ? encoding.mark : -1;
        in = isUtf8 ? whole : inUtf8(whole, encoding.name);
    }

    /** The name of an encoding, and how many bytes its mark has. */
    private record Encoding(String name, int mark) {}

    private static Encoding ofFour(int quad) throws IOException {
        Encoding marked = marked(quad);
        if (marked != null) {
            return marked;
        }
        if ((quad & 0xFFFFFF00) == 0) {
            return new Encoding("UTF-32BE", 0);
        }
        if ((quad & 0x00FFFFFF) == 0) {
            return new Encoding("UTF-32LE", 0);
        }
        if ((quad & 0xFF00FFFF) == 0) {
            throw unsupported("3412");
        }
        if ((quad & 0xFFFF00FF) == 0) {
            throw unsupported("2143");
        }
        return ofTwo(quad >>> 16);
    }

    private static Encoding marked(int quad) throws IOException {
        switch (quad) {
            case 0x0000FEFF:
                return new Encoding("UTF-32BE", 4);
            case 0xFFFE0000:
                return new Encoding("UTF-32LE", 4);
            case 0x0000FFFE:
                throw unsupported("2143");
            case 0xFEFF0000:
                throw unsupported("3412");
            default:
                break;
        }
        return switch (quad >>> 16) {
            case 0xFEFF -> new Encoding("UTF-16BE", 2);
            case 0xFFFE -> new Encoding("UTF-16LE", 2);
            default -> quad >>> 8 == UTF_8_MARK ? new Encoding("UTF-8", 3) : null;
        };
    }

    private static Encoding ofTwo(int pair) {
        return (pair & 0xFF00) == 0 ? new Encoding("UTF-16BE", 0)
                : (pair & 0x00FF) == 0 ? new Encoding("UTF-16LE", 0) : null;
    }

    private static IOException unsupported(String order) {
        return new CharConversionException("Unsupported UCS-4 endianness (" + order + ") detected");
    }

    /** UTF-16 may hold anything, in the place of which a sign comes; UTF-32 may not. */
    private static InputStream inUtf8(InputStream in, String encoding) throws IOException {
        Charset charset = Charset.forName(encoding);
        InputStreamReader reader = encoding.startsWith("UTF-16")
                ? new InputStreamReader(in, charset)
                : new InputStreamReader(in, charset.newDecoder());
        return ReaderInputStream.builder().setReader(reader).setCharset(StandardCharsets.UTF_8).get();
    }
}
