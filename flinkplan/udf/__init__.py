"""Functions of one's own in Python: their interfaces, and what calls them in Spark's Python workers.

======================  ==============================================================================================
:mod:`.interfaces`      the base classes of functions, :mod:`.context` what a function can ask of its job
:mod:`.code`            a function on its way to the workers: :class:`~.code.FunctionCode`
:mod:`.aggregates`      the calls of a node over accumulators, of built-in functions (:mod:`.builtin_aggregates`) too
:mod:`.groups`          GROUP BY over the rows of a batch, in the process that is :mod:`.group_worker`
:mod:`.gathered`        aggregates over rows that a kernel has gathered: of windows, and of frames of OVER
:mod:`.values`          columns of Spark, as Arrow arrays, to the Python values that PyFlink gives, and back
:mod:`.failures`        the error of a function that fails, with the place in its file and its arguments
:mod:`.as_pyflink`      ``import pyflink`` finds flinkplan's modules
======================  ==============================================================================================

A plan names a function; ``plan/user_functions.py`` joins the name with a ``PythonFunction``, whose declaration has the
function itself: :func:`function_of_call` and :func:`function_of_aggregate` give it for a call in a node.  For a plan
from a file whoever loads it says which functions may be meant (``table/plan_functions.py``), else it is refused.

The driver makes a :class:`~.code.FunctionCode` of it (:func:`function_code` in ``executor/build/python/functions.py``,
where :func:`surroundings` has the options that functions see), which is pickled with the record that processes
batches, such as :class:`~.scalar.ScalarCalls`.  In a worker this makes the functions between ``open`` and ``close`` by
:class:`~.opening.Opened`, and works on Arrow arrays by :func:`~.values.reader` and :func:`~.values.writer`.  Nothing
here imports Spark.
"""
