package flinkplan.savepoint;

/** Names of the neutral form, as {@code flinkplan/state/form.py} has them. */
final class Names {
    static final String ROW_KIND = "$kind";
    static final String VALUE = "value";

    private Names() {}
}
