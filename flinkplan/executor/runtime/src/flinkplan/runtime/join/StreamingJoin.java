package flinkplan.runtime.join;

import flinkplan.runtime.row.RowKind;
import flinkplan.runtime.row.Rows;
import java.util.Collection;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.StructType;

/** The INNER, LEFT, RIGHT and FULL join. A preserved side's row without a match is padded with NULLs. */
public final class StreamingJoin extends JoinKernel {
    private final JoinKind join;
    private final InternalRow noLeft;
    private final InternalRow noRight;

    public StreamingJoin(StructType input, Spec spec) {
        super(input, spec);
        this.join = spec.kind();
        this.noLeft = Rows.nulls(spec.left().row().length());
        this.noRight = Rows.nulls(spec.right().row().length());
    }

    @Override
    int accumulate(boolean fromLeft, InternalRow row, byte kind) {
        Collection<JoinSide.Entry> matches = matches(fromLeft, row);
        if (matches.isEmpty()) {
            unmatched(fromLeft, row, RowKind.INSERT);
            return 0;
        }
        byte joined = pads() ? RowKind.INSERT : kind;
        for (JoinSide.Entry match : matches) {
            if (preserves(!fromLeft)) {
                if (match.associations == 0) {
                    repeat(match.count, RowKind.DELETE, padded(!fromLeft, match.row));
                }
                match.associations++;
                match.changed = true;
            }
            repeat(match.count, joined, join(fromLeft, row, match.row));
        }
        return size(matches);
    }

    @Override
    void retract(boolean fromLeft, InternalRow row, byte kind) {
        Collection<JoinSide.Entry> matches = matches(fromLeft, row);
        if (matches.isEmpty()) {
            unmatched(fromLeft, row, RowKind.DELETE);
            return;
        }
        byte joined = pads() ? RowKind.DELETE : kind;
        for (JoinSide.Entry match : matches) {
            repeat(match.count, joined, join(fromLeft, row, match.row));
            if (preserves(!fromLeft)) {
                match.associations--;
                match.changed = true;
                if (match.associations == 0) {
                    repeat(match.count, RowKind.INSERT, padded(!fromLeft, match.row));
                }
            }
        }
    }

    @Override
    void replace(boolean fromLeft, InternalRow before, InternalRow after, Matches matches) {
        boolean wasAlone = matches.lost().isEmpty() && matches.kept().isEmpty();
        if (preserves(fromLeft) && wasAlone) {
            if (matches.all().isEmpty()) {
                emit(RowKind.UPDATE_AFTER, padded(fromLeft, after));
            } else {
                emit(RowKind.DELETE, padded(fromLeft, before));
            }
        }
        for (JoinSide.Entry match : matches.lost()) {
            repeat(match.count, RowKind.DELETE, join(fromLeft, before, match.row));
            if (preserves(!fromLeft)) {
                match.associations--;
                match.changed = true;
                if (match.associations == 0) {
                    repeat(match.count, RowKind.INSERT, padded(!fromLeft, match.row));
                }
            }
        }
        for (JoinSide.Entry match : matches.kept()) {
            repeat(match.count, RowKind.UPDATE_AFTER, join(fromLeft, after, match.row));
        }
        for (JoinSide.Entry match : matches.gained()) {
            if (preserves(!fromLeft)) {
                if (match.associations == 0) {
                    repeat(match.count, RowKind.DELETE, padded(!fromLeft, match.row));
                }
                match.associations++;
                match.changed = true;
            }
            repeat(match.count, RowKind.INSERT, join(fromLeft, after, match.row));
        }
        if (preserves(fromLeft) && !wasAlone && matches.all().isEmpty()) {
            emit(RowKind.INSERT, padded(fromLeft, after));
        }
    }

    @Override
    void unmatched(boolean fromLeft, InternalRow row, byte kind) {
        if (preserves(fromLeft)) {
            emit(kind, padded(fromLeft, row));
        }
    }

    private boolean pads() {
        return join.keepsLeft() || join.keepsRight();
    }

    private boolean preserves(boolean left) {
        return left ? join.keepsLeft() : join.keepsRight();
    }

    private InternalRow padded(boolean left, InternalRow row) {
        return left ? new JoinedRow(row, noRight) : new JoinedRow(noLeft, row);
    }

    private static InternalRow join(boolean fromLeft, InternalRow row, InternalRow other) {
        return fromLeft ? new JoinedRow(row, other) : new JoinedRow(other, row);
    }

    private void repeat(int times, byte kind, InternalRow row) {
        for (int i = 0; i < times; i++) {
            emit(kind, row);
        }
    }
}
