"""Functions of one's own in Python: their interfaces, and what calls them in Spark's Python workers.

======================  ==============================================================================================
:mod:`.interfaces`      the base classes of functions, :mod:`.context` what a function can ask of its job
:mod:`.code`            a function on its way to the workers: :class:`~.code.FunctionCode`
:mod:`.values`          columns of Spark, as Arrow arrays, to the Python values that PyFlink gives, and back
:mod:`.failures`        the error of a function that fails, with the place in its file and its arguments
:mod:`.as_pyflink`      ``import pyflink`` finds flinkplan's modules
======================  ==============================================================================================

The driver makes a :class:`~.code.FunctionCode` of a declaration (``executor/prepare/python_functions.py`` says whose
declaration a plan may name), which is pickled with the class that processes batches.  In a worker this calls
:meth:`~.code.FunctionCode.opened` and works on Arrow arrays by :func:`~.values.reader` and :func:`~.values.writer`.
Nothing here imports Spark.
"""
