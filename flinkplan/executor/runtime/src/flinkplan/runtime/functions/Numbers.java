package flinkplan.runtime.functions;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/** Arithmetic and rounding where Spark's answers differ from Flink's. */
public final class Numbers {
    private static final MathContext DIVISION = new MathContext(38, RoundingMode.HALF_UP);

    private static final Pattern DECIMAL_BLANKS = Pattern.compile("^[ \\n\\t]+|[ \\n\\t]+$");
    private static final Pattern SHORT_DECIMAL =
            Pattern.compile(
                    "(?![+-]$)([+-]?)(\\d*)(?:\\.(\\d*))?(?:[eE](?![+-]$)([+-]?)(\\d{0,8}))?[\\x00-\\x7F&&[^\\d.]]?",
                    Pattern.DOTALL);
    private static final int LONGEST_LONG = 18;

    private Numbers() {}

    /** Truncates towards zero; fails on a zero divisor. */
    public static long divideIntegers(long a, long b) {
        checkDivisor(a, b == 0);
        return a / b;
    }

    private static void checkDivisor(Object dividend, boolean isZero) {
        if (isZero) {
            throw new ArithmeticException(dividend + " cannot be divided by zero");
        }
    }

    /** Follows IEEE 754: a zero divisor gives an infinity or NaN. */
    public static double divideDoubles(double a, double b) {
        return a / b;
    }

    public static float divideFloats(float a, float b) {
        return a / b;
    }

    /** Null where the quotient does not fit; fails on a zero divisor. */
    public static Decimal divideDecimals(Decimal a, Decimal b, int precision, int scale) {
        checkDivisor(a, b.isZero());
        return decimal(javaDecimal(a).divide(javaDecimal(b), DIVISION), precision, scale);
    }

    /** Exact, where Spark's own negation keeps 34 digits. */
    public static Decimal negate(Decimal value, int precision, int scale) {
        return decimal(javaDecimal(value).negate(), precision, scale);
    }

    public static Decimal abs(Decimal value, int precision, int scale) {
        return decimal(javaDecimal(value).abs(), precision, scale);
    }

    /** Null where the sum does not fit; so for differences and products. */
    public static Decimal add(Decimal a, Decimal b, int precision, int scale) {
        return decimal(javaDecimal(a).add(javaDecimal(b)), precision, scale);
    }

    public static Decimal subtract(Decimal a, Decimal b, int precision, int scale) {
        return decimal(javaDecimal(a).subtract(javaDecimal(b)), precision, scale);
    }

    public static Decimal multiply(Decimal a, Decimal b, int precision, int scale) {
        return decimal(javaDecimal(a).multiply(javaDecimal(b)), precision, scale);
    }

    /** Negative, zero or positive. Spark would first bring both to one type, which may not hold all their digits. */
    public static int compareDecimals(Decimal a, Decimal b) {
        return javaDecimal(a).compareTo(javaDecimal(b));
    }

    /** As Flink computes it of a decimal that a long holds: rounded twice where it has more than 15 digits. */
    public static double toDouble(Decimal value) {
        return value.toUnscaledLong() / Math.pow(10, value.scale());
    }

    /** Takes the sign of the dividend; fails on a zero divisor. */
    public static long remainderOfIntegers(long a, long b) {
        checkDivisor(a, b == 0);
        return a % b;
    }

    public static double remainderOfDoubles(double a, double b) {
        return a % b;
    }

    public static float remainderOfFloats(float a, float b) {
        return a % b;
    }

    public static Decimal remainderOfDecimals(Decimal a, Decimal b, int precision, int scale) {
        checkDivisor(a, b.isZero());
        return decimal(javaDecimal(a).remainder(javaDecimal(b), DIVISION), precision, scale);
    }

    /** Rounds half away from zero; digits may be negative; wraps where the result does not fit. */
    public static long roundInteger(long value, int digits) {
        return setScale(BigDecimal.valueOf(value), digits, RoundingMode.HALF_UP).longValue();
    }

    public static double roundDouble(double value, int digits) {
        return setScale(value, digits, RoundingMode.HALF_UP);
    }

    public static Decimal roundDecimal(Decimal value, int digits, int precision, int scale) {
        return decimal(setScale(javaDecimal(value), digits, RoundingMode.HALF_UP), precision, scale);
    }

