package flinkplan.runtime.join;

import static org.apache.spark.sql.functions.array;
import static org.apache.spark.sql.functions.coalesce;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.concat;
import static org.apache.spark.sql.functions.greatest;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.when;

import flinkplan.runtime.row.Hidden;
import flinkplan.runtime.row.RowKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/** Spark's own join of rows that stay, each of which has the number of the later one of the two that it is made of. */
public final class NativeJoin {
    private static final String LEFT = "l";
    private static final String RIGHT = "r";
    private static final List<String> OF_LEFT_ALONE = List.of("left_semi", "left_anti");

    private NativeJoin() {}

    /**
     * The rows of a join.
     *
     * @param condition over the columns of both inputs, that of {@code left} at 0 being {@code l0}; null: each row of an
     *     input of an inner join comes with each of the other
     * @param type what Spark calls the kind of join
     * @param isChangelog whether the rows have a row kind
     * @param id that of the join's node, if the order of rows with equal numbers counts
     */
    public static Dataset<Row> join(
            Dataset<Row> left,
            Dataset<Row> right,
            Column condition,
            String type,
            boolean isChangelog,
            Integer id) {
        Dataset<Row> ours = named(left, LEFT);
        Dataset<Row> theirs = named(right, RIGHT);
        Dataset<Row> joined =
                condition == null ? ours.join(theirs) : JoinOrder.free(ours.join(theirs, condition, type));
        List<Column> selected = new ArrayList<>();
        List<Column> numbers = new ArrayList<>();
        List<Column> ties = new ArrayList<>();
        add(left, LEFT, selected, numbers, ties);
        if (!OF_LEFT_ALONE.contains(type)) {
            add(right, RIGHT, selected, numbers, ties);
        }
        if (isChangelog) {
            selected.add(lit(RowKind.INSERT).as(Hidden.KIND));
        }
        if (id != null) {
            selected.add((ties.size() == 1 ? ties.get(0) : tie(numbers, ties, id)).as(Hidden.TIE));
        }
        Column number = numbers.size() == 1 ? numbers.get(0) : greatest(numbers.toArray(Column[]::new));
        selected.add(number.as(Hidden.SEQUENCE));
        return joined.select(selected.toArray(Column[]::new));
    }

    /** A side, its columns under names that tell the side. */
    private static Dataset<Row> named(Dataset<Row> rows, String side) {
        List<Column> columns = new ArrayList<>();
        for (int i = 0; i < width(rows); i++) {
            columns.add(rows.col(rows.columns()[i]).as(side + i));
        }
        columns.add(rows.col(Hidden.SEQUENCE).as(side + Hidden.SEQUENCE));
        if (hasTie(rows)) {
            columns.add(rows.col(Hidden.TIE).as(side + Hidden.TIE));
        }
        return rows.select(columns.toArray(Column[]::new));
    }

    /** Adds what the join has of a side to its columns, numbers and ties. */
    private static void add(
            Dataset<Row> rows, String side, List<Column> columns, List<Column> numbers, List<Column> ties) {
        for (int i = 0; i < width(rows); i++) {
            columns.add(col(side + i).as("c" + columns.size()));
        }
        numbers.add(col(side + Hidden.SEQUENCE));
        Column none = array().cast("array<bigint>");
        ties.add(hasTie(rows) ? coalesce(col(side + Hidden.TIE), none) : none);
    }

    private static int width(Dataset<Row> rows) {
        return (int) Arrays.stream(rows.columns()).filter(name -> !name.startsWith("__")).count();
    }

    private static boolean hasTie(Dataset<Row> rows) {
        return List.of(rows.columns()).contains(Hidden.TIE);
    }

    /**
     * What the rows of a join with equal numbers stand in order by.
     *
     * <p>By that of the later of the two rows that a row is made of, which has brought it about; left ones come first
     * where they stand alike. Rows that one row has brought about follow the order of those that it was joined with.
     */
    private static Column tie(List<Column> numbers, List<Column> ties, long id) {
        Column ours = numbers.get(0);
        Column theirs = numbers.get(1);
        Column tie = ties.get(0);
        Column other = ties.get(1);
        Column byLeft = theirs.isNull().or(ours.gt(theirs)).or(ours.equalTo(theirs).and(tie.gt(other)));
        // less than all that joins above have put there, so that a row comes before those that stand alike
        // but were joined
        Column leftFirst = lit(-2 - 2 * id);
        Column rightNext = lit(-1 - 2 * id);
        return when(byLeft, concat(tie, array(leftFirst, theirs), other))
                .otherwise(concat(other, array(rightNext, ours), tie));
    }
}
