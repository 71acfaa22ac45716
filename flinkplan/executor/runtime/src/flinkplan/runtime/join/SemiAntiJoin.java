package flinkplan.runtime.join;

import flinkplan.runtime.row.RowKind;
import java.util.Collection;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/** The SEMI join, which keeps the left rows that match, and the ANTI join, which keeps those that do not. */
public final class SemiAntiJoin extends JoinKernel {
    private final boolean anti;

    public SemiAntiJoin(StructType input, Spec spec) {
        super(input, spec);
        this.anti = spec.kind() == JoinKind.ANTI;
    }

    @Override
    int accumulate(boolean fromLeft, InternalRow row, byte kind) {
        Collection<JoinSide.Entry> matches = matches(fromLeft, row);
        if (fromLeft) {
            emitLeft(row, kind, matches);
            return size(matches);
        }
        for (JoinSide.Entry match : matches) {
            if (match.associations == 0) {
                repeat(match, anti ? RowKind.DELETE : kind);
            }
            match.associations++;
            match.changed = true;
        }
        return 0;
    }

    @Override
    void retract(boolean fromLeft, InternalRow row, byte kind) {
        Collection<JoinSide.Entry> matches = matches(fromLeft, row);
        if (fromLeft) {
            emitLeft(row, kind, matches);
            return;
        }
        for (JoinSide.Entry match : matches) {
            match.associations--;
            match.changed = true;
            if (match.associations == 0) {
                repeat(match, anti ? RowKind.INSERT : kind);
            }
        }
    }

    @Override
    void replace(boolean fromLeft, InternalRow before, InternalRow after, Matches matches) {
        if (fromLeft) {
            boolean wasThere = (matches.lost().isEmpty() && matches.kept().isEmpty()) == anti;
            if (matches.all().isEmpty() == anti) {
                emit(RowKind.UPDATE_AFTER, after);
            } else if (wasThere) {
                emit(RowKind.DELETE, before);
            }
            return;
        }
        for (JoinSide.Entry match : matches.lost()) {
            match.associations--;
            match.changed = true;
            if (match.associations == 0) {
                repeat(match, anti ? RowKind.INSERT : RowKind.DELETE);
            }
        }
        for (JoinSide.Entry match : matches.gained()) {
            if (match.associations == 0) {
                repeat(match, anti ? RowKind.DELETE : RowKind.INSERT);
            }
            match.associations++;
            match.changed = true;
        }
    }

    @Override
    void unmatched(boolean fromLeft, InternalRow row, byte kind) {
        if (fromLeft && anti) {
            emit(kind, row);
        }
    }

    private void emitLeft(InternalRow row, byte kind, Collection<JoinSide.Entry> matches) {
        if (matches.isEmpty() == anti) {
            emit(kind, row);
        }
    }

    private void repeat(JoinSide.Entry entry, byte kind) {
        for (int i = 0; i < entry.count; i++) {
            emit(kind, entry.row);
        }
    }
}
