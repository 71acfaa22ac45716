package flinkplan.runtime.functions;

import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/** Values as text, where Spark writes them otherwise than Flink. */
public final class Texts {
  private Texts() {}

  /** All digits of the scale, never an exponent. */
  public static UTF8String ofDecimal(Decimal value) {
    return UTF8String.fromString(value.toJavaBigDecimal().toPlainString());
  }

  /** {@code +1 02:03:04.005}. */
  public static UTF8String ofDayTime(long millis) {
    long m = Math.abs(millis);
    return UTF8String.fromString(
        String.format(
            "%s%d %02d:%02d:%02d.%03d",
            millis < 0 ? "-" : "+", m / 86_400_000, m / 3_600_000 % 24, m / 60_000 % 60, m / 1000 % 60, m % 1000));
  }

  /** {@code +1-02}. */
  public static UTF8String ofYearMonth(int months) {
    int m = Math.abs(months);
    return UTF8String.fromString(String.format("%s%d-%02d", months < 0 ? "-" : "+", m / 12, m % 12));
  }
}
