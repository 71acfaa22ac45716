package flinkplan.runtime.catalyst;

import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.internal.SQLConf$;
import scala.runtime.AbstractFunction0;
import scala.runtime.BoxedUnit;

/** Work for which Spark interprets its expressions: of what is hardly used, generating code would be most of the work. */
public final class Interpreted {
    private static final SQLConf CONF = conf();

    private Interpreted() {}

    private static SQLConf conf() {
        SQLConf conf = new SQLConf();
        conf.setConfString("spark.sql.codegen.factoryMode", "NO_CODEGEN");
        return conf;
    }

    /** Does something in which nothing depends on the settings of a session. */
    public static void run(Runnable work) {
        SQLConf$.MODULE$.withExistingConf(CONF, new AbstractFunction0<>() {
            @Override
            public BoxedUnit apply() {
                work.run();
                return BoxedUnit.UNIT;
            }
        });
    }
}