    public static long truncateInteger(long value, int digits) {
        return setScale(BigDecimal.valueOf(value), digits, RoundingMode.DOWN).longValue();
    }

    public static double truncateDouble(double value, int digits) {
        return setScale(value, digits, RoundingMode.DOWN);
    }

    public static Decimal truncateDecimal(Decimal value, int digits, int precision, int scale) {
        return decimal(setScale(javaDecimal(value), digits, RoundingMode.DOWN), precision, scale);
    }

    public static double ceil(double value) {
        return Math.ceil(value);
    }

    public static double floor(double value) {
        return Math.floor(value);
    }

    /** NaN, not null, for what is not positive; so for all logarithms. */
    public static double ln(double value) {
        return Math.log(value);
    }

    public static double log10(double value) {
        return Math.log10(value);
    }

    public static double log2(double value) {
        return Math.log(value) / Math.log(2);
    }

    public static double log(double base, double value) {
        return Math.log(value) / Math.log(base);
    }

    public static double exp(double value) {
        return Math.exp(value);
    }

    /** The first number of the sequence that a seed begins. */
    public static double random(int seed) {
        return new Random(seed).nextDouble();
    }

    public static int randomInteger(int seed, int bound) {
        return new Random(seed).nextInt(bound);
    }

    /** The number of a text with blanks around it; null where it is none. */
    public static Double parseDouble(UTF8String text) {
        try {
            return Double.valueOf(text.toString());
        } catch (NumberFormatException e) {
            return null;
        }
    }

    /** As {@link #parseDouble}, rounded once. */
    public static Float parseFloat(UTF8String text) {
        try {
            return Float.valueOf(text.toString());
        } catch (NumberFormatException e) {
            return null;
        }
    }

    /**
     * The number of a text with blanks around it; null where it is none, or too large for the precision.
     *
     * <p>Short texts are read as leniently as Flink reads them: one character that is no digit may follow the number,
     * or stand for it. All their digits count, leading zeros as well.
     */
    public static Decimal parseDecimal(UTF8String text, int precision, int scale) {
        String trimmed = DECIMAL_BLANKS.matcher(text.toString()).replaceAll("");
        if (trimmed.isEmpty()) {
            return null;
        }
        if (precision > LONGEST_LONG || text.numBytes() > LONGEST_LONG) {
            try {
                return decimal(new BigDecimal(trimmed), precision, scale);
            } catch (NumberFormatException e) {
                return null;
            }
        }
        Matcher number = SHORT_DECIMAL.matcher(trimmed);
        if (!number.matches()) {
            return null;
        }
        String digits = number.group(2) + (number.group(3) == null ? "" : number.group(3));
        int power = number.group(5) == null || number.group(5).isEmpty() ? 0 : Integer.parseInt(number.group(5));
        int decimals = digits.length() - number.group(2).length() - ("-".equals(number.group(4)) ? -power : power);
        if (digits.length() - decimals + scale > precision) {
            return null;
        }
        BigDecimal value = new BigDecimal(new BigInteger("0" + digits), decimals);
        return decimal(number.group(1).equals("-") ? value.negate() : value, precision, scale);
    }

    private static double setScale(double value, int digits, RoundingMode mode) {
        if (Double.isNaN(value) || Double.isInfinite(value)) {
            return value;
        }
        return setScale(BigDecimal.valueOf(value), digits, mode).doubleValue();
    }

    /** More digits than there are change nothing, and beyond all of them there is nothing left to round. */
    private static BigDecimal setScale(BigDecimal value, int digits, RoundingMode mode) {
        if (digits >= value.scale()) {
            return value;
        }
        return (long) digits + value.precision() < value.scale() ? BigDecimal.ZERO : value.setScale(digits, mode);
    }

    private static BigDecimal javaDecimal(Decimal value) {
        return value.toJavaBigDecimal();
    }

    private static Decimal decimal(BigDecimal value, int precision, int scale) {
        BigDecimal rounded = value.setScale(scale, RoundingMode.HALF_UP);
        return rounded.precision() > precision ? null : Decimal.apply(rounded, precision, scale);
    }
}
