"""Built-in functions that the Table API alone can call: in SQL, their names hide functions of a catalog.

Source: ``BuiltInFunctionDefinitions``, whose names ``CoreModule`` lists.
"""

from __future__ import annotations

_TEXT = """
    agg_decimal_minus agg_decimal_plus asc assignment at charlength converttz currentdatabase currentdate
    currentrowtimestamp currenttime currenttimestamp dateformat desc divide equals flatten frombase64 fromunixtime
    get greaterthan greaterthanorequal hive_agg_decimal_plus ifthenelse isfalse isnotfalse isnotnull isnottrue
    isnull istrue lessthan lessthanorequal lowercase minus minusprefix notbetween notequals over parseurl plus
    randinteger rangeto regexpextract regexpreplace reinterpretcast rowtime splitindex start stddevpop stddevsamp
    streamrecordtimestamp strtomap temporaloverlaps times tobase64 todate totimestamp unixtimestamp uppercase varpop
    varsamp withcolumns withoutcolumns
"""
_NAMES = frozenset(_TEXT.split())


def is_of_table_api(name: str) -> bool:
    """Whether a name, in any case, is that of a built-in function that SQL cannot call."""
    return name.lower() in _NAMES
